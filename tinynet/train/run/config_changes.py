"""Changes to the config of a resumed run, and how they take effect."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tinynet.train.assemble.build import Parts
from tinynet.train.assemble.lengths import lengthen, with_warmup
from tinynet.train.assemble.optimizers import PlateauSchedule
from tinynet.train.base.problems import UsageError
from tinynet.train.base.toml_text import dotted

FIXED = {
    "run.seed": "all random numbers follow from it",
    "run.name": "the run stays in its folder",
    "run.out": "the run stays in its folder",
    "run.init_from": "the weights are those of the checkpoint",
    "run.init_skip": "the weights are those of the checkpoint",
    "run.limit_batches": "the rest of the epoch would be undefined",
    "run.overfit_batches": "the rest of the epoch would be undefined",
    "evaluation.limit_batches": "the figures would not be comparable",
    "optimizer.layer_lr": "the learning rates are those of the checkpoint",
    "run.callbacks": "their state is that of the checkpoint",
    "data": "the rest of the epoch would be undefined",
    "model.type": "the weights are those of another model",
    "method.type": "its state is that of the checkpoint",
    "optimizer.type": "its state is that of the checkpoint",
    "schedule.type": "its state is that of the checkpoint",
    "schedule.warmup": "its state is that of the checkpoint",
}
"""The keys that cannot change when a run is resumed, with the reasons; each covers its subkeys."""

LENGTH = ("run.epochs", "run.max_steps", "optimizer.accumulate")
"""The keys that change the length of the run."""

FREE = ("data.workers",)
"""Exceptions: keys below these that may change."""


@dataclass(frozen=True)
class Change:
    """A changed value."""

    path: tuple[str, ...]
    before: Any
    now: Any
    """The new value; None if it is left out. The same holds for `before`."""

    @property
    def key(self) -> str:
        """``"optimizer.lr"``."""
        return dotted(self.path)

    def __str__(self) -> str:
        shown = ["left out" if v is None else repr(v) for v in (self.before, self.now)]
        return f"{self.key}: {shown[0]} -> {shown[1]}"


def changes_of(before: str, now: str) -> list[Change]:
    """Return the differences between two stored configs.

    Example:
        >>> [str(c) for c in changes_of("optimizer.lr = 0.1", "optimizer.lr = 0.2\\nrun.seed = 1")]
        ['optimizer.lr: 0.1 -> 0.2', 'run.seed: left out -> 1']
    """
    old, new = (dict(_leaves(tomllib.loads(text))) for text in (before, now))
    paths = [*old, *(path for path in new if path not in old)]
    pairs = [(path, old.get(path), new.get(path)) for path in paths]
    return [Change(*one) for one in pairs if one[1] != one[2] and one[0] != ("run", "path")]


def _leaves(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    for key, value in tree.items():
        inside = path in ((), ("optimizer",), ("schedule",)) and isinstance(value, dict)
        yield from _leaves(value, (*path, key)) if inside else [((*path, key), value)]


def refuse_fixed(changes: list[Change]) -> None:
    """Refuse changes to keys that are fixed.

    Raises:
        UsageError: with all refused changes.
    """
    lines = []
    for change in changes:
        ends = (change.path[0], f"{change.path[0]}.{change.path[-1]}", change.key)
        reason = next((FIXED[end] for end in ends if end in FIXED), None)
        if reason is not None and change.key not in FREE:
            lines.append(f"{change} is not possible when resuming: {reason}")
    if lines:
        hint = "run.init_from starts a new run from the weights of this one"
        raise UsageError("\n".join([*lines, f"({hint})"]))


# ---- values that checkpoints hold, too ----


class ChangedValues:
    """Changed values that loading the checkpoint would overwrite.

    Create it after the optimizers and schedules are built from the config and before their states
    are loaded; call `apply` after that.

    Raises:
        UsageError: if an argument of a schedule cannot be changed.
    """

    def __init__(self, parts: Parts, changes: list[Change]) -> None:
        self.parts = parts
        self._optimizer: list[tuple[str, str, Any]] = []
        self._schedule: list[tuple[str, str, Any]] = []
        for change in changes:
            section, *middle, key = change.path
            if section not in ("optimizer", "schedule"):
                continue
            for name, updater in parts.updaters.items():
                if middle and middle[0] != name:
                    continue
                if section == "optimizer" and key in updater.optimizer.defaults:
                    self._optimizer.append((name, key, updater.optimizer.defaults[key]))
                elif section == "schedule" and key not in ("per", "monitor"):
                    self._schedule.append((name, key, self._of_schedule(name, change)))
        self._has_other_length = any(change.key in LENGTH for change in changes)

    def _of_schedule(self, name: str, change: Change) -> Any:
        schedule = self._schedule_of(name)
        if not hasattr(schedule, change.path[-1]):
            text = f"{type(schedule).__name__} does not keep this value"
            raise UsageError(f"{change} is not possible when resuming: {text}")
        return getattr(schedule, change.path[-1])

    def apply(self) -> None:
        """Replace the values of the checkpoint."""
        for name, key, value in self._optimizer:
            updater = self.parts.updaters[name]
            for group in updater.optimizer.param_groups:
                if key == "lr" and group.get("initial_lr"):  # keep the schedule's factor
                    value_now = value * group["lr"] / group["initial_lr"]
                    group["initial_lr"], group["lr"] = value, value_now
                else:
                    group[key] = value
            for schedule in _each(updater.schedule) if key == "lr" else ():
                schedule.base_lrs = [value for _ in schedule.base_lrs]
        for name, key, value in self._schedule:
            setattr(self._schedule_of(name), key, value)
        for name in self.parts.updaters if self._has_other_length else ():
            self._lengthen(name)

    def _lengthen(self, name: str) -> None:
        """Give a schedule the length of the run as it is now."""
        section = self.parts.config.schedule and self.parts.config.schedule.of(name)
        if section:
            length = self.parts.length.of(section)
            updater = self.parts.updaters[name]
            other = copy.deepcopy(updater.optimizer)
            lengthen(with_warmup(section, length), _inner(updater.schedule), other, length)

    def _schedule_of(self, name: str) -> Any:
        """Return the schedule that the config names, without its warm-up."""
        section = self.parts.config.schedule and self.parts.config.schedule.of(name)
        schedule = _inner(self.parts.updaters[name].schedule)
        return schedule._schedulers[-1] if section and section.warmup is not None else schedule


def _inner(schedule: Any) -> Any:
    return schedule.schedule if isinstance(schedule, PlateauSchedule) else schedule


def _each(schedule: Any) -> Iterator[Any]:
    """Yield a schedule, or those inside it, which have the initial rates."""
    for inner in getattr(schedule, "_schedulers", ()):
        yield from _each(inner)
    if hasattr(_inner(schedule), "base_lrs"):
        yield _inner(schedule)
