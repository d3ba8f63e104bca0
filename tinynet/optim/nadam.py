"""NAdam."""

from __future__ import annotations

import math

from tinynet.optim.base.elementwise import Elementwise, Given, direction
from tinynet.optim.base.formula import sqrt
from tinynet.optim.base.groups import Group, Numbers, Params, number, options_of
from tinynet.optim.optimizer import Tensors, take_step


class NAdam(Elementwise):
    """NAdam: Adam with Nesterov's momentum.

    With ``mu(t) = b1 * (1 - 0.96^(t * momentum_decay) / 2)``, the product P of mu(1) to mu(t),
    and Adam's averages m and v, at step t ``p = p - lr * ((1 - mu(t)) / (1 - P) * g + mu(t + 1) /
    (1 - P * mu(t + 1)) * m) / (sqrt(v / (1 - b2^t)) + eps)``. Dozat (2016), "Incorporating
    Nesterov Momentum into Adam".

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``.
        lr: learning rate, >= 0.
        betas: decay rates of the two averages, each in [0, 1).
        eps: added to the root for numerical stability, >= 0.
        weight_decay: L2 penalty, >= 0.
        momentum_decay: how fast the momentum grows to its full size, >= 0.
        decoupled_weight_decay: apply weight decay as AdamW does, ``p = p * (1 - lr *
            weight_decay)``.
        foreach, capturable: accepted for compatibility; they change nothing.
        maximize: maximize the objective instead of minimizing it.
        differentiable: not supported.

    Raises:
        ValueError: an option is out of range.

    Example:
        >>> x = tn.tensor([4.0], requires_grad=True)
        >>> optimizer = optim.NAdam([x], lr=0.5)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([3.4718], requires_grad=True)
    """

    nonnegative = ("lr", "eps", "betas", "weight_decay", "momentum_decay")
    numbers = ("step", "mu_product")
    shaped = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, options_of(locals()))

    def start(self, name: str, group: Group) -> float:
        """Return the initial value of a state entry."""
        return 1.0 if name == "mu_product" else 0.0

    def coefficients(self, group: Group, numbers: Numbers, fresh: bool) -> tuple[Numbers, Given]:
        """Return the numbers of a step."""
        after, given = self.counted(group, numbers)
        t, (b1, b2), lr = float(after["step"]), group["betas"], number(group["lr"])
        now, following = (
            b1 * (1 - 0.5 * 0.96 ** (at * group["momentum_decay"])) for at in (t, t + 1)
        )
        after["mu_product"] = numbers["mu_product"] * now
        before = float(after["mu_product"])
        root = math.sqrt(1 - b2**t)  # everything is scaled by it
        given |= {"beta1": b1, "new1": 1 - b1, "beta2": b2, "new2": 1 - b2}
        given |= {
            "eps": group["eps"] * root,
            "of_grad": lr * (1 - now) / (1 - before) * root,
            "of_mean": lr * following / (1 - before * following) * root,
        }
        return after, given

    @staticmethod
    def formula(c, param, grad, mean, square):
        """Return the new values."""
        param, grad = direction(c, param, grad)
        mean = mean * c.beta1 + grad * c.new1
        square = square * c.beta2 + (grad * grad) * c.new2
        move = grad * c.of_grad + mean * c.of_mean
        return param - move / (sqrt(square) + c.eps), mean, square


def nadam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    mu_products: Tensors,
    state_steps: Tensors,
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """Update parameters and their state in place by a step of ``NAdam``.

    It has the options of ``NAdam``, with ``betas=(beta1, beta2)``.

    Args:
        params, grads: the parameters and their gradients.
        exp_avgs, exp_avg_sqs, mu_products: the state of each parameter.
        state_steps: the number of steps so far of each, 0-d tensors.
        foreach, capturable, has_complex: accepted; they change nothing.
        differentiable: not supported.

    Raises:
        RuntimeError: the step counts are no tensors.

    Example:
        >>> from tinynet.optim.nadam import nadam
        >>> p = tn.ones(1)
        >>> options = dict(beta1=0.9, beta2=0.999, lr=0.5, weight_decay=0.0,
        ...     momentum_decay=0.004, eps=1e-8)
        >>> nadam([p], [tn.ones(1)], [tn.zeros(1)], [tn.zeros(1)], [tn.tensor(1.0)],
        ...     [tn.tensor(0.0)], **options)
        >>> p
        tensor([0.4718])
    """
    state = {
        "exp_avg": exp_avgs,
        "exp_avg_sq": exp_avg_sqs,
        "mu_product": mu_products,
        "step": state_steps,
    }
    take_step(NAdam, params, grads, state, locals(), betas=(beta1, beta2))
