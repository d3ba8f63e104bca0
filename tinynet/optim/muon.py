"""Muon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.optim.base.groups import Group, Params, number, options_of, refuse_long_lr
from tinynet.optim.optimizer import Optimizer, Tensors, take_step


class Muon(Optimizer):
    """Muon: momentum whose matrix is orthogonalized before it updates the parameter.

    ``b = momentum * b + (1 - momentum) * g``; U is b (for Nesterov's form ``momentum * b + (1 -
    momentum) * g``) with all singular values brought close to 1 by a few Newton-Schulz steps
    ``X = a X + (b XX' + c (XX')^2) X``; ``p = p * (1 - lr * weight_decay) - lr * r * U`` with
    ``r = sqrt(max(1, rows / columns))``. Jordan et al. (2024), "Muon: An optimizer for hidden
    layers in neural networks".

    Use it for the matrices of hidden layers; biases, embeddings and the last layer need another
    optimizer, such as AdamW. As in PyTorch, the Newton-Schulz steps round to 8 bits (bfloat16).

    Args:
        params: parameters with two dimensions, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        weight_decay: factor of the decay, >= 0.
        momentum: fraction of the old momentum to keep, >= 0.
        nesterov: use Nesterov's form.
        ns_coefficients: a, b and c.
        eps: lower bound of the norm that normalizes b before the Newton-Schulz steps.
        ns_steps: number of Newton-Schulz steps, less than 100.
        adjust_lr_fn: ``"original"`` (None) as above, or ``"match_rms_adamw"``: r is
            ``0.2 * sqrt(max(rows, columns))``, which makes steps as large as AdamW's.

    Raises:
        ValueError: an option is out of range, or a parameter does not have two dimensions.

    Example:
        >>> x = tn.tensor([[3.0, 4.0]], requires_grad=True)
        >>> optimizer = optim.Muon([x], lr=1.0, weight_decay=0.0, ns_steps=0)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([[2.3984, 3.1992]], requires_grad=True)
    """

    shaped = ("momentum_buffer",)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ):
        super().__init__(params, options_of(locals()))

    def check(self, group: Group) -> None:
        """Raise ValueError if an option or a parameter of a group is not supported."""
        refuse_long_lr(group)
        for name, what in (
            ("lr", "Learning rate"),
            ("momentum", "momentum"),
            ("weight_decay", "weight decay"),
        ):
            if not group[name] >= 0:
                raise ValueError(f"{what} should be >= 0 but is: {group[name]}")
        if group["adjust_lr_fn"] not in (None, *_RATIOS):
            raise ValueError(
                f"Adjust learning rate function {group['adjust_lr_fn']} is not supported"
            )
        if group["ns_steps"] >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        for p in group.get("params", ()):
            if p.ndim != 2:
                raise ValueError(
                    "Muon only supports 2D parameters whereas we found a parameter with size: "
                    f"{p.size()}"
                )

    def update(self, param: Array, grad: Array, state: dict[str, Any], group: Group) -> None:
        """Update ``param`` in place."""
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = np.zeros_like(grad)
        buffer, momentum = state["momentum_buffer"], group["momentum"]
        lr, ratio = number(group["lr"]), _RATIOS[group["adjust_lr_fn"] or "original"]
        buffer += (grad - buffer) * (1 - momentum)
        move = grad + (buffer - grad) * momentum if group["nesterov"] else buffer
        move = orthogonal(move, group["ns_coefficients"], group["ns_steps"], group["eps"])
        param *= 1 - lr * group["weight_decay"]
        param -= (lr * ratio(*param.shape)) * move.astype(param.dtype, copy=False)


_RATIOS = {
    "original": lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "match_rms_adamw": lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
}


def orthogonal(x: Array, coefficients: tuple[float, float, float], steps: int, eps: float) -> Array:
    """Return a float32 matrix with the singular vectors of ``x`` and singular values near 1.

    Five steps with Muon's coefficients bring the values to between 0.7 and 1.2.
    """
    a, b, c = coefficients
    x = bfloat16(x)
    wide = x.T if x.shape[0] > x.shape[1] else x
    norm = bfloat16(np.linalg.norm(wide))
    wide = bfloat16(wide / np.maximum(norm, bfloat16(np.array(eps))))
    for _ in range(steps):
        gram = bfloat16(wide @ wide.T)
        change = bfloat16(b * gram + c * (gram @ gram))
        wide = bfloat16(a * wide + change @ wide)
    return wide.T if x.shape[0] > x.shape[1] else wide


def bfloat16(x: Any) -> Array:
    """Return float32 numbers rounded to bfloat16: to 8 bits, ties to even."""
    bits = np.array(x, np.float32, ndmin=1).view(np.uint32)
    bits += ((bits >> 16) & 1) + np.uint32(0x7FFF)
    bits &= np.uint32(0xFFFF0000)
    return bits.view(np.float32).reshape(np.shape(x))


def muon(
    params: Tensors,
    grads: Tensors,
    muon_momentum_bufs: Tensors,
    *,
    foreach: bool | None = None,
    lr: float,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
    adjust_lr_fn: str | None,
    has_complex: bool,
) -> None:
    """Update matrices and their momentum in place by a step of ``Muon``.

    It has the options of ``Muon``.

    Args:
        params, grads: the parameters and their gradients, with two dimensions.
        muon_momentum_bufs: the momentum of each parameter.
        foreach: must not be True.
        has_complex: must be False.

    Raises:
        RuntimeError: ``foreach`` is True.
        ValueError: ``has_complex`` is True, or an option is out of range.

    Example:
        >>> from tinynet.optim.muon import muon
        >>> p = tn.ones(1, 1)
        >>> options = optim.Muon([p], lr=0.5, weight_decay=0.0, ns_steps=0).defaults
        >>> muon([p], [p], [tn.zeros(1, 1)], **options, has_complex=False)
        >>> p
        tensor([[0.5000]])
    """
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet")
    if has_complex:
        raise ValueError("Complex parameters are not supported")
    take_step(Muon, params, grads, {"momentum_buffer": muon_momentum_bufs}, locals())
