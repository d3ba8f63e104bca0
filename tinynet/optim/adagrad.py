"""Adagrad."""

from __future__ import annotations

from typing import Any

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.optim.base.elementwise import Elementwise, Given, direction, filled_like
from tinynet.optim.base.formula import sqrt
from tinynet.optim.base.groups import Group, Numbers, Params, counted, number, options_of
from tinynet.optim.optimizer import Tensors, init_group, take_step


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

    def _init_group(self, group: Group, params: Any, grads: Any, *entries: Any, **more: Any) -> Any:
        """Fill lists with what a step of a group needs: see `init_group`."""
        return init_group(self, group, params, grads, *entries, *more.values())

    def start(self, name: str, group: Group) -> float:
        """Return the initial value of a state entry."""
        return self.defaults["initial_accumulator_value"] if name == "sum" else 0.0

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        lr = number(group["lr"]) / (1 + (float(after["step"]) - 1) * group["lr_decay"])
        return after, given | {"lr": lr, "eps": group["eps"]}

    @staticmethod
    def formula(c, param, grad, total):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        total = total + grad * grad
        return param - grad / (sqrt(total) + c.eps) * c.lr, total

    def refuse(self, sparse: bool, group: Group) -> None:
        """Raise RuntimeError for sparse gradients with weight decay."""
        if sparse and group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")


def adagrad(
    params: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Update parameters and their state in place by a step of ``Adagrad``.

    It has the options of ``Adagrad``.

    Args:
        params, grads: the parameters and their gradients.
        state_sums: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        fused, has_sparse_grad, foreach, has_complex: accepted; they change nothing.
        grad_scale, found_inf: must be None.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.adagrad import adagrad
        >>> p = tn.ones(1)
        >>> options = dict(lr=0.5, weight_decay=0.0, lr_decay=0.0, eps=1e-8, maximize=False)
        >>> adagrad([p], [tn.ones(1)], [tn.zeros(1)], [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.5000])
    """
    state = {"sum": state_sums, "step": state_steps}
    take_step(Adagrad, params, grads, state, locals())
