"""Adagrad."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import wrap
from tinynet.dtypes import Array
from tinynet.optim.base.elementwise import Elementwise, direction, filled_like
from tinynet.optim.base.groups import Group, Params, constants, counted, number, options_of
from tinynet.optim.base.state_dicts import Kind, Numbers, Rule


class Adagrad(Elementwise):
    """Adagrad: steps divided by the root of the sum of all squared gradients so far.

    ``s = s + g * g``, ``p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)`` at step t.
    Duchi, Hazan and Singer (2011), "Adaptive Subgradient Methods for Online Learning and
    Stochastic Optimization".

    Sparse gradients update only the rows they contain.

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        lr_decay: decay of the learning rate, >= 0.
        weight_decay: L2 penalty, >= 0; not supported with sparse gradients.
        initial_accumulator_value: initial value of the sums, >= 0.
        eps: added to the root for numerical stability, >= 0.
        foreach, fused: accepted for compatibility; they change nothing.
        maximize: maximize the objective instead of minimizing it.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.Adagrad([x], lr=0.5)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([3.5000], requires_grad=True)
    """

    nonnegative = ("lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps")
    numbers = ("step",)
    shaped = ("sum",)
    scratch = 2

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(params, options_of(locals()))
        for group in self.param_groups:  # as in PyTorch, its state exists before the first step
            for p in group["params"]:
                total = filled_like(p._array, self.start("sum", group))
                self.state[p].update(step=wrap(counted()), sum=wrap(total))

    def start(self, name: str, group: Group) -> float:
        """Return the initial value of a state entry."""
        return self.defaults["initial_accumulator_value"] if name == "sum" else 0.0

    def rule(self, group: Group, numbers: Numbers, kind: Kind, fresh: bool) -> Rule:
        """Return the update of a block."""
        step = numbers["step"]
        step += 1
        toward = direction(group)
        slowed = number(group["lr"]) / (1 + (float(step) - 1) * group["lr_decay"])
        lr, eps = constants(kind, slowed, group["eps"])

        def block(param, grad, other, work, total):
            grad = toward(param, grad, other)
            np.multiply(grad, grad, work)
            total += work
            np.sqrt(total, work)
            work += eps
            np.divide(grad, work, work)
            work *= lr
            param -= work

        return block

    def refuse(self, sparse: bool, group: Group) -> None:
        """Raise RuntimeError for sparse gradients with weight decay."""
        if sparse and group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")

    def update_row_gradients(
        self, param: Array, rows: Any, state: dict[str, Any], group: Group, fresh: bool
    ) -> None:
        """Update the rows of a sparse gradient."""
        step, total = state["step"], state["sum"]
        step += 1
        lr = number(group["lr"]) / (1 + (float(step) - 1) * group["lr_decay"])
        rows = rows.coalesce()
        index, values = rows.index, rows.values
        sums = total[index] + values * values
        total[index] = sums
        moves = lr * (values / (np.sqrt(sums) + group["eps"]))
        param[index] += moves if group["maximize"] else -moves
