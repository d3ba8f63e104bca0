"""Amounts in configs: shares of a total, and durations."""

from __future__ import annotations

import functools
import operator
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from tinynet.train.config.constraints import must

_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0, "": 1.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*")


def share_of(amount: Any) -> float | None:
    """Return a share from 0 to 1: a float, or a percentage in a string; None for anything else.

    Example:
        >>> share_of("5%"), share_of(0.25), share_of(3), share_of("120%")
        (0.05, 0.25, None, None)
    """
    found = _PERCENT.fullmatch(amount) if isinstance(amount, str) else None
    share = float(found[1]) / 100 if found else amount
    return share if isinstance(share, float) and 0 <= share <= 1 else None


def count_of(amount: Any, total: int) -> int:
    """Return an amount of a total: a count as it is, a share rounded, and at least 1.

    Example:
        >>> count_of("5%", 1750), count_of(3, 1750), count_of(0.001, 10)
        (88, 3, 1)
    """
    share = share_of(amount)
    return int(amount) if share is None else max(round(share * total), 1)


def seconds_of(duration: Any) -> float | None:
    """Return a duration in seconds; None for anything else.

    Args:
        duration: a number of seconds, or a string such as ``"90s"``, ``"2h"`` or ``"1d2h30m"``.

    Example:
        >>> seconds_of("1d2h"), seconds_of("1.5 min"), seconds_of(7), seconds_of("soon")
        (93600.0, 90.0, 7.0, None)
    """
    if not isinstance(duration, str):
        return None if duration is None else float(duration)
    text = duration.lower()
    parts = _DURATION.findall(text)
    is_complete = not _DURATION.sub("", text) and (len(parts) == 1 or all(u for _, u in parts))
    if not parts or not is_complete or any(unit not in _UNITS for _, unit in parts):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _is_amount(value: Any) -> bool:
    return value >= 1 if isinstance(value, int) else bool(share_of(value))


AMOUNT: Mapping[str, Any] = must(
    "be a count of at least 1, or a share such as 0.1 or '10%'", _is_amount
)
DURATION: Mapping[str, Any] = must(
    "be a duration greater than 0, such as '90s', '2h' or '1d2h30m'",
    lambda value: (seconds_of(value) or 0) > 0,
)

LENGTHS = ("T_max", "total_steps", "max_epochs", "total_iters")
"""The arguments of schedules that default to the length of the run."""

_NO_LENGTHS = ("last_epoch", "T_mult", "epochs", "steps_per_epoch")


def follows_run(parameter: Any, name: str) -> bool:
    """Return whether a parameter of a type that is left out is the length of the run.

    Args:
        parameter: a `Parameter`; a default of the user's own class stays.
        name: the name of the type.
    """
    return parameter.name in LENGTHS and (":" not in name or parameter.required)


class Share(str):
    """A share of the length of a run, as the config has it: ``"5%"``."""


def or_share(name: str, declared: Any) -> Any:
    """Return the type of an argument of a schedule: an integer may be a share of the run, too.

    Example:
        >>> or_share("milestones", list[int])
        list[int | tinynet.train.config.amounts.Share]
    """
    if name in _NO_LENGTHS:
        return declared
    if declared is int:
        return int | Share
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if origin is typing.Literal or int not in arguments:
        return declared
    inside = tuple(or_share(name, argument) for argument in arguments)
    if origin in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, inside)
    return origin[inside]
