"""RAdam."""

from __future__ import annotations

import math

from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.formula import sqrt
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


class RAdam(Elementwise):
    """RAdam: Adam without the scaling until the average of the squares is reliable.

    With Adam's averages m and v, ``s = 2 / (1 - b2) - 1`` and, at step t, ``r = s - 2 * t * b2^t /
    (1 - b2^t)``: while r <= 5, ``p = p - lr * m / (1 - b1^t)``; then m is also multiplied by
    ``sqrt((r - 4) * (r - 2) * s / ((s - 4) * (s - 2) * r)) * sqrt(1 - b2^t) / (sqrt(v) + eps)``.
    Liu et al. (2020), "On the Variance of the Adaptive Learning Rate and Beyond".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        betas: decay rates of the two averages, each in [0, 1).
        eps: added to the root for numerical stability, >= 0.
        weight_decay: L2 penalty, >= 0.
        decoupled_weight_decay: apply weight decay as AdamW does, ``p = p * (1 - lr *
            weight_decay)``.
        foreach, capturable: accepted for compatibility; they change nothing.
        maximize: maximize the objective instead of minimizing it.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.RAdam([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([2.], requires_grad=True)
    """

    nonnegative = ("lr", "eps", "betas", "weight_decay")
    numbers = ("step",)
    shaped = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, options_of(locals()))

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        t, (b1, b2) = float(after["step"]), group["betas"]
        trust = _rectified(t, b2)
        rate = number(group["lr"]) / (1 - b1**t) * (trust or 1.0)
        given |= {"beta1": b1, "new1": 1 - b1, "beta2": b2, "new2": 1 - b2, "rate": rate}
        return after, given | {"eps": None if trust is None else group["eps"]}

    @staticmethod
    def formula(c, param, grad, mean, square):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        mean = mean * c.beta1 + grad * c.new1
        square = square * c.beta2 + (grad * grad) * c.new2
        step = mean if c.eps is None else mean / (sqrt(square) + c.eps)
        return param - step * c.rate, mean, square


def _rectified(t: float, beta2: float) -> float | None:
    """Return the factor of the scaled step at step t; None while the average is unreliable."""
    last = 2 / (1 - beta2) - 1
    missing = 1 - beta2**t
    length = last - 2 * t * beta2**t / missing
    if length <= 5:
        return None
    known = (length - 4) * (length - 2) * last / ((last - 4) * (last - 2) * length)
    return math.sqrt(known) * math.sqrt(missing)


def radam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    state_steps: Tensors,
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    eps: float,
) -> None:
    """Update parameters and their state in place by a step of ``RAdam``.

    It has the options of ``RAdam``, with ``betas=(beta1, beta2)``.

    Args:
        params, grads: the parameters and their gradients.
        exp_avgs, exp_avg_sqs: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        foreach, capturable, has_complex: accepted; they change nothing.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.radam import radam
        >>> p = tn.ones(1)
        >>> options = dict(beta1=0.9, beta2=0.999, lr=0.5, weight_decay=0.0, eps=1e-8)
        >>> radam([p], [tn.ones(1)], [tn.zeros(1)], [tn.zeros(1)], [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.5000])
    """
    state = {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "step": state_steps}
    take_step(RAdam, params, grads, state, locals(), betas=(beta1, beta2))
