"""Schedules along a cosine, and cyclic ones, which move momentum opposite to the rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from tinynet.core.trace import repeated
from tinynet.optim.base.groups import Group
from tinynet.optim.lr_scheduler.base import (
    LRScheduler,
    by_group,
    checked,
    per_group,
    put,
    refuse_strategy,
    values_of,
)
from tinynet.optim.optimizer import Optimizer


def _uses_beta1(optimizer: Optimizer) -> bool:
    """Return whether the momentum is the first of ``"betas"``.

    Raises:
        ValueError: the optimizer has no momentum.
    """
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )
    return "betas" in optimizer.defaults


def _set_momentum(group: Group, momentum: Any, beta1: bool) -> None:
    if beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def _start_momentum(optimizer: Optimizer, lows: list[Any], highs: list[Any], beta1: bool) -> None:
    """Set the momentum bounds of all groups, and start at the upper bound."""
    for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
        _set_momentum(group, high, beta1)
        group["max_momentum"] = high
        group["base_momentum"] = low


class CyclicLR(LRScheduler):
    """Moves the learning rate linearly up and down between two bounds; step it once per batch.

    The momentum moves in the opposite direction. Smith (2017), "Cyclical Learning Rates for
    Training Neural Networks".

    Args:
        optimizer: the optimizer.
        base_lr: the lower bound, or one for each group.
        max_lr: the upper bound, or one for each group.
        step_size_up: number of batches in the rising half.
        step_size_down: number of batches in the falling half; ``step_size_up`` by default.
        mode: ``"triangular"``, ``"triangular2"`` (each cycle halves the amplitude), or
            ``"exp_range"`` (``gamma^batches`` scales the amplitude).
        gamma: see ``mode``.
        scale_fn: a function that scales the amplitude, instead of ``mode``.
        scale_mode: whether ``scale_fn`` takes the number of the ``"cycle"`` or of ``"iterations"``.
        cycle_momentum: also change the momentum (or the first of the betas).
        base_momentum: the lower bound of the momentum, or one for each group.
        max_momentum: the upper bound of the momentum and its initial value, or one for each group.
        last_epoch: the last batch; see ``LRScheduler``.

    Raises:
        ValueError: the mode is unknown and there is no ``scale_fn``, the number of bounds differs
            from the number of groups, or the optimizer has no momentum or betas to cycle.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
        >>> schedule = optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=2)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> lrs = []
        >>> for batch in range(5):
        ...     lrs += schedule.get_last_lr()
        ...     schedule.step()
        >>> lrs
        [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    _held = "_scale_fn_custom"

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ):
        base_lrs = per_group("base_lr", checked(optimizer), base_lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        own_mode = "iterations" if mode == "exp_range" else "cycle"
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = own_mode if scale_fn is None else scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            self.base_momentums = per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = per_group("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, base_lrs, strict=True):
                put(group, "lr", lr)
            if cycle_momentum:
                _start_momentum(optimizer, self.base_momentums, self.max_momentums, self.use_beta1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Return the scale of the amplitude in a cycle, or at a batch."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return self._exp_range_scale_fn(self.gamma, x)
        halves = self.mode == "triangular2"
        return self._triangular2_scale_fn(x) if halves else self._triangular_scale_fn(x)

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return float(1 / (2.0 ** (x - 1)))

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return float(gamma**x)

    def get_lr(self) -> list[Any]:
        """Return the learning rates for the batch; also sets the momentum."""
        self._asked()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        up = x <= self.step_ratio
        height = x / self.step_ratio if up else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        rates = by_group(self, "base_lrs", "max_lrs")
        if self.cycle_momentum:
            bounds = by_group(self, "base_momentums", "max_momentums")
            for group, (low, high) in zip(self.optimizer.param_groups, bounds, strict=True):
                _set_momentum(group, high - (high - low) * height * scale, self.use_beta1)
        return [low + (high - low) * height * scale for low, high in rates]


class OneCycleLR(LRScheduler):
    """Raises the learning rate once, then lowers it to almost zero; step it once per batch.

    Goes from ``max_lr / div_factor`` up to ``max_lr`` and down to the initial rate over
    ``final_div_factor``; the momentum moves in the opposite direction. Smith and Topin (2019),
    "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates".

    Args:
        optimizer: the optimizer.
        max_lr: the highest learning rate, or one for each group.
        total_steps: number of batches in the cycle; or give the next two arguments instead.
        epochs: number of epochs.
        steps_per_epoch: number of batches per epoch.
        pct_start: fraction of the batches with rising learning rate, a float.
        anneal_strategy: ``"cos"`` or ``"linear"``.
        cycle_momentum: also change the momentum (or the first of the betas).
        base_momentum: its lower bound, or one for each group.
        max_momentum: its upper bound, where it starts and ends, or one for each group.
        div_factor: ``max_lr`` divided by the initial learning rate.
        final_div_factor: the initial learning rate divided by the last one.
        three_phase: fall to the initial rate as fast as it rose, and only then to the minimum.
        last_epoch: the last batch; see ``LRScheduler``.

    Raises:
        ValueError: the number of steps is missing, or an argument is out of range.

    Example:
        >>> optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
        >>> schedule = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=11)
        >>> optimizer.stepped = True  # in a real loop: optimizer.step()
        >>> lrs = []
        >>> for batch in range(11):
        ...     lrs += schedule.get_last_lr()
        ...     schedule.step()
        >>> [round(lr, 2) for lr in lrs]
        [0.04, 0.42, 0.96, 0.98, 0.88, 0.73, 0.53, 0.33, 0.16, 0.04, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ):
        checked(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        refuse_strategy(anneal_strategy)
        self._schedule_phases = _phases(pct_start, self.total_steps, three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = per_group("max_lr", optimizer, max_lr)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _uses_beta1(optimizer)
            lows = per_group("base_momentum", optimizer, base_momentum)
            highs = per_group("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
            if cycle_momentum:
                _start_momentum(optimizer, lows, highs, self.use_beta1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the learning rates for the batch; also sets the momentum.

        Raises:
            ValueError: the cycle is over.
        """
        self._asked()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            if self.last_epoch <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        share = (self.last_epoch - start) / (phase["end_step"] - start)
        rates = self._between(phase["start_lr"], phase["end_lr"], share)
        if self.cycle_momentum:
            momenta = self._between(phase["start_momentum"], phase["end_momentum"], share)
            for group, momentum in zip(self.optimizer.param_groups, momenta, strict=True):
                _set_momentum(group, momentum, self.use_beta1)
        return rates

    def _between(self, start: str, end: str, share: float) -> list[Any]:
        """Interpolate between two options of each group."""
        ends = zip(*(values_of(self.optimizer, name) for name in (start, end)), strict=True)
        return [self._anneal_func(a, b, share) for a, b in ends]

    def _anneal_func(self, start: Any, end: Any, pct: float) -> Any:
        linear = self._anneal_func_type == "linear"
        return (self._annealing_linear if linear else self._annealing_cos)(start, end, pct)

    @staticmethod
    def _annealing_cos(start: Any, end: Any, pct: float) -> Any:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: Any, end: Any, pct: float) -> Any:
        return (end - start) * pct + start


def _total(total: int | None, epochs: int | None, per_epoch: int | None) -> int:
    """Return the number of steps of a cycle."""
    if total is not None:
        if total <= 0 or not isinstance(total, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total}")
        return total
    if epochs is None or per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * per_epoch


def _phases(share: float, total: int, three: bool) -> list[dict[str, Any]]:
    """Return the phases of a cycle: their last steps, and their start and end values."""
    if share < 0 or share > 1 or not isinstance(share, float):
        raise ValueError(f"Expected float between 0 and 1 pct_start, but got {share}")
    up = (share * total - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    down = (2 * share * total - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
    out = (total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")
    rest = (total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    rows = [up, down, out] if three else [up, rest]
    return [dict(zip(names, row, strict=True)) for row in rows]


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
