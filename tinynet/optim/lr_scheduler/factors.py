"""Schedules that multiply the learning rate by a factor, given or computed by a function."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tinynet.optim.lr_scheduler.base import LRScheduler, by_group, functions_for
from tinynet.optim.optimizer import Optimizer

__all__ = ["ConstantLR", "ExponentialLR", "LinearLR", "MultiStepLR", "PolynomialLR", "StepLR"]


class Factor(LRScheduler):
    """Base class of schedules that multiply all current learning rates by one factor per epoch.

    Several of them, and manual changes, therefore combine.
    """

    def factor_now(self) -> float:
        """Return the factor for ``last_epoch``."""
        raise NotImplementedError

    def factor_so_far(self) -> float:
        """Return the product of all factors up to ``last_epoch``."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """Return the current learning rates times the factor of the epoch."""
        self._asked()
        factor = self.factor_now()
        return [lr if factor == 1 else lr * factor for lr in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self.factor_so_far()
        return [lr * factor for lr in self.base_lrs]


class StepLR(Factor):
    """Multiplies the learning rate by ``gamma`` every ``step_size`` epochs.

    ``lr = initial_lr * gamma ** (epoch // step_size)``.

    Args:
        optimizer: the optimizer.
        step_size: number of epochs between two changes.
        gamma: the factor.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: ``step_size`` is below 1.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> lrs = []
        >>> for epoch in range(5):
        ...     lrs += schedule.get_last_lr()
        ...     schedule.step()
        >>> lrs
        [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ):
        if not step_size >= 1:
            raise ValueError(
                f"The 'step_size' parameter of StepLR must be >= 1. Got {step_size} instead."
            )
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor_now(self) -> float:
        """Return ``gamma`` at multiples of ``step_size``, else 1."""
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else 1

    def factor_so_far(self) -> float:
        """Return the product of all factors up to ``last_epoch``."""
        return float(self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(Factor):
    """Multiplies the learning rate by ``gamma`` at each of the ``milestones``.

    ``lr = initial_lr * gamma ** n``, with n the number of milestones reached.

    Args:
        optimizer: the optimizer.
        milestones: epochs; repeated ones count repeatedly.
        gamma: the factor.
        last_epoch: see ``LRScheduler``.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2], gamma=0.5)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> schedule.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ):
        self.milestones: Counter[int] = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor_now(self) -> float:
        """Return ``gamma`` at a milestone, else 1."""
        return float(self.gamma ** self.milestones.get(self.last_epoch, 0))

    def factor_so_far(self) -> float:
        """Return the product of all factors up to ``last_epoch``."""
        passed = bisect_right(sorted(Counter(self.milestones).elements()), self.last_epoch)
        return float(self.gamma**passed)


class ConstantLR(Factor):
    """Multiplies the learning rate by ``factor`` for the first ``total_iters`` epochs.

    ``lr = initial_lr * (factor if epoch < total_iters else 1)``.

    Args:
        optimizer: the optimizer.
        factor: the factor, in [0, 1].
        total_iters: the epoch at which the factor ends.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: the factor is not between 0 and 1.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> optim.lr_scheduler.ConstantLR(optimizer, factor=0.5).get_last_lr()
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ):
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def factor_now(self) -> float:
        """Return ``factor`` at the start, its inverse at the end, else 1."""
        if self.last_epoch == 0:
            return self.factor
        return 1 / self.factor if self.last_epoch == self.total_iters else 1

    def factor_so_far(self) -> float:
        """Return the product of all factors up to ``last_epoch``."""
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(Factor):
    """Changes a factor of the learning rate linearly over the first ``total_iters`` epochs.

    ``lr = initial_lr * (start_factor + (end_factor - start_factor) * min(epoch / total_iters,
    1))``.

    Args:
        optimizer: the optimizer.
        start_factor: the factor at the start, in (0, 1].
        end_factor: the factor from ``total_iters`` on, in [0, 1].
        total_iters: number of epochs the change takes.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: a factor is not between 0 and 1, or the first is 0.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ):
        if not 0 < start_factor <= 1:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def factor_now(self) -> float:
        """Return the ratio of this epoch's factor to the previous one."""
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        rise = self.end_factor - self.start_factor
        return 1 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def factor_so_far(self) -> float:
        """Return the product of all factors up to ``last_epoch``."""
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters


class ExponentialLR(Factor):
    """Multiplies the learning rate by ``gamma`` every epoch.

    ``lr = initial_lr * gamma ** epoch``.

    Args:
        optimizer: the optimizer.
        gamma: the factor.
        last_epoch: see ``LRScheduler``.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor_now(self) -> float:
        """Return ``gamma``, or 1 at the start."""
        return 1 if self._is_initial else self.gamma

    def factor_so_far(self) -> float:
        """Return the product of all factors up to ``last_epoch``."""
        return float(self.gamma**self.last_epoch)


class PolynomialLR(Factor):
    """Lowers the learning rate to 0 along a power of the remaining fraction of epochs.

    ``base * (1 - epoch / total_iters)^power``, and 0 from then on.

    Args:
        optimizer: the optimizer.
        total_iters: number of epochs until 0.
        power: the exponent.
        last_epoch: see ``LRScheduler``.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4, power=2.0)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> schedule.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def factor_now(self) -> float:
        """Return the ratio of this epoch's factor to the previous one."""
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        now, before = (
            1 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1)
        )
        return float((now / before) ** self.power)

    def factor_so_far(self) -> float:
        """Return the product of all factors up to ``last_epoch``."""
        left = 1 - min(self.total_iters, self.last_epoch) / self.total_iters
        return float(left**self.power)


class LambdaLR(LRScheduler):
    """Sets the learning rate to the initial one times a function of the epoch.

    ``lr = initial_lr * lr_lambda(epoch)``.

    Args:
        optimizer: the optimizer.
        lr_lambda: the function, or one for each group.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: the number of functions differs from the number of groups.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
        >>> schedule.get_last_lr()
        [1.0]
    """

    _held = "lr_lambdas"

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ):
        self.lr_lambdas = functions_for(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the initial learning rates times the functions' values."""
        self._asked()
        pairs = by_group(self, "base_lrs", "lr_lambdas")
        return [base * function(self.last_epoch) for base, function in pairs]


class MultiplicativeLR(LambdaLR):
    """Multiplies the learning rate by a function of the epoch.

    ``lr = lr * lr_lambda(epoch)``, from epoch 1 on.

    Args:
        optimizer: the optimizer.
        lr_lambda: the function, or one for each group.
        last_epoch: see ``LRScheduler``.

    Raises:
        ValueError: the number of functions differs from the number of groups.
        TypeError: a function is not callable.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ):
        for function in functions_for(optimizer, lr_lambda):
            if not callable(function):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(function).__name__}"
                )
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the current learning rates times the functions' values."""
        self._asked()
        if self._is_initial:
            return self._current()
        functions = [function for (function,) in by_group(self, "lr_lambdas")]
        pairs = zip(self._current(), functions, strict=True)
        return [lr * function(self.last_epoch) for lr, function in pairs]
