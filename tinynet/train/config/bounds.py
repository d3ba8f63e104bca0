"""The valid numbers of a config: finite, mostly not negative, and of a usable size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

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
        default: that of the parameter.

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
