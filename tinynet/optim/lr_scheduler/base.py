"""The base class of all schedulers."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from tinynet.core.callsite import warn
from tinynet.core.explanations.arguments import ChecksArguments
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import repeated
from tinynet.optim.base.groups import Group
from tinynet.optim.optimizer import Optimizer

_SEE = " See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite "
    "order: `optimizer.step()` before `lr_scheduler.step()`. Otherwise the first value of the "
    f"learning rate schedule is skipped.{_SEE}"
)
OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
    "initialization. Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`."
    f"{_SEE}"
)
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. If epoch is different from "
    "None, the closed form is used instead of the chainable form, where available."
)


class LRScheduler(ChecksArguments):
    """Base class of all schedulers; a subclass defines ``get_lr``.

    Constructing a scheduler sets the learning rates of epoch 0. To resume a run, construct the
    scheduler first, then load the states of the optimizer and the scheduler.

    Args:
        optimizer: the optimizer; the scheduler sets ``"lr"`` in its groups.
        last_epoch: the last epoch of a resumed run; -1 for a new one.

    Attributes:
        last_epoch: number of ``step()`` calls so far.
        base_lrs: the initial learning rates of the groups.

    Raises:
        KeyError: ``last_epoch`` is given, but a group has no ``"initial_lr"``.

    Example:
        A custom schedule:

        >>> class Halves(optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [lr / (1 + self.last_epoch) for lr in self.base_lrs]
        >>> schedule = Halves(optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0))
        >>> schedule.get_last_lr()
        [1.0]
    """

    _get_lr_called_within_step = False
    _is_initial = False
    _held = ""  # the attribute with schedules or functions, of which only the state is saved

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        self.optimizer = checked(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0.\nThis typically happens when:\n"
                    "1. The optimizer's state is loaded after the scheduler is made, or not at "
                    "all\n2. The run is a new one: leave last_epoch out"
                )
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        optimizer._known_step = vars(optimizer).get("step")
        optimizer._diagnosis.scheduled = True
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the learning rates of epoch 0."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """Return the learning rates for ``last_epoch``, one per group; called by ``step``."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr()")

    @repeated
    def step(self, epoch: int | None = None) -> None:
        """Advance to the next epoch and set its learning rates; call it after ``optimizer.step()``.

        Args:
            epoch: advance to this epoch instead; deprecated.
        """
        if self._step_count == 1:
            replaced = vars(self.optimizer).get("step")
            if replaced is not self.optimizer._known_step:
                warn(OVERRIDDEN)
            elif not self.optimizer.stepped and replaced is None:
                warn(TOO_EARLY)
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Advance to the next or the given epoch and set its learning rates."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        self._set_lr(closed or self.get_lr)

    def _set_lr(self, rates: Callable[[], list[Any]]) -> None:
        """Set the learning rates to those that ``get_lr`` or a closed form returns."""
        self._get_lr_called_within_step = True
        try:
            values = list(rates())
        finally:
            self._get_lr_called_within_step = False
        groups = self.optimizer.param_groups
        if len(values) != len(groups):
            by_group(self, "base_lrs")  # the usual reason
            raise ValueError(
                f"get_lr() of {type(self).__name__} must return one learning rate for each of the "
                f"{len(groups)} param groups. Got {len(values)} instead."
            )
        for group, lr in zip(groups, values, strict=True):
            put(group, "lr", lr)
        self._last_lr = self._current()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(last_epoch={self.last_epoch}, lr={self._last_lr})"

    def get_last_lr(self) -> list[Any]:
        """Return the learning rates set by the last ``step``, one per group."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes except the optimizer.

        Contained schedules and callable objects are saved as their states, functions as None.
        """
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", self._held)}
        return {**state, self._held: _state_of(getattr(self, self._held))} if self._held else state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state returned by ``state_dict``; load the optimizer's state, too.

        Raises:
            IndexError: the state has more schedules or callable objects than this schedule.
        """
        if self._held:
            held, states = getattr(self, self._held), state_dict[self._held]
            if isinstance(held, list):
                _refuse_more(type(self).__name__, self._held, held, states)
            _load_state(held, states)
        self.__dict__.update({k: v for k, v in state_dict.items() if k != self._held})

    def _current(self) -> list[Any]:
        return values_of(self.optimizer, "lr")

    def _asked(self) -> None:
        """Warn a user who calls ``get_lr`` instead of ``get_last_lr``."""
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`."
            )


class _LRScheduler(LRScheduler):
    """The deprecated name of the base class."""


def _state_of(held: Any) -> Any:
    """Return the state of a schedule, or the attributes of a callable object; None for others."""
    if isinstance(held, list):
        return [_state_of(one) for one in held]
    if hasattr(held, "load_state_dict"):
        return held.state_dict()
    return None if held is None or isinstance(held, types.FunctionType) else dict(held.__dict__)


def _load_state(held: Any, state: Any) -> None:
    if isinstance(held, list):
        for one, own_state in zip(held, state, strict=False):  # PyTorch accepts fewer
            _load_state(one, own_state)
    elif hasattr(held, "load_state_dict"):
        held.load_state_dict(state)
    elif held is not None and state is not None:
        held.__dict__.update(state)


def _refuse_more(kind: str, name: str, held: list[Any], states: list[Any]) -> None:
    if any(state is not None for state in states[len(held) :]):
        raise IndexError(
            f"The state has {len(states)} {name.strip('_')}, this {kind} has {len(held)}. "
            f"Construct the {kind} with the arguments of the one that was saved."
        )


# ---- the groups of an optimizer -----------------------------------------------------------------


def checked(optimizer: Any) -> Optimizer:
    """Return an optimizer unchanged; raise TypeError for anything else."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def own(value: Any) -> Any:
    """Return a copy of a tensor, which later writes do not change; other values unchanged."""
    return value.detach().clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, name: str) -> list[Any]:
    """Return the values of an option in all groups.

    Raises:
        KeyError: a group lacks the option.
    """
    groups = optimizer.param_groups
    for i, group in enumerate(groups):
        if name not in group:
            raise KeyError(
                f"param {name!r} is not specified in param_groups[{i}]. Schedules set it when they "
                "are constructed: set it yourself in a group that is added later."
            )
    return [own(group[name]) for group in groups]


