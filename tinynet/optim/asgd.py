"""ASGD."""

from __future__ import annotations

from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


class ASGD(Elementwise):
    """ASGD: gradient descent that also averages the parameters over the steps.

    ``p = p * (1 - lambd * eta) - eta * g``, where eta starts at lr and is
    ``lr / (1 + lambd * lr * t)^alpha`` after step t. The state stores the average as ``"ax"``:
    the parameter itself until step t0, then a running mean. Polyak and Juditsky (1992),
    "Acceleration of Stochastic Approximation by Averaging".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        lambd: decay of the parameters.
        alpha: exponent of the decay of eta.
        t0: the step at which averaging starts.
        weight_decay: L2 penalty, >= 0.
        foreach, capturable: accepted for compatibility; they change nothing.
        maximize: maximize the objective instead of minimizing it.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.ASGD([x], lr=0.25, lambd=0.5)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([1.5000], requires_grad=True)
    """

    nonnegative = ("lr", "weight_decay")
    numbers = ("step", "eta", "mu")
    shaped = ("ax",)
    listed = ("mu", "ax", "eta", "step")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        super().__init__(params, options_of(locals()))

    def start(self, name: str, group: Group) -> float:
        """Return the initial value of a state entry."""
        return {"eta": number(group["lr"]), "mu": 1.0}.get(name, 0.0)

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        t, eta, mu = float(after["step"]), float(numbers["eta"]), float(numbers["mu"])
        lr, lambd = number(group["lr"]), group["lambd"]
        after["eta"] = lr / (1 + lambd * lr * t) ** group["alpha"]
        after["mu"] = 1 / max(1, t - group["t0"])
        given |= {"rate": eta, "share": None if mu == 1 else mu, "shrink": 1 - lambd * eta}
        return after, given

    @staticmethod
    def formula(c, param, grad, average):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        param = param * c.shrink - grad * c.rate
        return param, param if c.share is None else average + (param - average) * c.share


def asgd(
    params: Tensors,
    grads: Tensors,
    axs: Tensors,
    mus: Tensors,
    etas: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """Update parameters and their state in place by a step of ``ASGD``.

    It has the options of ``ASGD``.

    Args:
        params, grads: the parameters and their gradients.
        axs, mus, etas: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        foreach, capturable, has_complex: accepted; they change nothing.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.asgd import asgd
        >>> p = tn.ones(1)
        >>> options = dict(lambd=0.0, lr=0.5, t0=1e6, alpha=0.9, weight_decay=0.0)
        >>> asgd([p], [tn.ones(1)], [tn.zeros(1)], [tn.tensor(1.0)], [tn.tensor(0.5)],
        ...     [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.5000])
    """
    state = {"ax": axs, "mu": mus, "eta": etas, "step": state_steps}
    take_step(ASGD, params, grads, state, locals())
