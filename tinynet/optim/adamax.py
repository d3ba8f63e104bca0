"""Adamax."""

from __future__ import annotations

import numpy as np

from tinynet.optim.base.elementwise import Elementwise, direction, running
from tinynet.optim.base.groups import Group, Params, constants, number, options_of
from tinynet.optim.base.state_dicts import Kind, Numbers, Rule


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
    scratch = 2

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

    def rule(self, group: Group, numbers: Numbers, kind: Kind, fresh: bool) -> Rule:
        """Return the update of a block."""
        step = numbers["step"]
        step += 1
        b1, b2 = group["betas"]
        toward = direction(group)
        beta1, new, beta2, eps, lr = constants(
            kind, b1, 1 - b1, b2, group["eps"], number(group["lr"]) / (1 - b1 ** float(step))
        )

        def block(param, grad, other, work, mean, largest):
            grad = toward(param, grad, other)
            running(mean, grad, beta1, new, work)
            largest *= beta2
            np.abs(grad, work)
            work += eps
            np.maximum(largest, work, out=largest)
            np.divide(mean, largest, work)
            work *= lr
            param -= work

        return block