def changed_groups(schedule: LRScheduler, name: str) -> str:
    """Return an error message if a list of a schedule lacks one value per group; else nothing."""
    count, known = len(schedule.optimizer.param_groups), len(getattr(schedule, name))
    if count == known:
        return ""
    return (
        f"The number of param groups in the `optimizer` ({count}) differs from when "
        f"`{type(schedule).__name__}` was initialized ({known}), usually due to a new param "
        f"group being added to the optimizer. Please modify the `{name}` field to match the "
        "length of the `optimizer` param groups."
    )


def by_group(schedule: LRScheduler, *names: str) -> list[tuple[Any, ...]]:
    """Return for each group its values in lists of a schedule.

    Raises:
        ValueError: a list does not have one value per group.
    """
    for text in (changed_groups(schedule, name) for name in names):
        if text:
            raise ValueError(text)
    return list(zip(*(getattr(schedule, name) for name in names), strict=True))


def put(group: Group, name: str, value: Any) -> None:
    """Set an option; a tensor is updated in place."""
    if isinstance(group[name], Tensor):
        with no_grad():
            group[name].fill_(value.reshape(()) if isinstance(value, Tensor) else value)
    else:
        group[name] = value


def per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return a list with one value per group, from a single value or a list.

    Raises:
        ValueError: the length of the list differs from the number of groups.
    """
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [own(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return [own(v) for v in value]


def functions_for(
    optimizer: Optimizer, given: Callable[[int], float] | Sequence[Callable[[int], float]]
) -> list[Callable[[int], float]]:
    """Return a list with one function per group, from a single function or a list.

    Raises:
        ValueError: the length of the list differs from the number of groups.
    """
    count = len(optimizer.param_groups)
    if not isinstance(given, (list, tuple)):
        return [given] * count  # type: ignore[list-item]
    if len(given) != count:
        raise ValueError(f"Expected {count} lr_lambdas, but got {len(given)}")
    return list(given)


def refuse_strategy(strategy: str) -> None:
    """Raise ValueError for an unknown way of annealing."""
    if strategy not in ("cos", "linear"):
        raise ValueError(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {strategy}"
        )
