"""The length of a run in steps and epochs, and the schedules that follow it."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tinynet import nn
from tinynet.core.tensors.tensor import wrap
from tinynet.optim.lr_scheduler import LinearLR, SequentialLR
from tinynet.train.config.rules import LENGTHS, Share, count_of, share_of
from tinynet.train.config.sections import Config, OptimizerSection, ScheduleSection
from tinynet.train.config.signatures import Component, construct


class UnknownLengthError(ValueError):
    """A schedule follows the length of a run that only ``run.max_time`` ends."""


@dataclass(frozen=True)
class Length:
    """The length of a run.

    Example:
        >>> Length(per_epoch=5, steps=12).epochs
        3
    """

    per_epoch: int
    """The number of steps per epoch."""

    steps: int | None
    """The number of steps; None if only ``run.max_time`` ends the run."""

    @property
    def epochs(self) -> int | None:
        """The number of epochs, the last of which may be incomplete."""
        return None if self.steps is None else -(-self.steps // self.per_epoch)

    def epochs_from(self, first: int) -> Iterable[int]:
        """Return the numbers of the epochs from one on."""
        return itertools.count(first) if self.epochs is None else range(first, self.epochs)

    def of(self, section: ScheduleSection) -> int | None:
        """The length in the unit of a schedule."""
        return self.steps if section.per == "step" else self.epochs


def length_of(config: Config, batches: int) -> Length:
    """Return the length of a run with a number of batches per epoch."""
    per_epoch = max(-(-batches // config.optimizer.accumulate), 1)
    limits = [config.run.epochs * per_epoch, config.run.max_steps]
    return Length(per_epoch, min((limit for limit in limits if limit), default=None))


def component_of(section: OptimizerSection | ScheduleSection) -> Component:
    """Return the component of a section with a single optimizer or schedule."""
    assert section.component is not None  # as in the sections from `each` or `of`
    return section.component


def schedule_of(section: ScheduleSection, length: int | None) -> Component:
    """Return the schedule of a section for a run of a length, after its warm-up if there is one.

    Raises:
        UnknownLengthError: if it needs the length, which is None.
    """
    return with_lengths(with_warmup(section, length), length)


def with_warmup(section: ScheduleSection, length: int | None) -> Component:
    """Return the schedule of a section, after its warm-up if it has one, with shares."""
    component = component_of(section)
    if section.warmup is None:
        return component
    share = share_of(section.warmup)
    end = section.warmup if share is None else Share(f"{100 * share}%")
    count = _resolved("warmup", end, length)
    rise = Component(
        component.path,
        "LinearLR",
        LinearLR,
        {"start_factor": 1 / (count + 1)},
        takes=frozenset({"total_iters"}),
        given="optimizer",
    )
    arguments = {"schedulers": [rise, component], "milestones": [end]}
    return Component(component.path, "SequentialLR", SequentialLR, arguments, given="optimizer")


def _follows_run(component: Component, name: str) -> bool:
    """Return whether an argument of a schedule defaults to the length of the run."""
    is_given = component.written.get(name) is not None or "epochs" in component.arguments
    return name in LENGTHS and name in component.takes and not is_given


def _following(component: Component) -> dict[str, Any]:
    """Return the arguments that follow the length of the run: shares, or None if left out."""
    left_out = {name: None for name in LENGTHS if _follows_run(component, name)}
    given = {k: v for k, v in component.arguments.items() if _is_share(v)}
    return left_out | given


def _is_share(value: Any) -> bool:
    return isinstance(value, Share) or (isinstance(value, list) and any(map(_is_share, value)))


def _resolved(name: str, value: Any, length: int | None) -> Any:
    """Return an argument that follows the run as a number, or as a list of numbers."""
    if isinstance(value, list):
        return [_resolved(name, item, length) if _is_share(item) else item for item in value]
    if length is None and not isinstance(value, int):
        raise UnknownLengthError(
            f"{name} follows the length of the run, which run.max_time leaves open: "
            f"set run.epochs or run.max_steps, or {name} to a number"
        )
    return max(length or 0, 1) if value is None else count_of(value, length or 0)


def with_lengths(component: Component, length: int | None) -> Component:
    """Return a schedule with the arguments that follow the run as numbers, inside it, too."""
    follow = _following(component)
    resolved = {name: _resolved(name, value, length) for name, value in follow.items()}
    arguments = {**component.arguments, **resolved}
    for key, items, lengths in _contained(arguments, length):
        arguments[key] = [
            with_lengths(item, own) if isinstance(item, Component) else item
            for item, own in zip(items, lengths, strict=True)
        ]
    return replace(component, arguments=arguments)


def other_lengths(component: Component, length: int | None) -> Iterator[tuple[str, int, int]]:
    """Yield the arguments that differ from the length of the run.

    Yields:
        The path of each, its value, and the number of steps or epochs of the run.
    """
    if length is None:
        return
    for name in LENGTHS:
        given = component.arguments.get(name)
        is_shorter = name == "total_iters" and given is not None and given < length  # a warm-up
        if isinstance(given, int) and given != length and not is_shorter:
            yield f"{component.path}.{name}", given, length
    for _key, items, lengths in _contained(component.arguments, length):
        for item, own in zip(items, lengths, strict=True):
            if isinstance(item, Component):
                yield from other_lengths(item, own)


def _contained(
    arguments: Mapping[str, Any], length: int | None
) -> Iterator[tuple[str, list[Any], Sequence[int | None]]]:
    """Yield the lists of schedules among the arguments of one, with the length of each."""
    for key, items in [*arguments.items()]:
        if isinstance(items, list) and any(isinstance(item, Component) for item in items):
            yield key, items, _lengths_inside(arguments.get("milestones"), len(items), length)


def _lengths_inside(milestones: Any, count: int, length: int | None) -> Sequence[int | None]:
    """Return the length of each schedule inside another one."""
    if not isinstance(milestones, list) or len(milestones) != count - 1 or _is_share(milestones):
        return [length] * count
    spans = [end - begin for begin, end in itertools.pairwise([0, *milestones])]
    begin = milestones[-1] if milestones else 0
    return [*spans, None if length is None else length - begin]


# ---- a resumed run of another length ----

_KEPT_AS = {
    "total_steps": ("total_steps", "_schedule_phases"),
    "step_size_up": ("total_size", "step_ratio"),
    "step_size_down": ("total_size", "step_ratio"),
    "T_0": (),  # a cycle that has begun has its length
}
"""The attributes of schedules that keep an argument under another name."""


def stand_in() -> list[nn.Parameter]:
    """Return the parameters of an optimizer of one number, to try a schedule with."""
    return [nn.Parameter(wrap(np.zeros(1)))]


def lengthen(component: Component, schedule: Any, optimizer: Any, length: int | None) -> None:
    """Give a schedule whose state was loaded the length of the run as it is now.

    Milestones that have been reached stay.

    Args:
        component: the schedule in the config, with shares.
        schedule: the schedule.
        optimizer: another optimizer, to construct the schedule anew.
        length: the length of the run in its unit.
    """
    resolved, follows = with_lengths(component, length), _following(component)
    arguments = dict(resolved.arguments)
    inside = getattr(schedule, "_schedulers", None)
    if inside is None:
        new = construct(resolved, optimizer) if follows else schedule
        for name in follows:
            for key in _KEPT_AS.get(name, (name,)):
                if hasattr(schedule, key):
                    setattr(schedule, key, getattr(new, key))
        return
    if "milestones" in follows:
        old, now = schedule._milestones, schedule.last_epoch
        done = bisect_right(old, now)
        later = [max(milestone, now + 1) for milestone in arguments["milestones"][done:]]
        schedule._milestones = arguments["milestones"] = [*old[:done], *later]
    given = {**component.arguments, "milestones": arguments.get("milestones")}
    for _key, items, lengths in _contained(given, length):
        for item, one, own in zip(items, inside, lengths, strict=True):
            if isinstance(item, Component):
                lengthen(item, one, optimizer, own)
