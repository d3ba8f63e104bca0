"""Adamax."""

from __future__ import annotations

from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.formula import absolute, maximum
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


class Adamax(Elementwise):
    """Adamax: Adam with a decaying maximum of the gradient in place of the root of the squares.

    ``m = b1 * m + (1 - b1) * g``, ``u = max(b2 * u, |g| + eps)``, and at step t
    ``p = p - lr / (1 - b1^t) * m / u``. Kingma and Ba (2015), "Adam: A Method for Stochastic
    Optimization", section 7.1.

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        betas: decay rates of the average and the maximum, each in [0, 1).
        eps: added to the gradient's magnitude for numerical stability, >= 0.
        weight_decay: L2 penalty, >= 0.
        foreach, capturable: accepted for compatibility; they change nothing.
        maximize: maximize the objective instead of minimizing it.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.Adamax([x], lr=0.5)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([3.5000], requires_grad=True)
    """

    nonnegative = ("lr", "eps", "betas", "weight_decay")
    numbers = ("step",)
    shaped = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        super().__init__(params, options_of(locals()))

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        b1, b2 = group["betas"]
        rate = number(group["lr"]) / (1 - b1 ** float(after["step"]))
        given |= {"beta1": b1, "new1": 1 - b1, "beta2": b2, "eps": group["eps"], "rate": rate}
        return after, given

    @staticmethod
    def formula(c, param, grad, mean, largest):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        mean = mean * c.beta1 + grad * c.new1
        largest = maximum(largest * c.beta2, absolute(grad) + c.eps)
        return param - mean / largest * c.rate, mean, largest


def adamax(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_infs: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
) -> None:
    """Update parameters and their state in place by a step of ``Adamax``.

    It has the options of ``Adamax``, with ``betas=(beta1, beta2)``.

    Args:
        params, grads: the parameters and their gradients.
        exp_avgs, exp_infs: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        foreach, capturable, has_complex: accepted; they change nothing.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.adamax import adamax
        >>> p = tn.ones(1)
        >>> options = dict(eps=1e-8, beta1=0.9, beta2=0.999, lr=0.5, weight_decay=0.0)
        >>> adamax([p], [tn.ones(1)], [tn.zeros(1)], [tn.zeros(1)], [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.5000])
    """
    state = {"exp_avg": exp_avgs, "exp_inf": exp_infs, "step": state_steps}
    take_step(Adamax, params, grads, state, locals(), betas=(beta1, beta2))
