"""Rules for values: valid numbers, shares, durations, and constraints between keys."""

from __future__ import annotations

import functools
import math
import operator
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tinynet.kernels.native import compiler
from tinynet.train.base.problems import did_you_mean
from tinynet.train.metrics.registry import METRICS, find_metric

# ---- bounds -------------------------------------------------------------------------------------
# The valid numbers of a config: finite, mostly not negative, and of a usable size.


MOST = 2**31 - 1
"""The largest integer that a key of a section may have, unless the key says otherwise."""


def not_usable(value: Any) -> str:
    """Return why a number cannot be the value of a section's own key; "" if it can.

    Example:
        >>> not_usable(float("inf")), not_usable(10**30)
        ('must be a finite number', 'must be at most 2147483647')
        >>> not_usable(3)
        ''
    """
    for number in _numbers(value):
        if isinstance(number, float) and not math.isfinite(number):
            return "must be a finite number"
        if isinstance(number, int) and number > MOST:
            return f"must be at most {MOST}"
    return ""


def not_sensible(value: Any, default: Any = 0) -> str:
    """Return why a number cannot be an argument of an optimizer or a schedule; "" if it can.

    The number must be finite, and may be negative only if the default is.

    Args:
        value: a number, or a nested list of numbers; anything else is accepted.
        default: the parameter's default.

    Example:
        >>> not_sensible([0.9, -0.1]), not_sensible(-1, default=-1)
        ('must not be negative', '')
    """
    may_be_negative = any(number < 0 for number in _numbers(default))
    for number in _numbers(value):
        if isinstance(number, float) and not math.isfinite(number):
            return "must be a finite number"
        if number < 0 and not may_be_negative:
            return "must not be negative"
        if abs(number) >= 2**63 and isinstance(number, int):
            return "must be less than 2**63"
    return ""


def _numbers(value: Any) -> Iterator[int | float]:
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)


# ---- constraints --------------------------------------------------------------------------------
# Constraints on the keys of sections: a rule in words, its test, and names to suggest.


def must(be: str, holds: Callable[[Any], bool], names: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return the metadata of a field: a rule in words, its test, and names to suggest."""
    return {"must": be, "holds": holds, "names": names}


def refusal_of(rule: Mapping[str, Any], value: Any, word: str = "") -> str:
    """Return what is wrong with a value: a suggestion first, and a long list of names last.

    Args:
        rule: the metadata of a field.
        value: its value.
        word: the wrong part of it; by default all of it.
    """
    hint = did_you_mean(word or str(value), rule["names"]) or "."
    if "known" not in rule:
        return f"must {rule['must']}, got {value!r}{hint}"
    return f"must {rule['briefly']}, got {value!r}{hint} There are: {rule['known']}."


POSITIVE = must("be at least 1", lambda value: value >= 1)
FIGURE = {
    **must(
        f"be loss or a metric ({', '.join(METRICS)}, or one of evaluation.metrics)",
        lambda name: (
            name in ("", "loss") or name.startswith("loss_") or find_metric(name) is not None
        ),
        ["loss", *METRICS],
    ),
    "briefly": "be loss or a metric",
    "known": f"{', '.join(METRICS)}, or one of evaluation.metrics",
    "is_figure": True,  # the user's metrics have figures, too
}
NOT_NEGATIVE = must("not be negative", lambda value: value >= 0)
LLVM = must(f"be false: {compiler.missing()}", lambda value: not value or compiler.is_available())
LLVM_OR_BOOL = must(
    f"be true or false: {compiler.missing()}",
    lambda value: isinstance(value, bool) or compiler.is_available(),
)
VALIDATION = {
    **must(
        "be from 0 to less than 1, or a data set (a table with a type)",
        lambda share: not isinstance(share, float) or 0 <= share < 1,
    ),
    "or": "data",  # the family of a table in its place
}
RATES = must(
    "have patterns of parameter names with rates that are not negative",
    lambda rates: all(isinstance(r, int | float) and r >= 0 for r in rates.values()),
)
METRIC_LIST = {
    "must": f"be a list of metrics ({', '.join(METRICS)}; or ./file.py:name)",
    "briefly": "be a list of metrics",
    "known": f"{', '.join(METRICS)}; or ./file.py:name",
    "names": METRICS,
    "own": True,
}
FOLDER_NAME = must(
    "be a name for a folder, without slashes or control characters",
    lambda name: (
        name not in (".", "..")
        and not set(name) & set('/\\:*?"<>|')
        and (name == "" or name.isprintable())
    ),
)


# ---- amounts ------------------------------------------------------------------------------------
# Amounts in configs: shares of a total, and durations.


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
        list[int | tinynet.train.config.rules.Share]
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
