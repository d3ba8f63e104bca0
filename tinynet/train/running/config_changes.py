"""What is another in the config of a run that goes on, and what that means for it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tinynet.train.build.build import Parts
from tinynet.train.build.optimizers import LENGTHS, Waiting, component_of, follows_run
from tinynet.train.config.problems import UsageError
from tinynet.train.config.toml_text import dotted

FIXED = {
    "run.seed": "all random numbers follow from it",
    "run.name": "the run stays in its folder",
    "run.out": "the run stays in its folder",
    "run.init_from": "the weights are those of the checkpoint",
    "data": "what is left of an epoch would not be known",
    "model.type": "the weights are those of another model",
    "method.type": "it has a state",
    "optimizer.type": "it has a state",
    "schedule.type": "it has a state",
}
"""What cannot change in a run that goes on, and why; in all that begins with it."""

FREE = ("data.workers",)
"""What may change all the same."""


@dataclass(frozen=True)
class Change:
    """One value that is not what it was."""

    path: tuple[str, ...]
    before: Any
    now: Any
    """None: it is not there."""

    @property
    def key(self) -> str:
        """``"optimizer.lr"``."""
        return dotted(self.path)

    def __str__(self) -> str:
        shown = ["left out" if v is None else repr(v) for v in (self.before, self.now)]
        return f"{self.key}: {shown[0]} -> {shown[1]}"


def changes_of(before: str, now: str) -> list[Change]:
    """What differs between two configs as they are stored.

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


def refuse(changes: list[Change]) -> None:
    """Accept changes, or say which of them cannot be.

    Raises:
        UsageError: with all of them.
    """
    lines = []
    for change in changes:
        ends = (change.path[0], f"{change.path[0]}.{change.path[-1]}", change.key)
        reason = next((FIXED[end] for end in ends if end in FIXED), None)
        if reason is not None and change.key not in FREE:
            lines.append(f"{change} is not possible when going on: {reason}")
    if lines:
        hint = "a new run with run.init_from begins with the weights of this one"
        raise UsageError("\n".join([*lines, f"({hint})"]))


# ---- what checkpoints hold, too ----


class Wanted:
    """Values of the config that a checkpoint would bring back to what they were.

    Optimizers and schedules are built from the config; `note` is called before their states are
    loaded, `apply` after that.

    Raises:
        UsageError: an argument of a schedule that cannot be changed.
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
        if any(change.key == "run.epochs" for change in changes):
            self._schedule += self._lengths()

    def _lengths(self) -> Iterator[tuple[str, str, Any]]:
        """What follows from the length of the run in schedules that leave it open."""
        for name, updater in self.parts.updaters.items():
            section = self.parts.config.schedule and self.parts.config.schedule.of(name)
            if section and any(follows_run(component_of(section), key) for key in LENGTHS):
                schedule = _inner(updater.schedule)
                for key in (*LENGTHS, "_schedule_phases"):  # the latter of OneCycleLR
                    if hasattr(schedule, key):
                        yield name, key, getattr(schedule, key)

    def _of_schedule(self, name: str, change: Change) -> Any:
        schedule = _inner(self.parts.updaters[name].schedule)
        if not hasattr(schedule, change.path[-1]):
            raise UsageError(f"{change} is not possible when going on: {type(schedule).__name__}")
        return getattr(schedule, change.path[-1])

    def apply(self) -> None:
        """Put them in place of those of the checkpoint."""
        for name, key, value in self._optimizer:
            updater = self.parts.updaters[name]
            for group in updater.optimizer.param_groups:
                if key == "lr" and group.get("initial_lr"):  # the schedule's part of it stays
                    value_now = value * group["lr"] / group["initial_lr"]
                    group["initial_lr"], group["lr"] = value, value_now
                else:
                    group[key] = value
            schedule = _inner(updater.schedule)
            if key == "lr" and hasattr(schedule, "base_lrs"):
                schedule.base_lrs = [value for _ in schedule.base_lrs]
        for name, key, value in self._schedule:
            setattr(_inner(self.parts.updaters[name].schedule), key, value)


def _inner(schedule: Any) -> Any:
    return schedule.schedule if isinstance(schedule, Waiting) else schedule
