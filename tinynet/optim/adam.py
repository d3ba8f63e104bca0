"""Adam and AdamW."""

from __future__ import annotations

import math

from tinynet.core.tensors.tensor import Tensor
from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.formula import maximum, sqrt
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


class Adam(Elementwise):
    """Adam: steps scaled by running averages of the gradient and its square.

    ``m = b1 * m + (1 - b1) * g``, ``v = b2 * v + (1 - b2) * g * g``, and at step t
    ``p = p - lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)``. Kingma and Ba (2015),
    "Adam: A Method for Stochastic Optimization".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        betas: decay rates of the two averages, each in [0, 1).
        eps: added to the root for numerical stability, >= 0.
        weight_decay: L2 penalty, >= 0, added to the gradient; AdamW decouples it.
        amsgrad: divide by the largest v so far (Reddi et al., 2018, "On the Convergence of Adam
            and Beyond").
        maximize: maximize the objective instead of minimizing it.
        decoupled_weight_decay: apply weight decay as AdamW does.
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

    nonnegative = ("lr", "eps", "betas", "weight_decay")
    numbers = ("step",)
    shaped = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")

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
        super().__init__(params, options_of(locals()))

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        if isinstance(group["lr"], Tensor) and group["foreach"] and not group["capturable"]:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        super().check(group)
        if not any(all(isinstance(b, kind) for b in group["betas"]) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        if isinstance(group["betas"][0], Tensor) and group["foreach"] and not group["capturable"]:
            raise ValueError(
                "betas[0] as a Tensor is not supported for capturable=False and foreach=True"
            )

    def buffers(self, group: Group) -> tuple[str, ...]:
        """Return the names of the state in use: the largest square only for ``amsgrad``."""
        return self.shaped if group["amsgrad"] else self.shaped[:2]

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        t, lr, (b1, b2) = float(after["step"]), number(group["lr"]), map(number, group["betas"])
        root = math.sqrt(1 - b2**t)  # everything is scaled by it
        given |= {"beta1": b1, "new1": 1 - b1, "beta2": b2, "new2": 1 - b2}
        return after, given | {"eps": group["eps"] * root, "rate": lr * root / (1 - b1**t)}

    @staticmethod
    def formula(c, param, grad, mean, square, largest=None):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        mean = mean * c.beta1 + grad * c.new1
        square = square * c.beta2 + (grad * grad) * c.new2
        if largest is None:
            return param - mean / (sqrt(square) + c.eps) * c.rate, mean, square
        largest = maximum(largest, square)
        return param - mean / (sqrt(largest) + c.eps) * c.rate, mean, square, largest

    def refuse(self, sparse: bool, group: Group) -> None:
        """Raise RuntimeError for sparse gradients."""
        if sparse:
            raise RuntimeError(
                "Adam does not support sparse gradients, please consider SparseAdam instead"
            )


class AdamW(Adam):
    """Adam with decoupled weight decay: ``p = p * (1 - lr * weight_decay)`` before Adam's step.

    Unlike the L2 penalty, the decay is not divided by the root of v. Loshchilov and Hutter (2019),
    "Decoupled Weight Decay Regularization".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        betas: decay rates of the two averages, each in [0, 1).
        eps: added to the root for numerical stability, >= 0.
        weight_decay: factor of the decay, >= 0.
        amsgrad: divide by the largest v so far.
        maximize: maximize the objective instead of minimizing it.
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
        super().__init__(params, **options_of(locals()), decoupled_weight_decay=True)

    def _loaded(self) -> None:
        super()._loaded()
        for group in self.param_groups:  # even if the saved state is Adam's
            group["decoupled_weight_decay"] = True


def adam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Update parameters and their state in place by a step of ``Adam``.

    It has the options of ``Adam``, with ``betas=(beta1, beta2)``.

    Args:
        params, grads: the parameters and their gradients.
        exp_avgs, exp_avg_sqs, max_exp_avg_sqs: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        foreach, capturable, fused, has_complex: accepted; they change nothing.
        grad_scale, found_inf: must be None.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.adam import adam
        >>> p = tn.ones(1)
        >>> options = dict(amsgrad=False, beta1=0.9, beta2=0.999, lr=0.5, weight_decay=0.0,
        ...     eps=1e-8, maximize=False)
        >>> adam([p], [tn.ones(1)], [tn.zeros(1)], [tn.zeros(1)], [], [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.5000])
    """
    state = {
        "exp_avg": exp_avgs,
        "exp_avg_sq": exp_avg_sqs,
        "max_exp_avg_sq": max_exp_avg_sqs,
        "step": state_steps,
    }
    take_step(Adam, params, grads, state, locals(), betas=(beta1, beta2))


def adamw(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    amsgrad: bool,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Update parameters and their state in place by a step of ``AdamW``.

    It has the options of ``AdamW``, with ``betas=(beta1, beta2)``.

    Args:
        params, grads: the parameters and their gradients.
        exp_avgs, exp_avg_sqs, max_exp_avg_sqs: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        foreach, capturable, fused, has_complex: accepted; they change nothing.
        grad_scale, found_inf: must be None.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.adam import adamw
        >>> p = tn.ones(1)
        >>> options = dict(amsgrad=False, beta1=0.9, beta2=0.999, lr=0.5, weight_decay=0.0,
        ...     eps=1e-8, maximize=False)
        >>> adamw([p], [tn.ones(1)], [tn.zeros(1)], [tn.zeros(1)], [], [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.5000])
    """
    state = {
        "exp_avg": exp_avgs,
        "exp_avg_sq": exp_avg_sqs,
        "max_exp_avg_sq": max_exp_avg_sqs,
        "step": state_steps,
    }
    take_step(AdamW, params, grads, state, locals(), betas=(beta1, beta2))
