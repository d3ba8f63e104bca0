"""The curve of a range test: its smoothing, its end, and what it suggests."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
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
