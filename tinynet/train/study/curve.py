"""The curve of a range test: its smoothing, its end, what it suggests, and its plot as text."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_DECAY = 0.8  # of the moving average that detects divergence
_FACTOR = 3.0
_CLEAR = 4.0  # a fall by this many times the noise is one that no range without learning shows
_ENOUGH = 0.67  # the weight of five losses: the average of fewer is mostly noise


class Divergence:
    """Detects when a loss has left its minimum for good.

    That is when its moving average lies above the lowest one by three times the lowest's size, or
    by three times what it had fallen by, whichever is more. For a positive loss, the former is four
    times the lowest. The latter also makes sense of losses that are negative or near 0.
    """

    def __init__(self) -> None:
        self._sum = self._weight = 0.0
        self._first = self._lowest = math.nan

    def see(self, loss: float) -> bool:
        """Add a loss, and return whether it has diverged."""
        self._sum = _DECAY * self._sum + (1 - _DECAY) * loss
        self._weight = _DECAY * self._weight + 1 - _DECAY
        if self._weight < _ENOUGH:
            return False
        average = self._sum / self._weight
        if math.isnan(self._first):
            self._first = self._lowest = average
        self._lowest = min(self._lowest, average)
        size = max(abs(self._lowest), self._first - self._lowest)
        return average > self._lowest + _FACTOR * size


def smoothed(losses: Sequence[float], reach: int) -> list[float]:
    """Return the mean of each loss and its neighbours.

    The window is centred, so that it does not shift the curve towards larger rates, as a moving
    average of past losses does. It shrinks at both ends.

    Args:
        losses: the losses.
        reach: the number of neighbours on each side.

    Example:
        >>> smoothed([4.0, 3.0, 2.0, 1.0, 6.0], 1)
        [4.0, 3.0, 2.0, 3.0, 6.0]
    """
    count = len(losses)
    means = []
    for place in range(count):
        near = min(reach, place, count - 1 - place)
        means.append(statistics.fmean(losses[place - near : place + near + 1]))
    return means


@dataclass(frozen=True)
class Suggestions:
    """The rates that the two usual rules find in a curve."""

    steepest: float
    """The rate at which the smoothed loss falls fastest over the logarithm of the rate."""

    tenth_of_minimum: float
    """A tenth of the rate with the lowest smoothed loss."""

    minimum: float
    """The rate with the lowest smoothed loss."""

    still_falls: bool
    """Whether the loss still falls at the largest rate."""


def suggestions(
    rates: Sequence[float], losses: Sequence[float], means: Sequence[float], reach: int
) -> Suggestions | None:
    """Return what the rules suggest; None if the loss does not fall by more than its noise.

    Args:
        rates: the learning rates, each the same multiple of the one before.
        losses: the loss of each.
        means: the smoothed losses.
        reach: the number of neighbours on each side in the smoothing.
    """
    whole = range(reach, len(means) - reach)  # where the window does not shrink
    lowest = min(whole, key=means.__getitem__, default=0)
    before = range(reach, lowest - reach + 1)
    if not before:
        return None
    start = min(losses[0], statistics.fmean(losses[:reach]))  # the first rate may be too large
    noise = statistics.fmean(abs(losses[k] - means[k]) for k in range(reach, lowest + 1))
    if not start - means[lowest] > _CLEAR * noise:
        return None
    steepest = min(before, key=lambda place: means[place + reach] - means[place - reach])
    falls = lowest == whole[-1] and means[-1] < means[lowest]
    return Suggestions(rates[steepest], rates[lowest] / 10, rates[lowest], falls)


def grid(lowest: float, highest: float, steps: int) -> list[float]:
    """Return rates from the lowest to the highest, each the same multiple of the one before.

    Example:
        >>> [f"{rate:.2f}" for rate in grid(0.25, 4.0, 5)]
        ['0.25', '0.50', '1.00', '2.00', '4.00']
    """
    ratio = math.log(highest / lowest) / (steps - 1)
    inner = (lowest * math.exp(ratio * step) for step in range(1, steps - 1))
    return [*itertools.chain([lowest], inner, [highest])]


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
        columns: the columns of a line, if there are few.

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
