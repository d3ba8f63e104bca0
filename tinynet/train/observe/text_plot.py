"""A curve as text, for terminals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_WIDEST, _NARROWEST, _HEIGHT = 64, 16, 12
_LABEL = 8
_FRAME = _LABEL + len(" ||")


def text_plot(
    x: Sequence[float],
    y: Sequence[float],
    top: float,
    marks: Mapping[str, float],
    columns: int | None = None,
) -> list[str]:
    """Draw a curve over a logarithmic axis as lines of text.

    Args:
        x: positive numbers, each the same multiple of the one before.
        y: the values, finite.
        top: the largest value to show; larger ones are drawn as ``^`` at the upper edge.
        marks: characters for places on the axis: ``{"S": 0.01}``.
        columns: those of a line, if there are few.

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
    width = min(_WIDEST, max(_NARROWEST, (columns or _WIDEST + _FRAME) - _FRAME))
    low = min(y)
    high = max(min(top, max(y)), low)
    rows = [[" "] * width for _ in range(_HEIGHT)]
    for column in range(width):
        place = column / (width - 1) * (len(y) - 1)
        value = _between(y, place)
        height = (high - min(value, high)) / (high - low or 1.0)
        rows[round(height * (_HEIGHT - 1))][column] = "^" if value > high else "*"
    axis = ["-"] * width
    for character, where in marks.items():
        axis[_column(x, where, width)] = character
    labels = {0: f"{high:.3g}", _HEIGHT - 1: f"{low:.3g}"}
    lines = [
        f"{labels.get(number, ''):>{_LABEL}} |{''.join(row)}|" for number, row in enumerate(rows)
    ]
    return [
        *lines,
        f"{'':{_LABEL}} +{''.join(axis)}+",
        f"{'':{_LABEL}}  {_ticks(x, width)}".rstrip(),
    ]


def _between(y: Sequence[float], place: float) -> float:
    """Return the value at a place between two indices."""
    index = min(int(place), len(y) - 2) if len(y) > 1 else 0
    if len(y) == 1:
        return y[0]
    share = place - index
    return (1 - share) * y[index] + share * y[index + 1]


def _column(x: Sequence[float], where: float, width: int) -> int:
    """Return the column of a number."""
    if x[-1] == x[0]:
        return 0
    share = math.log(where / x[0]) / math.log(x[-1] / x[0])
    return round(min(max(share, 0.0), 1.0) * (width - 1))


def _ticks(x: Sequence[float], width: int) -> str:
    """Return the line with the ends of the axis, and with the powers of ten that fit."""
    first, last = (f"{float(f'{end:.2g}'):g}" for end in (x[0], x[-1]))
    line = [*first.ljust(width - len(last)), *last] if len(x) > 1 else [*first.ljust(width)]
    for power in range(math.ceil(math.log10(x[0])), math.floor(math.log10(x[-1])) + 1):
        text = f"{10.0**power:g}"
        start = _column(x, 10.0**power, width)
        around = line[max(start - 1, 0) : start + len(text) + 1]
        if start + len(text) < width and not "".join(around).strip():
            line[start : start + len(text)] = text
    return "".join(line)
