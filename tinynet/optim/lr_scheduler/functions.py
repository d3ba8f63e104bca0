"""Schedules defined by a user's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet.optim.lr_scheduler.base import LRScheduler, by_group, functions_for
from tinynet.optim.optimizer import Optimizer


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
