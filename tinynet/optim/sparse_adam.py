"""Adam for sparse gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.optim.base.groups import (
    SHOWN,
    Group,
    Params,
    number,
    refuse_long_lr,
    refuse_out_of_range,
)
from tinynet.optim.optimizer import Optimizer, Tensors, take_step


class SparseAdam(Optimizer):
    """Adam that updates only the rows of a sparse gradient, and their averages.

    Rows without a gradient keep their averages, whereas Adam's decay. The results therefore
    differ from Adam's, but a step costs only as much as its rows. See ``Adam`` for the formula.

    Args:
        params: parameters, groups of them, or named ones; see ``Optimizer``. Their gradients must
            be sparse, such as those of ``nn.Embedding(sparse=True)``.
        lr: learning rate, > 0.
        betas: decay rates of the two averages, each in [0, 1).
        eps: added to the root for numerical stability, > 0.
        maximize: maximize the objective instead of minimizing it.

    Raises:
        ValueError: an option is out of range, or a parameter is sparse.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> _ = table.weight.detach().fill_(1.0)
        >>> optimizer = optim.SparseAdam(table.parameters(), lr=0.5)
        >>> table(tn.tensor([2])).sum().backward()
        >>> optimizer.step()
        >>> table.weight.detach()
        tensor([[1.0000],
                [1.0000],
                [0.5000]])
    """

    shaped = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        for kind, refused, rule in (
            ("Sparse", lambda p: p.is_sparse, "requires dense parameter tensors"),
            ("Complex", lambda p: p.is_complex(), "does not support complex parameters"),
        ):
            found = [
                [i, j]
                for i, group in enumerate(self.param_groups)
                for j, p in enumerate(group["params"])
                if refused(p)
            ]
            if found:
                raise ValueError(f"{kind} params at indices {found}: SparseAdam {rule}")

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        refuse_long_lr(group)
        for name in ("lr", "eps"):
            if not group[name] > 0:
                raise ValueError(f"Invalid {SHOWN[name]}: {group[name]}")
        refuse_out_of_range(group, ("betas",))

    def refuse(self, sparse: bool, group: Group) -> None:
        """Raise RuntimeError for dense gradients."""
        if not sparse:
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )

    def update(self, param: Array, grad: Any, state: dict[str, Any], group: Group) -> None:
        """Update the rows of ``param`` that the gradient contains."""
        if "step" not in state:
            state.update(step=0, exp_avg=np.zeros_like(param), exp_avg_sq=np.zeros_like(param))
        state["step"] += 1
        t, (beta1, beta2) = float(state["step"]), group["betas"]
        rows = grad.coalesce()
        index, values = rows.index, -rows.values if group["maximize"] else rows.values
        averages = []
        for name, new, kept in (
            ("exp_avg", values, beta1),
            ("exp_avg_sq", values * values, beta2),
        ):
            average = state[name][index]
            average += (new - average) * (1 - kept)
            state[name][index] = average
            averages.append(average)
        mean, square = averages
        rate = number(group["lr"]) * math.sqrt(1 - beta2**t) / (1 - beta1**t)
        param[index] -= rate * (mean / (np.sqrt(square) + group["eps"]))


def sparse_adam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    state_steps: list[int],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    maximize: bool,
) -> None:
    """Update parameters and their averages in place by a step of ``SparseAdam``.

    It has the options of ``SparseAdam``, with ``betas`` as ``beta1`` and ``beta2``.

    Args:
        params, grads: the parameters and their sparse gradients.
        exp_avgs, exp_avg_sqs: the averages of each parameter.
        state_steps: the number of this step, from 1, for each parameter.

    Example:
        >>> from tinynet.optim.sparse_adam import sparse_adam
        >>> p, grad = tn.ones(2), tn.sparse_coo_tensor([[1]], [1.0], (2,))
        >>> options = dict(eps=1e-8, beta1=0.9, beta2=0.999, lr=0.5, maximize=False)
        >>> sparse_adam([p], [grad], [tn.zeros(2)], [tn.zeros(2)], [1], **options)
        >>> p
        tensor([1.0000, 0.5000])
    """
    state: dict[str, list[Any]] = {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs}
    state["step"] = [step - 1 for step in state_steps]  # the class counts the step itself
    take_step(SparseAdam, params, grads, state, locals(), betas=(beta1, beta2))
