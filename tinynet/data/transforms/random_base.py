"""The base classes of random transforms."""

from __future__ import annotations  # avoids importing numpy.random, which loads slowly

from collections.abc import Sequence

import numpy as np

from tinynet.data.loading.sampler import random_source
from tinynet.data.transforms.base import Transform
from tinynet.random import Generator

Range = float | Sequence[float]
"""A range ``(low, high)``, or a number from which a transform makes one."""


class RandomTransform(Transform):
    """Base class of transforms that draw random numbers.

    Args:
        generator: the source of random numbers (the default generator).
    """

    def __init__(self, generator: Generator | None):
        random_source(generator, type(self).__name__)  # raises for other types
        self._generator = generator

    @property
    def _numpy(self) -> np.random.Generator:
        return random_source(self._generator, type(self).__name__).numpy

    def _uniform(self, limits: Sequence[float]) -> float:
        """Return a number from a range, all equally likely."""
        return float(self._numpy.uniform(limits[0], limits[1]))


class WithProbability(RandomTransform):
    """Base class of transforms that are applied with a probability."""

    def __init__(self, p: float = 0.5, *, generator: Generator | None = None):
        super().__init__(generator)
        if not 0 <= p <= 1:
            name = type(self).__name__
            raise ValueError(f"The 'p' parameter of {name} must be from 0 to 1. Got {p} instead.")
        self.p = p

    def _is_applied(self) -> bool:
        return bool(self._numpy.random() < self.p)


def check_range(value: Sequence[float], what: str, least: float, most: float) -> list[float]:
    """Return a range as a list of two numbers.

    Args:
        value: the range.
        what: its name in a message: ``"'scale' parameter of RandomAffine"``.
        least, most: its limits.

    Raises:
        ValueError: it is no range, or exceeds the limits.
    """
    low, high = value if len(value) == 2 else (1.0, 0.0)
    if not least <= low <= high <= most:
        limits = f" from {least:g} to {most:g}" if most < float("inf") else ""
        limits = limits or (f" of numbers >= {least:g}" if least > -float("inf") else "")
        raise ValueError(f"The {what} must be a range (min, max){limits}. Got {value!r} instead.")
    return [float(low), float(high)]


def around(value: Range, what: str, center: float = 0.0) -> list[float]:
    """Return a range as it is, and a number x >= 0 as the range from center - x to center + x.

    Example:
        >>> around(30, "'degrees' parameter of RandomRotation"), around([5, 9], "...")
        ([-30.0, 30.0], [5.0, 9.0])
    """
    if isinstance(value, Sequence):
        return check_range(value, what, -float("inf"), float("inf"))
    if not value >= 0:
        raise ValueError(f"The {what} must be >= 0, or a range. Got {value!r} instead.")
    return [center - value, center + value]
