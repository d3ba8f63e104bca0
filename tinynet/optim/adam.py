"""Adam and AdamW."""

from __future__ import annotations

import math

import numpy as np

from tinynet import dtypes
from tinynet.optim.optimizer import (
    Array,
    Group,
    Optimizer,
    Params,
    number,
    refuse_differentiable,
    refuse_negative,
)


class Adam(Optimizer):
    """Adam: steps scaled by running averages of the gradient and of its square.

    ``m = b1 * m + (1 - b1) * g``, ``v = b2 * v + (1 - b2) * g * g``, and at step t
    ``p = p - lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)``. Kingma and Ba (2015),
    "Adam: A Method for Stochastic Optimization".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        betas: how much of the two averages is kept, each in [0, 1).
        eps: added to the root, >= 0.
        weight_decay: L2 penalty, >= 0: it enters the gradient; see AdamW for the other way.
        amsgrad: divide by the largest v so far (Reddi et al., 2018, "On the Convergence of Adam
            and Beyond").
        maximize: go up instead of down.
        decoupled_weight_decay: decay as AdamW does.
        foreach, fused, capturable: accepted for compatibility; they change nothing.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.Adam([x], lr=0.5)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([3.5000], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        refuse_negative(group, lr="learning rate", eps="epsilon value")
        for index, beta in enumerate(group["betas"]):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        refuse_negative(group, weight_decay="weight_decay value")
        refuse_differentiable(group)

    def update(self, param: Array, grad: Array, state: dict[str, Array], group: Group) -> None:
        """Change ``param`` in place."""
        if "step" not in state:
            kind = np.float64 if dtypes.default_float() == np.float64 else np.float32
            state["step"] = np.zeros((), kind)
            state["exp_avg"] = np.zeros_like(param)
            state["exp_avg_sq"] = np.zeros_like(param)
        if group["amsgrad"] and "max_exp_avg_sq" not in state:
            state["max_exp_avg_sq"] = np.zeros_like(param)
        lr, decay = number(group["lr"]), group["weight_decay"]
        beta1, beta2 = group["betas"]
        mean, square, step = state["exp_avg"], state["exp_avg_sq"], state["step"]
        step += 1
        t = float(step)
        if group["maximize"]:
            grad = -grad
        if decay and group["decoupled_weight_decay"]:
            param *= 1 - lr * decay
        elif decay:
            grad = grad + decay * param

        work = np.empty_like(param)  # the only temporary of the parameter's size
        np.subtract(grad, mean, out=work)
        work *= 1 - beta1
        mean += work
        np.multiply(grad, grad, out=work)
        work *= 1 - beta2
        square *= beta2
        square += work
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            np.maximum(largest, square, out=largest)
            square = largest
        np.sqrt(square, out=work)
        work /= math.sqrt(1 - beta2**t)
        work += group["eps"]
        np.divide(mean, work, out=work)
        work *= lr / (1 - beta1**t)
        param -= work


class AdamW(Adam):
    """Adam with decoupled weight decay: ``p = p * (1 - lr * weight_decay)`` before Adam's step.

    The decay is then not divided by the root of the squares. Loshchilov and Hutter (2019),
    "Decoupled Weight Decay Regularization".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        betas: how much of the two averages is kept, each in [0, 1).
        eps: added to the root, >= 0.
        weight_decay: factor of the decay, >= 0.
        amsgrad: divide by the largest v so far.
        maximize: go up instead of down.
        foreach, fused, capturable: accepted for compatibility; they change nothing.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.AdamW([x], lr=0.5, weight_decay=0.1)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([3.3000], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
