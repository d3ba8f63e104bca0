"""RMSprop."""

from __future__ import annotations

from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.formula import sqrt
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


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

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        given |= {"alpha": group["alpha"], "new": 1 - group["alpha"], "eps": group["eps"]}
        given |= {"momentum": group["momentum"] if group["momentum"] > 0 else None}
        return after, given | {"lr": number(group["lr"]), "centered": bool(group["centered"])}

    @staticmethod
    def formula(c, param, grad, square, *more):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        square = square * c.alpha + (grad * grad) * c.new
        spread, means = square, []
        if c.centered:
            means = [more[-1] * c.alpha + grad * c.new]
            spread = square - means[0] * means[0]
        step = grad / (sqrt(spread) + c.eps)
        if c.momentum is None:
            return param - step * c.lr, square, *means
        buffer = more[0] * c.momentum + step
        return param - buffer * c.lr, square, buffer, *means


def rmsprop(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    grad_avgs: Tensors,
    momentum_buffer_list: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """Update parameters and their state in place by a step of ``RMSprop``.

    It has the options of ``RMSprop``.

    Args:
        params, grads: the parameters and their gradients.
        square_avgs, grad_avgs, momentum_buffer_list: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        foreach, capturable, has_complex: accepted; they change nothing.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.rmsprop import rmsprop
        >>> p = tn.ones(1)
        >>> options = dict(lr=0.5, alpha=0.9, eps=1e-8, weight_decay=0.0, momentum=0.0,
        ...     centered=False)
        >>> rmsprop([p], [tn.ones(1)], [tn.zeros(1)], [], [], [tn.tensor(0.0)], **options)
        >>> p
        tensor([-0.5811])
    """
    state = {
        "square_avg": square_avgs,
        "grad_avg": grad_avgs,
        "momentum_buffer": momentum_buffer_list,
        "step": state_steps,
    }
    take_step(RMSprop, params, grads, state, locals())
