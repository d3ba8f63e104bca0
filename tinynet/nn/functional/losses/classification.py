"""Losses of classification: cross-entropy and negative log-likelihood.

Cross-entropy with class indices is one operation, which keeps the exponentials for its backward. A
composite (log_softmax, gather, mean) would compute them twice and fill three more arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced, traced
from tinynet.dtypes import Array
from tinynet.errors import with_fix
from tinynet.kernels.indexing import positions
from tinynet.kernels.sums import ones
from tinynet.nn.functional.checks import (
    REDUCTIONS,
    legacy_reduction,
    reduced,
    tensor_only,
)
from tinynet.nn.functional.double_backward import batched
from tinynet.nn.functional.losses.loss_ops import likelihood, likelihood_of_places
from tinynet.ops.arguments import all_below, name_of, to_long
from tinynet.ops.creation.like import full_like
from tinynet.ops.indexing.gather import gather
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.reduction.softmax import SAFE, log_softmax, log_softmax_backward, softmax
from tinynet.ops.shaping.views import reshape

__all__ = ["poisson_nll_loss", "gaussian_nll_loss", "nll_loss", "cross_entropy"]


# ---- classification checks ----------------------------------------------------------------------
# Checks of the arguments of losses of classification.


def check_indices(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """Check shapes and dtypes for class indices."""
    if input.ndim < 1:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if input.ndim == 1:
        if target.ndim == 1 and target.shape[0] != 1:
            raise ValueError(
                f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}"
            )
    else:
        rows = target.shape[0] if target.ndim else 0
        if input.shape[0] != rows:
            raise ValueError(
                f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({rows})."
            )
        wanted = [input.shape[0], *input.shape[2:]]
        if input.ndim == 2 and target.ndim > 1:
            raise RuntimeError(_multi_target(input, target))
        if list(target.shape) != wanted:
            raise RuntimeError(f"Expected target size {wanted}, got {list(target.shape)}")
    if target._array.dtype not in (np.int64, np.uint8):
        sentence = f"expected target dtype to be Long or Byte, but got {name_of(target._array)}"
        raise RuntimeError(with_fix(sentence, to_long("target")))
    if input.ndim > 2 and target._array.dtype != np.int64:
        sentence = f"expected scalar type Long but found {name_of(target._array)}"
        raise RuntimeError(with_fix(sentence, to_long("target")))
    if weight is not None:
        check_weight(input, weight)


def _multi_target(input: Tensor, target: Tensor) -> str:
    """Return the message for a target with more dimensions than class indices have."""
    sentence = (
        "0D or 1D target tensor expected, multi-target not supported\n  Class indices are of shape "
        f"{[input.shape[0]]}, class probabilities are floating-point. "
        f"Got a target of shape {list(target.shape)} and {target.dtype} instead."
    )
    if list(target.shape) != [input.shape[0], 1]:
        return sentence
    return with_fix(sentence, "`target.squeeze(1)` removes the last dimension")


def check_weight(input: Tensor, weight: Tensor, prefix: str = "") -> None:
    """Check shape and dtype of the weights of classes."""
    classes = input.shape[0 if input.ndim == 1 else 1]
    if list(weight.shape) != [classes]:
        if input.ndim > 2 and not prefix:
            raise RuntimeError("weight tensor should be defined either for all or no classes")
        raise RuntimeError(
            f"{prefix}weight tensor should be defined either for all {classes} classes or no "
            f"classes but got weight tensor of shape: {list(weight.shape)}"
        )
    if weight.dtype != input.dtype:
        kinds = [name_of(t._array) for t in (input, weight)]
        raise RuntimeError(f"expected scalar type {kinds[0]} but found {kinds[1]}")


# ---- likelihoods --------------------------------------------------------------------------------
# Negative log-likelihoods of counts and of measurements with a variance. Composites.


@composite(module=True, autocast="float32")
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


# ---- cross-entropy of rows of logits, as an operation -------------------------------------------


def _powers(logits: Array) -> tuple[Array, Array, Array]:
    """Return logits, their exponentials, and the sums of those over each row.

    The logits are less the largest of their row where a sum came out so large or so small that
    digits may be lost. That is rare, and the search takes longer than all the rest. (Sums of
    squares take less time than the extremes, and the comparisons are false for NaN.)
    """
    sum_up = ones(logits.shape[1], logits.dtype)
    if logits.dtype in SAFE and len(logits):
        powers = np.exp(logits, order="C")
        totals = powers.dot(sum_up)
        inverse = 1 / totals
        if totals.dot(totals) < _HIGH and inverse.dot(inverse) < _HIGH:
            return logits, powers, totals
    logits = np.subtract(logits, np.maximum.reduce(logits, axis=1, keepdims=True), order="C")
    powers = np.exp(logits)
    return logits, powers, powers.dot(sum_up)


_HIGH = 1e30  # squared sums


ALL = np.ones((), bool)  # stands for the rows that count if all do
ALL.flags.writeable = False


@operation(node="NllLossBackward0", hidden=("powers", "totals", "counted"))
def indexed_cross_entropy(
    logits: Array, target: Array, /, ignore_index: int, reduction: str
) -> tuple[Any, ...]:
    """Return the mean (or sum, or all) of ``-log softmax(logits)[target]`` over rows of logits.

    Args:
        logits: ``[rows, classes]``.
        target: ``[rows]``, classes as int64.
        ignore_index: rows with this target count as zero and are left out of the mean.
    """
    rows, classes = logits.shape
    counted = None
    if 0 <= ignore_index < classes or not all_below(target, classes):
        _check_classes(target, classes, ignore_index)
        counted = target != ignore_index
    safe = target if counted is None else np.where(counted, target, 0)
    moved, powers, totals = _powers(logits)
    # In float64, so that a small difference of two larger numbers is exact.
    losses = np.log(totals, dtype=np.float64)
    losses -= moved.take(positions(safe[:, None], moved.shape, 1)[:, 0])
    np.maximum(losses, 0.0, out=losses)
    if counted is not None:
        losses = np.where(counted, losses, 0.0)
    if reduction != "none":
        count = rows if counted is None else np.count_nonzero(counted)
        losses = np.add.reduce(losses) / (count if reduction == "mean" else 1)
    return losses.astype(logits.dtype), powers, totals, ALL if counted is None else counted


def _indexed_grad(
    g: Any,
    logits: Any,
    target: Any,
    powers: Any,
    totals: Any,
    counted: Any,
    ignore_index: int,
    reduction: str,
) -> Any:
    """Return ``(softmax - one_hot) * g``."""
    if isinstance(g, Tensor) and not batched(g, logits):  # by PyTorch's operations
        back, _ = likelihood.recorded["input"]
        slope = back(g, target, logits.shape, ignore_index, reduction)
        return log_softmax_backward(slope, log_softmax(logits, 1), 1)
    rows, counted = len(powers), counted if counted.ndim else None
    if reduction == "mean":
        count = rows if counted is None else counted.sum()
        g = g / (count if isinstance(count, Tensor) else int(count))
    if counted is not None:  # zeros for what is ignored, also of a mean of nothing: NaN
        g, target = where(counted, g, 0.0), target * counted
    if isinstance(g, Tensor):  # what was prepared has no history
        column, classes = reshape(g, (g.numel(), 1)), wrap(np.arange(powers.shape[1]))
        one_hot = (classes == reshape(target, (rows, 1))).to(logits.dtype)
        return column * (softmax(logits, 1) - one_hot)
    factors: Array = g / totals
    made = powers * factors[:, None]
    made.reshape(-1)[positions(target[:, None], made.shape, 1)[:, 0]] -= g
    return made


indexed_cross_entropy.grad(logits=_indexed_grad)

# ---- checks -------------------------------------------------------------------------------------


def _check_classes(target: Array, classes: int, ignore_index: int) -> None:
    """Raise IndexError if a target class is out of range."""
    if all_below(target, classes):
        return
    wrong = (target != ignore_index) & ((target < 0) | (target >= classes))
    if wrong.any():
        raise IndexError(
            f"Target {target[wrong].flat[0]} is out of bounds. "
            f"It must be a class from 0 to {classes - 1}, or ignore_index ({ignore_index})."
        )


# ---- the functions ------------------------------------------------------------------------------


@composite(module=True, autocast="float32")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log-likelihood, ``-weight[target] * input[target]``.

    Args:
        input: log-probabilities, ``[batch, classes, ...]`` or ``[classes]``.
        target: classes, ``[batch, ...]`` or ``[]``.
        weight: a weight for each class, ``[classes]``; the mean divides by the sum of the weights
            of the targets.
        ignore_index: a target to ignore.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        IndexError: a target class is out of range.
        ValueError, RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.nll_loss(tn.tensor([[-0.5, -1.0]]), tn.tensor([1]))
        tensor(1.)
    """
    tensor_only("nll_loss_nd", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    plain = input.ndim == 2 and weight is None and target._array.dtype == np.int64
    if not plain or target._array.shape != input._array.shape[:1]:
        check_indices(input, target, weight)
    dim = 0 if input.ndim == 1 else 1
    run_traced(_check_classes, target._array, input.shape[dim], ignore_index)
    if weight is None and target._array.dtype == np.int64:
        op = likelihood if input.ndim <= 2 else likelihood_of_places
        return op.function(input, target, ignore_index, reduction)
    kind = input._array.dtype
    safe, factor, ignored = map(wrap, _counted(target._array, ignore_index, kind))
    if input.ndim == 1:
        found = gather(input, 0, safe.reshape(1)).reshape(target.shape)
    else:
        found = gather(input, 1, safe.unsqueeze(1)).squeeze(1)
    if weight is not None:
        factor = weight[safe] * factor
    loss = (found * -factor).masked_fill(ignored, 0.0)
    if reduction == "mean":
        return loss.sum() / factor.sum()
    return reduced(loss, reduction)


@composite(module=True, autocast="float32")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross-entropy between logits and a target distribution.

    Args:
        input: logits, ``[batch, classes, ...]`` or ``[classes]``.
        target: class indices, ``[batch, ...]`` or ``[]``; or class probabilities, of the shape of
            the input and floating-point.
        weight: a weight for each class, ``[classes]``.
        ignore_index: a class index to ignore.
        size_average, reduce: deprecated; they override ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        label_smoothing: the fraction of each target to spread evenly over all classes (Szegedy et
            al., 2015).

    Raises:
        IndexError: a target class is out of range.
        ValueError, RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.cross_entropy(tn.zeros(3, 10), tn.tensor([1, 2, 3]))
        tensor(2.3026)
    """
    tensor_only("cross_entropy_loss", input=input, target=target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if target._array.shape == input._array.shape:
        return _with_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)
    dim = 0 if input.ndim == 1 else 1
    if input.ndim == 2 and label_smoothing == 0.0 and input.is_floating_point():
        plain = target._array.shape == input._array.shape[:1] and target._array.dtype == np.int64
        if weight is not None or not plain:
            check_indices(input, target, weight)
        if weight is None:
            return indexed_cross_entropy.function(input, target, ignore_index, reduction)
        losses = indexed_cross_entropy.function(input, target, ignore_index, "none")
        return _weighted(losses, target, weight, ignore_index, reduction)
    logs = log_softmax.function(input, dim)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing == 0.0:
        return loss
    return _smoothed(loss, logs, target, weight, ignore_index, reduction, label_smoothing)


def _weighted(
    losses: Tensor, target: Tensor, weight: Tensor, ignore_index: int, reduction: str
) -> Tensor:
    """Reduce losses with the weights of their classes; the mean divides by the sum of these."""
    kind = losses._array.dtype
    safe, counted, _ = map(wrap, _counted(target._array, ignore_index, kind))
    factor = weight[safe] * counted
    if reduction == "mean":
        return (losses * factor).sum() / factor.sum()
    return reduced(losses * factor, reduction)


@traced
def _counted(target: Array, ignore_index: int, kind: Any) -> tuple[Array, Array, Array]:
    """Return the classes, 0 for an ignored one; what counts, as numbers; and what is ignored."""
    counted = target != ignore_index
    safe = np.where(counted, target, 0).astype(np.int64)
    return safe, np.asarray(counted).astype(kind), np.asarray(~counted)


@traced
def _ignored(target: Array, ignore_index: int) -> Array:
    return np.asarray(target == ignore_index)


def _weight_of(weight: Tensor | None, logs: Tensor) -> Any:
    """Return the class weights in a shape that multiplies the logits, or 1."""
    return 1 if weight is None else weight.reshape(-1, *[1] * (logs.ndim - 2))


def weight_of_targets(target: Tensor, weight: Tensor | None, ignore_index: int) -> Tensor:
    """Return what the mean divides by: the sum of the weights of all targets that count."""
    ignored = wrap(_ignored(target._array, ignore_index))
    if weight is None:
        return (~ignored).sum()
    return weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0).sum()


def _smoothed(
    loss: Tensor,
    logs: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    smoothing: float,
) -> Tensor:
    """Mix the loss with that of a uniform target."""
    dim = 0 if logs.ndim == 1 else 1
    ignored = wrap(_ignored(target._array, ignore_index))
    weighted: Any = logs if weight is None else logs * _weight_of(weight, logs)
    even = (-weighted.sum(dim)).masked_fill(ignored, 0.0)
    if reduction == "mean":
        even = even.sum() / weight_of_targets(target, weight, ignore_index)
    else:
        even = reduced(even, reduction)
    share = smoothing / logs.shape[dim]
    return loss * (1 - smoothing) + even * share


def _with_probabilities(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    smoothing: float,
) -> Tensor:
    """Return the cross-entropy for a target of class probabilities."""
    if not target.is_floating_point():
        kind = name_of(target._array)
        sentence = f"Expected floating point type for target with class probabilities, got {kind}"
        fix = "of one-hot targets take `target.argmax(1)`, or `target.float()` as probabilities"
        raise RuntimeError(errors.with_fix(sentence, fix))
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if input.ndim and weight is not None:
        check_weight(input, weight, "cross_entropy: ")
    dim = 0 if input.ndim == 1 else 1
    if not input.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    classes = input.shape[dim]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / max(classes, 1)
    logs = log_softmax.function(input, dim)
    loss = -(logs * target * _weight_of(weight, logs)).sum(dim)
    if reduction == "mean":
        return loss.sum() / (input.numel() // max(classes, 1))
    return reduced(loss, reduction)
