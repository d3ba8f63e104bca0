"""A curve as text, for terminals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT = 64, 12
_LABEL = 8


def text_plot(
    x: Sequence[float], y: Sequence[float], top: float, marks: Mapping[str, float]
) -> list[str]:
    """Draw a curve over a logarithmic axis as lines of text.

    Args:
        x: positive numbers, each the same multiple of the one before.
        y: the values, finite.
        top: the largest value to show; larger ones are drawn as ``^`` at the upper edge.
        marks: characters for places on the axis: ``{"S": 0.01}``.

    Example:
        >>> x, y = [1.0, 10.0, 100.0, 1000.0], [4.0, 2.0, 1.0, 9.0]
        >>> for line in text_plot(x, y, 5.0, {"M": 100.0})[-5:]:
        ...     print(line)
                 |                       ********             *                   |
                 |                               ********    *                    |
               1 |                                       ****                     |
                 +------------------------------------------M---------------------+
                  1                    10                   100               1000
    """
    low = min(y)
    high = max(min(top, max(y)), low)
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    for column in range(_WIDTH):
        place = column / (_WIDTH - 1) * (len(y) - 1)
        value = _between(y, place)
        height = (high - min(value, high)) / (high - low or 1.0)
        rows[round(height * (_HEIGHT - 1))][column] = "^" if value > high else "*"
    axis = ["-"] * _WIDTH
    for character, where in marks.items():
        axis[_column(x, where)] = character
    labels = {0: f"{high:.3g}", _HEIGHT - 1: f"{low:.3g}"}
    lines = [
        f"{labels.get(number, ''):>{_LABEL}} |{''.join(row)}|" for number, row in enumerate(rows)
    ]
    return [*lines, f"{'':{_LABEL}} +{''.join(axis)}+", f"{'':{_LABEL}}  {_ticks(x)}".rstrip()]


def _between(y: Sequence[float], place: float) -> float:
    """Return the value at a place between two indices."""
    index = min(int(place), len(y) - 2) if len(y) > 1 else 0
    if len(y) == 1:
        return y[0]
    share = place - index
    return (1 - share) * y[index] + share * y[index + 1]


def _column(x: Sequence[float], where: float) -> int:
    """Return the column of a number."""
    if x[-1] == x[0]:
        return 0
    share = math.log(where / x[0]) / math.log(x[-1] / x[0])
    return round(min(max(share, 0.0), 1.0) * (_WIDTH - 1))


def _ticks(x: Sequence[float]) -> str:
    """Return the line with the ends of the axis, and with the powers of ten that fit."""
    first, last = (f"{float(f'{end:.2g}'):g}" for end in (x[0], x[-1]))
    line = [*first.ljust(_WIDTH - len(last)), *last] if len(x) > 1 else [*first.ljust(_WIDTH)]
    for power in range(math.ceil(math.log10(x[0])), math.floor(math.log10(x[-1])) + 1):
        text = f"{10.0**power:g}"
        start = _column(x, 10.0**power)
        around = line[max(start - 1, 0) : start + len(text) + 1]
        if start + len(text) < _WIDTH and not "".join(around).strip():
            line[start : start + len(text)] = text
    return "".join(line)
