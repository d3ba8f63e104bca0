"""Learning rates that change with the steps of a schedule.

Schedulers are chainable: each multiplies or moves the group's current learning rate, so several of
them, and changes by hand, add up.
"""

from __future__ import annotations

import math
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tinynet.core.tensor import Tensor
from tinynet.optim.optimizer import Optimizer
from tinynet.optim.options import number

_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite "
    "order: `optimizer.step()` before `lr_scheduler.step()`. Otherwise the first value of the "
    "learning rate schedule is skipped."
)


class LRScheduler:
    """Base of all schedulers; a schedule defines ``get_lr``.

    Making a scheduler sets the learning rates of its epoch 0. To resume a run, make it first and
    load the states of optimizer and scheduler afterwards.

    Args:
        optimizer: the optimizer whose groups' ``"lr"`` is set.
        last_epoch: the last epoch of a run that is resumed; -1 for a new one.

    Attributes:
        last_epoch: number of ``step()`` calls so far.
        base_lrs: the learning rates that the groups started with.

    Raises:
        KeyError: ``last_epoch`` is given, but a group has no ``"initial_lr"``.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0. Load the optimizer's state first, or leave "
                    "last_epoch out for a new run"
                )
        self.base_lrs = [number(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """Return the learning rates for ``last_epoch``, one per group; called by ``step``."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr()")

    def step(self) -> None:
        """Go to the next epoch and set its learning rates; call it after ``optimizer.step()``."""
        own = type(self.optimizer).step is not Optimizer.step  # then nobody keeps count
        if self._step_count == 1 and not self.optimizer.stepped and not own:
            warnings.warn(_TOO_EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        self.last_epoch += 1
        self._get_lr_called_within_step = True
        try:
            values = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(lr)
            else:
                group["lr"] = lr
        self._last_lr = self._current()

    def get_last_lr(self) -> list[float]:
        """Return the learning rates that the last ``step`` set, one per group."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned; load the optimizer's state, too."""
        self.__dict__.update(state_dict)

    def _current(self) -> list[float]:
        return [number(group["lr"]) for group in self.optimizer.param_groups]

    def _asked(self) -> None:
        """Warn a user who asks for the next learning rates in place of the last ones."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


class _Factor(LRScheduler):
    """A schedule that multiplies all current learning rates by one factor per epoch."""

    def factor_now(self) -> float:
        """Return the factor for ``last_epoch``."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """Return the current learning rates times the factor of the epoch."""
        self._asked()
        factor = self.factor_now()
        return [lr if factor == 1 else lr * factor for lr in self._current()]


class StepLR(_Factor):
    """Multiplies the learning rate by ``gamma`` every ``step_size`` epochs.

    Args:
        optimizer: the optimizer.
        step_size: number of epochs between two changes.
        gamma: the factor.
        last_epoch: see ``LRScheduler``.

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
        due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else 1


class MultiStepLR(_Factor):
    """Multiplies the learning rate by ``gamma`` at each of the ``milestones``.

    Args:
        optimizer: the optimizer.
        milestones: epochs; one that is given twice counts twice.
        gamma: the factor.
        last_epoch: see ``LRScheduler``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ):
        self.milestones: dict[int, int] = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor_now(self) -> float:
        """Return ``gamma`` at a milestone, else 1."""
        return float(self.gamma ** self.milestones.get(self.last_epoch, 0))


class ConstantLR(_Factor):
    """Multiplies the learning rate by ``factor`` for the first ``total_iters`` epochs.

    Args:
        optimizer: the optimizer.
        factor: the factor, in [0, 1].
        total_iters: the epoch at which it is taken back.
        last_epoch: see ``LRScheduler``.
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


class LinearLR(_Factor):
    """Moves a factor of the learning rate in a line, over the first ``total_iters`` epochs.

    Args:
        optimizer: the optimizer.
        start_factor: the factor at the start, in (0, 1].
        end_factor: the factor from ``total_iters`` on, in [0, 1].
        total_iters: number of epochs of the change.
        last_epoch: see ``LRScheduler``.
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
        """Return the factor of this epoch over that of the last one."""
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        rise = self.end_factor - self.start_factor
        return 1 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)


class ExponentialLR(_Factor):
    """Multiplies the learning rate by ``gamma`` every epoch.

    Args:
        optimizer: the optimizer.
        gamma: the factor.
        last_epoch: see ``LRScheduler``.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor_now(self) -> float:
        """Return ``gamma``, at the start 1."""
        return 1 if self._is_initial else self.gamma


class LambdaLR(LRScheduler):
    """Sets the learning rate to the initial one times a function of the epoch.

    Args:
        optimizer: the optimizer.
        lr_lambda: the function, or one for each group.
        last_epoch: see ``LRScheduler``.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
        >>> schedule.get_last_lr()
        [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ):
        count = len(optimizer.param_groups)
        functions = [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        if len(functions) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(functions)}")
        self.lr_lambdas = functions
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the initial learning rates times the functions' values."""
        self._asked()
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer; of the functions, only what objects hold."""
        state = super().state_dict()
        state["lr_lambdas"] = [
            None if isinstance(f, types.FunctionType) else dict(f.__dict__) for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned; functions stay as they are."""
        rest = {k: v for k, v in state_dict.items() if k != "lr_lambdas"}
        super().load_state_dict(rest)
        for function, held in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if held is not None:
                function.__dict__.update(held)


class CosineAnnealingLR(LRScheduler):
    """Lowers the learning rate to ``eta_min`` along half a cosine, over ``T_max`` epochs.

    ``eta_min + (base - eta_min) * (1 + cos(pi * epoch / T_max)) / 2``, computed from one epoch to
    the next so that other changes of the learning rate last; goes up again after ``T_max``.
    Loshchilov and Hutter (2017), "SGDR: Stochastic Gradient Descent with Warm Restarts".

    Args:
        optimizer: the optimizer.
        T_max: epochs until the minimum.
        eta_min: the minimum.
        last_epoch: see ``LRScheduler``.
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

    def get_lr(self) -> list[float]:
        """Return the learning rates for ``last_epoch``."""
        self._asked()
        if self._is_initial:
            return self._current()
        pairs = zip(self.base_lrs, self._current(), strict=True)
        return [self._next(base, lr) for base, lr in pairs]

    def _next(self, base: float, lr: float) -> float:
        epoch, low = self.last_epoch, self.eta_min
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # up from the minimum
            return lr + (base - low) * (1 - math.cos(math.pi / self.T_max)) / 2
        now, before = (1 + math.cos(math.pi * e / self.T_max) for e in (epoch, epoch - 1))
        return now / before * (lr - low) + low
