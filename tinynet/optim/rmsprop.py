"""RMSprop."""

from __future__ import annotations

import numpy as np

from tinynet.optim.base.elementwise import Elementwise, direction, running
from tinynet.optim.base.groups import Group, Params, constants, number, options_of
from tinynet.optim.base.state_dicts import Kind, Numbers, Rule


class RMSprop(Elementwise):
    """RMSprop: steps divided by the root of a running average of the squared gradient.

    ``v = alpha * v + (1 - alpha) * g * g``; ``d = g / (sqrt(v) + eps)``, where ``centered``
    subtracts the square of the average gradient from v; ``p = p - lr * d``, or with momentum
    ``b = momentum * b + d`` and ``p = p - lr * b``. Hinton (2012), lecture 6e of "Neural Networks
    for Machine Learning"; centered: Graves (2013), "Generating Sequences With Recurrent Neural
    Networks".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        alpha: decay rate of the averages, >= 0.
        eps: added to the root for numerical stability, >= 0.
        weight_decay: L2 penalty, >= 0.
        momentum: fraction of the previous update to keep, >= 0.
        centered: divide by the standard deviation instead of the root of the squares.
        foreach, capturable: accepted for compatibility; they change nothing.
        maximize: maximize the objective instead of minimizing it.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.RMSprop([x], lr=0.5, alpha=0.75)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([3.], requires_grad=True)
    """

    nonnegative = ("lr", "eps", "momentum", "weight_decay", "alpha")
    numbers = ("step",)
    shaped = ("square_avg", "momentum_buffer", "grad_avg")
    scratch = 2

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, options_of(locals()))

    def buffers(self, group: Group) -> tuple[str, ...]:
        """Return the names of the state in use."""
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return tuple(names)

    def rule(self, group: Group, numbers: Numbers, kind: Kind, fresh: bool) -> Rule:
        """Return the update of a block."""
        numbers["step"] += 1
        toward = direction(group)
        centered, moving = group["centered"], group["momentum"] > 0
        lr, alpha, new, eps, momentum = constants(
            kind,
            number(group["lr"]),
            group["alpha"],
            1 - group["alpha"],
            group["eps"],
            group["momentum"],
        )

        def block(param, grad, other, work, square, *more):
            grad = toward(param, grad, other)
            running(square, np.multiply(grad, grad, work), alpha, new, work)
            if centered:
                mean = more[-1]
                running(mean, grad, alpha, new, work)
                np.multiply(mean, mean, work)
                np.subtract(square, work, work)
                np.sqrt(work, work)
            else:
                np.sqrt(square, work)
            work += eps
            np.divide(grad, work, work)
            if moving:
                buffer = more[0]
                buffer *= momentum
                buffer += work
                np.multiply(buffer, lr, work)
            else:
                work *= lr
            param -= work

        return block
