"""Adadelta."""

from __future__ import annotations

from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.formula import sqrt
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


class Adadelta(Elementwise):
    """Adadelta: steps scaled by the ratio of recent step sizes to recent gradients.

    ``v = rho * v + (1 - rho) * g * g``, ``d = sqrt(u + eps) / sqrt(v + eps) * g``,
    ``u = rho * u + (1 - rho) * d * d``, ``p = p - lr * d``. Zeiler (2012), "ADADELTA: An Adaptive
    Learning Rate Method".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: factor of the steps, >= 0.
        rho: decay rate of the two averages, in [0, 1].
        eps: added under the roots for numerical stability, >= 0.
        weight_decay: L2 penalty, >= 0.
        foreach, capturable: accepted for compatibility; they change nothing.
        maximize: maximize the objective instead of minimizing it.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.Adadelta([x], eps=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([2.4489], requires_grad=True)
    """

    nonnegative = ("lr", "rho", "eps", "weight_decay")
    numbers = ("step",)
    shaped = ("square_avg", "acc_delta")

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, options_of(locals()))

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        super().check(group)
        if group["rho"] > 1:
            raise ValueError(f"Invalid rho value: {group['rho']}")

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        rho = group["rho"]
        given |= {"lr": number(group["lr"]), "rho": rho, "new": 1 - rho, "eps": group["eps"]}
        return after, given

    @staticmethod
    def formula(c, param, grad, square, moved):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        square = square * c.rho + (grad * grad) * c.new
        root = square + c.eps
        step = sqrt((moved + c.eps) / root) * grad
        moved = moved * c.rho + (step * step) * c.new
        return param - step * c.lr, square, moved


def adadelta(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    acc_deltas: Tensors,
    state_steps: Tensors,
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """Update parameters and their state in place by a step of ``Adadelta``.

    It has the options of ``Adadelta``.

    Args:
        params, grads: the parameters and their gradients.
        square_avgs, acc_deltas: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        capturable, foreach, has_complex: accepted; they change nothing.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.adadelta import adadelta
        >>> p = tn.ones(1)
        >>> options = dict(lr=0.5, rho=0.9, eps=1e-8, weight_decay=0.0, maximize=False)
        >>> adadelta([p], [tn.ones(1)], [tn.zeros(1)], [tn.zeros(1)], [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.9998])
    """
    state = {"square_avg": square_avgs, "acc_delta": acc_deltas, "step": state_steps}
    take_step(Adadelta, params, grads, state, locals())
