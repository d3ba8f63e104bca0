"""Negative log-likelihoods of counts and of measurements with a variance. Composites."""

from __future__ import annotations

import math
from typing import Any

from tinynet.core.declaration.casting import autocast
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import (
    REDUCTIONS,
    legacy_reduction,
    reduced,
    tensor_only,
)
from tinynet.ops.creation.like import full_like
from tinynet.ops.pointwise.arithmetic import where

__all__ = ["poisson_nll_loss", "gaussian_nll_loss"]


@autocast("float32")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log-likelihood of counts y for Poisson distributions.

    Args:
        input: logarithms x of the expected counts: the loss is ``exp(x) - y * x``.
        target: counts.
        log_input: False if the input holds the expected counts: ``x - y * log(x + eps)``.
        full: add Stirling's approximation of ``log(y!)`` for ``y > 1``.
        eps: see ``log_input``.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> F.poisson_nll_loss(tn.zeros(2), tn.tensor([0.0, 3.0]))
        tensor(1.)
    """
    tensor_only("poisson_nll_loss", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    loss: Any = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        y: Any = where.function(target > 1, target, 1.0)
        stirling = y * y.log() - y + 0.5 * (2 * math.pi * y).log()
        loss = loss + where.function(target > 1, stirling, 0.0)
    return reduced(loss, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return ``(log(var) + (x - y) ** 2 / var) / 2``: Gaussian measurements y.

    Args:
        input: expected values x.
        target: measurements.
        var: variances: one number, of the shape of the input, or of that shape with the last
            dimension left out or one dimension of length 1.
        full: add the constant, ``log(2 * pi) / 2``.
        eps: lower bound of the variances.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: a variance is negative, or the shape of the variances does not match.

    Source: Nix and Weigend, "Estimating the mean and variance of the target probability
    distribution", 1994.

    Example:
        >>> F.gaussian_nll_loss(tn.tensor([1.0]), tn.tensor([3.0]), tn.tensor([1.0]))
        tensor(2.)
    """
    tensor_only("gaussian_nll_loss", input=input, target=target)
    if not isinstance(var, Tensor):
        var = full_like(input, float(var))
    _refuse_negative(var._array)
    if var.shape != input.shape:
        var = _spread_over(var, input)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    var = var.clone()
    with no_grad():  # a variance below eps is moved, but keeps its gradient
        var.clamp_(min=eps)
    loss: Any = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


@traced
def _refuse_negative(variances: Array) -> None:
    if (variances < 0).any():
        raise ValueError("var has negative entry/entries")


def _spread_over(var: Tensor, input: Tensor) -> Tensor:
    """Return variances that broadcast against the input, or raise ValueError."""
    if input.shape[:-1] == var.shape:
        return var.unsqueeze(-1)
    if input.ndim == var.ndim:
        other = [n for m, n in zip(input.shape, var.shape, strict=True) if m != n]
        if sum(other) == 1:  # one dimension differs, and has length 1
            return var
    raise ValueError("var is of incorrect size")
