"""Adafactor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array, extension_dtypes
from tinynet.optim.base.groups import Group, Params, counted, number, options_of, refuse_long_lr
from tinynet.optim.optimizer import Optimizer, Tensors, take_step


class Adafactor(Optimizer):
    """Adafactor: Adam's scaling with one number per row and one per column.

    For a matrix, the squared gradients are stored as averages r of its rows and c of its columns,
    with ``v = r c / mean(r)``; a vector stores v itself. At step t the new squares enter with the
    weight ``t^beta2_decay``, then ``u = g / sqrt(v)``,
    ``p = p - max(eps[1], rms(p)) * min(lr, 1 / sqrt(t)) * u / max(1, rms(u) / d)``. Shazeer and
    Stern (2018), "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: largest learning rate, >= 0.
        beta2_decay: exponent of the weight of new squares, <= 0.
        eps: lower bounds of the root of v (None: the dtype's) and of the parameter's size.
        d: clipping threshold for the size of u, >= 1.
        weight_decay: factor of the decay ``p = p * (1 - lr * weight_decay)``, >= 0.
        foreach: accepted for compatibility; it changes nothing.
        maximize: maximize the objective instead of minimizing it.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.Adafactor([x], lr=0.125)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([3.5000], requires_grad=True)
    """

    numbers = ("step",)
    shaped = ("variance",)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ):
        super().__init__(params, options_of(locals()))

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        refuse_long_lr(group)
        eps1, eps2 = group["eps"]
        for what, value, good in (
            ("Learning rate should be >= 0", group["lr"], group["lr"] >= 0),
            ("beta2_decay should be <= 0", group["beta2_decay"], group["beta2_decay"] <= 0),
            ("epsilon1 should be >= 0", eps1, eps1 is None or eps1 >= 0),
            ("epsilon2 should be >= 0", eps2, eps2 >= 0),
            ("Clipping threshold d should be >= 1", group["d"], group["d"] >= 1),
            ("weight_decay should be >= 0", group["weight_decay"], group["weight_decay"] >= 0),
        ):
            if not good:
                raise ValueError(f"{what} but is: {value}")

    def update(self, param: Array, grad: Array, state: dict[str, Any], group: Group) -> None:
        """Update ``param`` in place."""
        if param.dtype.kind == "c":
            raise RuntimeError("Adafactor does not support complex parameters")
        if not state:
            state["step"] = counted()
            state.update(_zeros(grad))
        step = state["step"]
        step += 1
        t, lr, (eps1, eps2) = float(step), number(group["lr"]), group["eps"]
        eps1 = extension_dtypes.finfo(param.dtype).eps if eps1 is None else eps1
        rate = max(eps2, _rms(param)) * min(lr, 1 / math.sqrt(t))
        if group["weight_decay"]:
            param *= 1 - lr * group["weight_decay"]
        move = _variance(grad, state, t ** group["beta2_decay"], eps1)
        np.maximum(move, eps1 * eps1, out=move)
        np.sqrt(move, move)
        np.divide(grad, move, move)
        move *= rate / max(1.0, _rms(move) / group["d"])
        if group["maximize"]:
            param += move
        else:
            param -= move


def _zeros(grad: Array) -> dict[str, Array]:
    """Return the initial averages of squares."""
    if grad.ndim < 2:
        return {"variance": np.zeros_like(grad)}
    rows, columns = grad.shape[:-1], grad.shape[:-2] + grad.shape[-1:]
    return {
        "row_var": np.zeros((*rows, 1), grad.dtype),
        "col_var": np.zeros((*columns[:-1], 1, columns[-1]), grad.dtype),
    }


def _variance(grad: Array, state: dict[str, Any], share: float, least: float) -> Array:
    """Add the new squares to the averages; return v for each element, as a new array."""
    squares = grad * grad
    if grad.ndim < 2:
        average = state["variance"]
        average += (squares - average) * share
        return average.copy()
    rows, columns = state["row_var"], state["col_var"]
    rows += (squares.mean(-1, keepdims=True) - rows) * share
    columns += (squares.mean(-2, keepdims=True) - columns) * share
    np.multiply(rows, columns, squares)
    squares /= np.maximum(rows.mean(-2, keepdims=True), least)
    return squares


def _rms(x: Array) -> float:
    """Return the root mean square."""
    return float(np.linalg.norm(x)) / math.sqrt(x.size)


def adafactor(
    params: Tensors,
    grads: Tensors,
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: Tensors,
    foreach: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    d: float,
    lr: float | Tensor,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """Update parameters and their averages in place by a step of ``Adafactor``.

    It has the options of ``Adafactor``, with ``eps`` as ``eps1`` and ``eps2``.

    Args:
        params, grads: the parameters and their gradients.
        row_vars, col_vars: the averages of each matrix; None for a vector.
        variances: the averages of each vector; None for a matrix.
        state_steps: the number of steps before this one, a tensor for each parameter.
        foreach, has_complex: accepted; they change nothing.
        grad_scale, found_inf: must be None.

    Raises:
        AssertionError: there is a ``grad_scale``.
        RuntimeError: the step counts are numbers, or a parameter is complex.

    Example:
        >>> from tinynet.optim.adafactor import adafactor
        >>> p, variances, steps = tn.ones(1), [tn.zeros(1)], [tn.tensor(0.0)]
        >>> options = dict(d=1.0, lr=0.5, beta2_decay=-0.8, weight_decay=0.0, eps1=None, eps2=1e-3)
        >>> adafactor([p], [p], [None], [None], variances, steps, **options, maximize=False)
        >>> p
        tensor([0.5000])
    """
    state: dict[str, list[Any]] = {"row_var": row_vars, "col_var": col_vars}
    state |= {"variance": variances, "step": state_steps}
    take_step(Adafactor, params, grads, state, locals(), eps=(eps1, eps2))
