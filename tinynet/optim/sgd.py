"""Stochastic gradient descent."""

from __future__ import annotations

import numpy as np

from tinynet.optim.optimizer import (
    Array,
    Group,
    Optimizer,
    Params,
    number,
    refuse_differentiable,
    refuse_negative,
)


class SGD(Optimizer):
    """Gradient descent, with momentum if asked.

    ``g = grad + weight_decay * p``, then with momentum ``b = momentum * b + (1 - dampening) * g``
    (``b = g`` at the first step) and ``g = b``, or ``g + momentum * b`` for Nesterov's form; then
    ``p = p - lr * g``. As in PyTorch, and unlike in Sutskever et al. (2013, "On the importance of
    initialization and momentum in deep learning"), the learning rate stands outside the momentum.

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        momentum: share of the last update that is kept, >= 0.
        dampening: share of the gradient that does not enter the momentum.
        weight_decay: L2 penalty, >= 0.
        nesterov: use Nesterov's momentum; needs a momentum and no dampening.
        maximize: go up instead of down.
        foreach, fused: accepted for compatibility; they change nothing.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.SGD([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([2.], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        refuse_negative(
            group,
            lr="learning rate",
            momentum="momentum value",
            weight_decay="weight_decay value",
        )
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        refuse_differentiable(group)

    def update(self, param: Array, grad: Array, state: dict[str, Array], group: Group) -> None:
        """Change ``param`` in place."""
        lr, momentum, decay = number(group["lr"]), group["momentum"], group["weight_decay"]
        if group["maximize"]:
            grad = -grad
        if decay:
            grad = grad + decay * param
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = np.array(grad)
            else:
                dampening = group["dampening"]
                buffer *= momentum
                buffer += (1 - dampening) * grad if dampening else grad
            grad = grad + momentum * buffer if group["nesterov"] else buffer
        param -= lr * grad
