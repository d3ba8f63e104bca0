"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels
from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


class SGD(Elementwise):
    """Gradient descent, optionally with momentum.

    ``g = grad + weight_decay * p``, then with momentum ``b = momentum * b + (1 - dampening) * g``
    (``b = g`` at the first step) and ``g = b``, or ``g + momentum * b`` for Nesterov's form; then
    ``p = p - lr * g``. As in PyTorch, and unlike in Sutskever et al. (2013, "On the importance of
    initialization and momentum in deep learning"), the learning rate is outside the momentum.

    Sparse gradients update only the rows they contain (with momentum: all rows).

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        momentum: fraction of the previous update to keep, >= 0.
        dampening: fraction of the gradient left out of the momentum.
        weight_decay: L2 penalty, >= 0.
        nesterov: use Nesterov's momentum; requires momentum and no dampening.
        maximize: maximize the objective instead of minimizing it.
        foreach, fused: accepted for compatibility; they change nothing.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.SGD([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([2.], requires_grad=True)
    """

    nonnegative = ("lr", "momentum", "weight_decay")
    shaped = ("momentum_buffer",)
    together_from = 5  # below that, copying costs more than these few operations save

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(params, options_of(locals()))

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        super().check(group)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def buffers(self, group: Group) -> tuple[str, ...]:
        """Return the names of the state in use: a buffer if there is momentum."""
        return self.shaped if group["momentum"] else ()

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        dampening, momentum = group["dampening"], group["momentum"]
        _, given = self.counted(group, numbers)
        given |= {"lr": number(group["lr"]), "momentum": momentum or None}
        given |= {"new": 1 - dampening if dampening else None}
        return numbers, given | {"nesterov": bool(group["nesterov"]), "fresh": fresh}

    @staticmethod
    def formula(c, param, grad, buffer=None):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        if buffer is None:
            return (param - grad * c.lr,)
        if c.fresh:
            buffer = grad
        else:
            buffer = buffer * c.momentum + (grad if c.new is None else grad * c.new)
        grad = grad + buffer * c.momentum if c.nesterov else buffer
        return param - grad * c.lr, buffer

    def refuse(self, sparse: bool, group: Group) -> None:
        """Raise RuntimeError for sparse gradients with weight decay."""
        if sparse and group["weight_decay"]:
            raise RuntimeError(
                "add(sparse, dense) is not supported. Use add(dense, sparse) instead."
            )

    def accepts_row_gradients(self, group: Group) -> bool:
        """Return True without momentum and weight decay: only rows with a gradient change."""
        return not group["momentum"] and not group["weight_decay"]

    def update_row_gradients(
        self, param: Array, rows: Any, state: dict[str, Any], group: Group, fresh: bool
    ) -> None:
        """Update ``param`` in place by a sparse gradient; the momentum buffer is dense."""
        lr, momentum = number(group["lr"]), group["momentum"]
        rate = -lr if group["maximize"] else lr
        if rows.lazy:
            _descend(param, rows.unique(), rate)
            return
        buffer = state.get("momentum_buffer")
        if buffer is None and param.flags.c_contiguous:  # each element independently: no sorting
            places = rows.index[:, None] * param[:1].size + np.arange(param[:1].size)
            np.add.at(param.reshape(-1), places.ravel(), (rows.values * -rate).ravel())
            return
        rows = rows.coalesce()
        index, values = rows.index, -rows.values if group["maximize"] else rows.values
        if buffer is None:
            param[index] -= lr * values
            return
        buffer *= momentum
        buffer[index] += values if fresh else (1 - group["dampening"]) * values
        if group["nesterov"]:
            param -= lr * momentum * buffer
            param[index] -= lr * values
        else:
            param -= lr * buffer


def _descend(param: Array, rows: Any, rate: float) -> None:
    """Subtract rows of a gradient times the learning rate, bit by bit as the dense update does."""
    table = param.ndim == 2 and param.flags.c_contiguous and rows.values.flags.c_contiguous
    if table and native_kernels.takes(param, rows.values):
        part = np.empty(param.shape[1], np.float32)
        native_kernels.tables.descend(param, rows.index, rows.values, np.float32(rate), part)
        return
    moved = param.take(rows.index, axis=0)
    moved -= rate * rows.values
    param[rows.index] = moved


def sgd(
    params: Tensors,
    d_p_list: Tensors,
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """Update parameters and their state in place by a step of ``SGD``.

    It has the options of ``SGD``.

    Args:
        params, d_p_list: the parameters and their gradients.
        momentum_buffer_list: the state of each parameter; an entry that is None is created.
        has_sparse_grad, foreach, fused: accepted; they change nothing.
        grad_scale, found_inf: must be None.

    Raises:
        AssertionError: there is a ``grad_scale``.

    Example:
        >>> from tinynet.optim.sgd import sgd
        >>> p = tn.ones(1)
        >>> options = dict(weight_decay=0.0, momentum=0.0, lr=0.5, dampening=0.0, nesterov=False,
        ...     maximize=False)
        >>> sgd([p], [tn.ones(1)], [None], **options)
        >>> p
        tensor([0.5000])
    """
    state = {"momentum_buffer": momentum_buffer_list if momentum else []}
    take_step(SGD, params, d_p_list, state, locals())
