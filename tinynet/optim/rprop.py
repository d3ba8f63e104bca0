"""Rprop."""

from __future__ import annotations

from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.formula import maximum, minimum, sign, where
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


class Rprop(Elementwise):
    """Rprop: uses only the sign of the gradient, with a separate step size for each element.

    The step size is multiplied by ``etas[1]`` while the sign stays the same, and by ``etas[0]``
    when it changes; that element then skips one step. For full-batch training, not mini-batches.
    Riedmiller and Braun (1993), "A Direct Adaptive Method for Faster Backpropagation Learning: The
    RPROP Algorithm".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: the initial step sizes, >= 0.
        etas: factors of the step size, the first in (0, 1), the second > 1.
        step_sizes: the smallest and the largest step size.
        foreach, capturable: accepted for compatibility; they change nothing.
        maximize: maximize the objective instead of minimizing it.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.Rprop([x], lr=0.5)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([3.5000], requires_grad=True)
    """

    nonnegative = ("lr",)
    numbers = ("step",)
    shaped = ("prev", "step_size")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, options_of(locals()))

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        super().check(group)
        smaller, larger = group["etas"]
        if not 0 < smaller < 1 < larger:
            raise ValueError(f"Invalid eta values: {smaller}, {larger}")

    def start(self, name: str, group: Group) -> float:
        """Return the initial value of a state entry."""
        return number(group["lr"]) if name == "step_size" else 0.0

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        (smaller, larger), (low, high) = group["etas"], group["step_sizes"]
        given |= {"smaller": smaller, "larger": larger, "low": low, "high": high}
        return after, given

    @staticmethod
    def formula(c, param, grad, before, size):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        agreement = grad * before
        turned, kept = agreement < 0, agreement > 0
        factor = where(turned, c.smaller, where(kept, c.larger, 1.0))  # 1 also for NaN
        size = minimum(maximum(size * factor, c.low), c.high)
        before = where(turned, 0.0, grad)
        return param - sign(before) * size, before, size


def rprop(
    params: Tensors,
    grads: Tensors,
    prevs: Tensors,
    step_sizes: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """Update parameters and their state in place by a step of ``Rprop``.

    It has the options of ``Rprop``, with ``etas=(etaminus, etaplus)``.

    Args:
        params, grads: the parameters and their gradients.
        prevs, step_sizes: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        foreach, capturable, has_complex: accepted; they change nothing.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.rprop import rprop
        >>> p = tn.ones(1)
        >>> options = dict(step_size_min=1e-6, step_size_max=50.0, etaminus=0.5, etaplus=1.2)
        >>> rprop([p], [tn.ones(1)], [tn.zeros(1)], [tn.tensor([0.5])], [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.5000])
    """
    state = {"prev": prevs, "step_size": step_sizes, "step": state_steps}
    take_step(
        Rprop,
        params,
        grads,
        state,
        locals(),
        etas=(etaminus, etaplus),
        step_sizes=(step_size_min, step_size_max),
    )
