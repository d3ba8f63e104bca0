"""Weight averaging, and the learning rates for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from tinynet.nn.weight_averaging import AveragedModel as AveragedModel
from tinynet.nn.weight_averaging import get_ema_avg_fn as get_ema_avg_fn
from tinynet.nn.weight_averaging import get_ema_multi_avg_fn as get_ema_multi_avg_fn
from tinynet.nn.weight_averaging import get_swa_avg_fn as get_swa_avg_fn
from tinynet.nn.weight_averaging import get_swa_multi_avg_fn as get_swa_multi_avg_fn
from tinynet.nn.weight_averaging import update_bn as update_bn
from tinynet.optim.lr_scheduler.base import LRScheduler, per_group, refuse_strategy, values_of
from tinynet.optim.optimizer import Optimizer


class SWALR(LRScheduler):
    """Anneals the learning rate to a constant, for averaging weights afterwards.

    ``lr = swa_lr * a + initial_lr * (1 - a)`` with ``t = min(epoch / anneal_epochs, 1)``, and ``a =
    t`` or ``a = (1 - cos(pi * t)) / 2``.

    Args:
        optimizer: the optimizer.
        swa_lr: the constant learning rate, or one for each group.
        anneal_epochs: number of epochs until the constant is reached.
        anneal_strategy: ``"cos"`` or ``"linear"``.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: an argument is out of range.

    Source: Izmailov et al., "Averaging weights leads to wider optima and better generalization",
    2018, arXiv 1803.05407.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> lrs = []
        >>> for epoch in range(4):
        ...     lrs += schedule.get_last_lr()
        ...     schedule.step()
        >>> lrs
        [1.0, 0.75, 0.5, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ):
        rates = per_group("swa_lr", optimizer, swa_lr)
        refuse_strategy(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the learning rates for the epoch, from the current ones."""
        self._asked()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        values = []
        ends = values_of(self.optimizer, "swa_lr")
        for lr, end in zip(self._current(), ends, strict=True):
            start = end if before == 1 else (lr - before * end) / (1 - before)
            values.append(end * now + start * (1 - now))
        return values

    def _share(self, step: int) -> float:
        """Return the completed fraction of the annealing at a step."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2
