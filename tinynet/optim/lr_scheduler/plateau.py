"""Lowering the learning rate when a metric stops improving."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, SupportsFloat

from tinynet.core.callsite import warn
from tinynet.core.trace import repeated
from tinynet.optim.base.groups import number
from tinynet.optim.lr_scheduler.base import (
    EPOCH_DEPRECATION_WARNING,
    LRScheduler,
    changed_groups,
    checked,
    put,
    values_of,
)
from tinynet.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the learning rate by ``factor`` when a metric has stopped improving.

    ``lr = max(lr * factor, min_lr)``. With ``"min"`` and ``"rel"``, an improvement is ``metric <
    best * (1 - threshold)``.

    Args:
        optimizer: the optimizer.
        mode: ``"min"`` if lower metrics are better, ``"max"`` if higher ones are.
        factor: the factor, < 1.
        patience: number of epochs without improvement to tolerate.
        threshold: the smallest change that counts as an improvement.
        threshold_mode: whether ``threshold`` is relative to the best (``"rel"``) or ``"abs"``.
        cooldown: number of epochs to ignore after a reduction.
        min_lr: the lowest learning rate, or one for each group.
        eps: skip reductions smaller than this.

    Attributes:
        best: the best metric so far.
        num_bad_epochs: epochs since the last improvement.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        >>> for loss in (3.0, 2.0, 2.0, 2.0):
        ...     schedule.step(loss)
        >>> schedule.get_last_lr()
        [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self.optimizer = checked(optimizer)
        count = len(optimizer.param_groups)
        self.default_min_lr: float | None
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        else:
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * count  # type: ignore[assignment]
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = values_of(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    # Subclasses written for PyTorch call and replace the methods that begin with an underscore.
    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _reset(self) -> None:
        """Forget the best metric and what was counted."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @repeated
    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Record the metric of an epoch, and lower the learning rates if it stopped improving.

        Args:
            metrics: the metric; a one-element tensor counts as a number.
            epoch: the number of the epoch; deprecated.
        """
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        current = float(metrics)
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = values_of(self.optimizer, "lr")

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs are being ignored after a reduction."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "rel":
            return sign * a < sign * (best * (1 - sign * self.threshold))
        return sign * a < sign * (best - sign * self.threshold)

    def _reduce_lr(self, epoch: int) -> None:
        """Lower the learning rates of all groups."""
        groups = self.optimizer.param_groups
        if text := changed_groups(self, "min_lrs"):
            if self.default_min_lr is None:
                raise RuntimeError(text)
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, low in zip(groups, self.min_lrs, strict=True):
            old = number(group["lr"])
            new = max(old * self.factor, low)
            if old - new > self.eps:
                put(group, "lr", new)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state returned by ``state_dict``; load the optimizer's state, too."""
        super().load_state_dict(state_dict)
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
