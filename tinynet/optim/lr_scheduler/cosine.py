"""Schedules along a cosine."""

from __future__ import annotations

import math
from typing import Any

from tinynet.core.trace import repeated
from tinynet.optim.lr_scheduler.base import LRScheduler, by_group
from tinynet.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """Lowers the learning rate to ``eta_min`` along half a cosine, over ``T_max`` epochs.

    ``eta_min + (base - eta_min) * (1 + cos(pi * epoch / T_max)) / 2``, computed from each epoch to
    the next to preserve other changes of the learning rate; rises again after ``T_max``.
    Loshchilov and Hutter (2017), "SGDR: Stochastic Gradient Descent with Warm Restarts".

    Args:
        optimizer: the optimizer.
        T_max: number of epochs until the minimum.
        eta_min: the minimum.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: ``T_max`` is below 1.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ):
        if not T_max >= 1:
            raise ValueError(
                f"The 'T_max' parameter of CosineAnnealingLR must be >= 1. Got {T_max} instead."
            )
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the learning rates for ``last_epoch``."""
        self._asked()
        if self._is_initial:
            return self._current()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        epoch, low, rates = self.last_epoch, self.eta_min, self._current()
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # up from the minimum
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(rates, by_group(self, "base_lrs"), strict=True)
            return [lr + (base - low) * rise for lr, (base,) in pairs]
        now, before = (1 + math.cos(math.pi * e / self.T_max) for e in (epoch, epoch - 1))
        return [now / before * (lr - low) + low for lr in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        share = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * share / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lowers the learning rate to ``eta_min`` along half a cosine, then restarts, repeatedly.

    ``eta_min + (base - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2``, where T_cur counts the epochs
    since the last restart and T_i is the length of the period. Loshchilov and Hutter (2017),
    "SGDR: Stochastic Gradient Descent with Warm Restarts".

    Args:
        optimizer: the optimizer.
        T_0: number of epochs in the first period.
        T_mult: factor by which each period is longer than the previous one.
        eta_min: the minimum.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: ``T_0`` or ``T_mult`` is not a positive integer, or ``eta_min`` not a number.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> lrs = []
        >>> for epoch in range(4):
        ...     lrs += schedule.get_last_lr()
        ...     schedule.step()
        >>> lrs
        [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the learning rates for the current position in the period."""
        self._asked()
        share = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * share / 2 for base in self.base_lrs]

    @repeated
    def step(self, epoch: float | None = None) -> None:
        """Advance to the next epoch and set its learning rates.

        Args:
            epoch: advance to this epoch instead; may be a fraction: ``epoch + batch / batches``.
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set_lr(self.get_lr)

    def _go_to(self, epoch: float) -> None:
        """Set the period of an epoch, and the position in that period."""
        first, times = self.T_0, self.T_mult
        if epoch < first:
            self.T_i, self.T_cur = first, epoch
        elif times == 1:
            self.T_cur = epoch % first
        else:
            periods = int(math.log(epoch / first * (times - 1) + 1, times))
            self.T_cur = epoch - first * (times**periods - 1) / (times - 1)
            self.T_i = first * times**periods
