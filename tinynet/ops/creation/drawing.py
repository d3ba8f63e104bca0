"""Arrays of random numbers, in the dtype of a tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.random import Generator, numbers_of


def refuse_integers(kind: np.dtype[Any], name: str) -> None:
    """Raise NotImplementedError for a dtype that is neither floating-point nor complex."""
    if not dtypes.is_inexact(kind):
        what = dtypes.from_numpy(kind).scalar_name
        raise NotImplementedError(f"\"{name}\" not implemented for '{what}'")


@traced
def draw(generator: Generator | None, name: str, distribution: str, *args: Any) -> Array:
    """Draw numbers by a method of numpy's generator; ``name`` is the caller's, for messages."""
    return np.asarray(getattr(numbers_of(generator, name), distribution)(*args))


@traced
def scaled(drawn: Array, mean: Any, std: Any) -> Array:
    """Return drawn numbers times ``std`` plus ``mean``."""
    return np.asarray(mean + std * drawn)


def by_parts(kind: np.dtype[Any], shape: tuple[int, ...], drawing: Callable[[Any], Any]) -> Array:
    """Return the numbers that ``drawing`` draws for a shape; of complex ones, both parts."""
    if kind.kind != "c":
        return np.asarray(drawing(shape))
    pairs = np.ascontiguousarray(drawing((*shape, 2)), np.float64)
    return pairs.view(np.complex128)[..., 0]


@traced
def normal_parts(
    generator: Generator | None, name: str, kind: np.dtype[Any], shape: tuple[int, ...]
) -> Array:
    """Draw standard normal numbers; complex ones have parts of variance 1/2."""
    drawn = by_parts(kind, shape, numbers_of(generator, name).standard_normal)
    return drawn * math.sqrt(0.5) if kind.kind == "c" else drawn


@traced
def drawn_below(generator: Generator | None, name: str, shape: Any, kind: Any, p: Any) -> Array:
    """Draw booleans that are True with probability ``p``."""
    return np.asarray(drawn_uniform(generator, name, shape, kind) < p)


@traced
def drawn_uniform(generator: Generator | None, name: str, shape: Any, kind: Any) -> Array:
    """Draw values from [0, 1) in the dtype itself: rounding a float64 could give 1.0."""
    drawn = np.float32 if kind in (np.float32, np.complex64) else np.float64
    numbers = numbers_of(generator, name)
    return by_parts(kind, shape, lambda size: numbers.random(size, dtype=drawn))
