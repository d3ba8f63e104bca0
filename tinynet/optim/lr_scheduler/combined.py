"""Combinations of several schedules: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from tinynet.core.trace import repeated
from tinynet.optim.lr_scheduler.base import LRScheduler, put, values_of
from tinynet.optim.lr_scheduler.plateau import ReduceLROnPlateau
from tinynet.optim.optimizer import Optimizer


class Combined(LRScheduler):
    """Base class of schedulers that combine several schedules of one optimizer."""

    _held = "_schedulers"
    _schedulers: list[LRScheduler]

    def _refuse_others(self, schedulers: Sequence[Any], optimizer: Optimizer) -> None:
        """Raise for schedulers that cannot be combined."""
        kind = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{kind} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{kind} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at index "
                    f"{i} in the given schedulers sequence."
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{kind} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(scheduler).__name__} at index {i} has "
                    f"{scheduler.optimizer}, which is different from {type(optimizer).__name__}."
                )


class SequentialLR(Combined):
    """Runs schedules one after the other, such as a warm-up followed by a decay.

    In epoch t: ``lr = schedule_i(t - milestones[i - 1])``, with i the number of milestones reached.

    Args:
        optimizer: the optimizer.
        schedulers: the schedules, all for this optimizer.
        milestones: the epochs at which the second, third, ... schedule takes over.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: a schedule belongs to another optimizer, or there are too few milestones.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.SequentialLR(
        ...     optimizer,
        ...     [
        ...         optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2),
        ...         optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5),
        ...     ],
        ...     milestones=[2],
        ... )
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> lrs = []
        >>> for epoch in range(4):
        ...     lrs += schedule.get_last_lr()
        ...     schedule.step()
        >>> lrs
        [0.5, 0.75, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ):
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler, but got no scheduler."
            )
        self._refuse_others(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = list(schedulers)
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        initial = values_of(optimizer, "initial_lr")
        for group, lr in zip(optimizer.param_groups, initial, strict=True):
            put(group, "lr", lr)
        self.recursive_undo()  # undo the first step, which each took when constructed
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Move the schedules, and those they contain, back by one epoch."""
        sched = self if sched is None else sched
        if hasattr(sched, "_schedulers"):
            for inner in sched._schedulers:
                self.recursive_undo(inner)
        elif hasattr(sched, "last_epoch"):
            sched.last_epoch -= 1

    @repeated
    def step(self) -> None:  # type: ignore[override]
        """Advance to the next epoch and set its learning rates."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(Combined):
    """Runs all schedules in each epoch: each changes the result of the previous one.

    ``lr = f2(f1(lr))``, where f1 and f2 are the updates of the schedules for this epoch.

    Args:
        schedulers: the schedules, all for one optimizer.
        optimizer: the optimizer; by default the first schedule's.

    Raises:
        ValueError: a schedule belongs to another optimizer.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.ChainedScheduler(
        ...     [
        ...         optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=3),
        ...         optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5),
        ...     ]
        ... )
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None):
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._refuse_others(schedulers, optimizer)
        self._schedulers = list(schedulers)
        self.optimizer = optimizer
        self._last_lr = values_of(optimizer, "lr")

    @repeated
    def step(self) -> None:  # type: ignore[override]
        """Advance each schedule to its next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")
