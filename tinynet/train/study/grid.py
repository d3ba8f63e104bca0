"""The points of a sweep: ``optimizer.lr=1e-3,1e-2 run.seed=0..4`` are ten configs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinynet.train.base.table import brief

MOST = 10_000

_RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})")
_OPENING, _CLOSING = "[{(", "]})"


@dataclass(frozen=True)
class Axis:
    """A key and the texts of its values, as after ``--set``."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Point:
    """One config of a sweep."""

    number: int
    values: Mapping[str, str]
    """The values of the axes, by key."""

    varying: tuple[str, ...]
    """The keys that have several values; if none has, all."""

    @property
    def name(self) -> str:
        """The name of its folder: ``003_lr=0.01,seed=2``."""
        parts = [f"{key.rpartition('.')[2]}={brief(self.values[key])}" for key in self.varying]
        return re.sub(r"[^\w.,=+-]", "_", f"{self.number:03}_{','.join(parts)}")[:100]

    @property
    def assignments(self) -> list[str]:
        """Its values as assignments for ``--set``."""
        return [f"{key}={value}" for key, value in self.values.items()]


def short_keys(keys: Sequence[str]) -> list[str]:
    """Return the last parts of keys, or the whole keys where these are ambiguous.

    Example:
        >>> short_keys(["optimizer.lr", "run.seed", "data.seed"])
        ['lr', 'run.seed', 'data.seed']
    """
    last = [key.rpartition(".")[2] for key in keys]
    return [s if last.count(s) == 1 else k for s, k in zip(last, keys, strict=True)]


def axis(assignment: str, option: str = "--set") -> Axis:
    """Parse an assignment with values separated by commas; ``0..4`` means 0, 1, 2, 3, 4.

    Commas inside brackets or quotes do not separate values.

    Args:
        assignment: the assignment.
        option: the option that it was given with, for messages.

    Raises:
        ValueError: if it is no assignment, or a range is empty or too long.

    Example:
        >>> axis("run.seed=0..2,7").values
        ('0', '1', '2', '7')
        >>> axis("model.sizes=[64, 10],[64, 32, 10]").values
        ('[64, 10]', '[64, 32, 10]')
    """
    key, equals, text = assignment.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"{option} needs KEY=VALUE, got {assignment!r}")
    values = [value for part in _split(text) for value in _expanded(part.strip(), assignment)]
    return Axis(key.strip(), tuple(dict.fromkeys(values)))


def points(axes: Sequence[Axis]) -> list[Point]:
    """Return all combinations of the values; the last axis changes fastest.

    Raises:
        ValueError: if there are too many, or a key has two axes.

    Example:
        >>> [point.name for point in points([axis("optimizer.lr=1,2"), axis("run.seed=0..1")])]
        ['000_lr=1,seed=0', '001_lr=1,seed=1', '002_lr=2,seed=0', '003_lr=2,seed=1']
        >>> [point.name for point in points([axis("optimizer.lr=0.1")])]
        ['000_lr=0.1']
    """
    keys = [one.key for one in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"{key} is given twice")
    count = 1
    for one in axes:
        count *= len(one.values)
    if count > MOST:
        raise ValueError(f"these are {count:,} runs, and at most {MOST:,} are possible")
    varying = tuple(one.key for one in axes if len(one.values) > 1) or tuple(keys)
    combinations = itertools.product(*(one.values for one in axes))
    return [
        Point(number, dict(zip(keys, values, strict=True)), varying)
        for number, values in enumerate(combinations)
    ]


def _split(text: str) -> Iterator[str]:
    depth, quote, start = 0, "", 0
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _expanded(value: str, assignment: str) -> Iterable[str]:
    found = _RANGE.fullmatch(value)
    if found is None:
        return [value]
    first, last = int(found[1]), int(found[2])
    if not 0 <= last - first < MOST:
        raise ValueError(f"the range {value} in {assignment!r} is empty, or too long")
    return map(str, range(first, last + 1))
