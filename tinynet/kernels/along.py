"""Elements along one axis by index: several times as fast as numpy's functions for small arrays."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tinynet.dtypes import Array

_KEPT = 4096  # elements: larger offsets are computed at each call

# ---- positions ----------------------------------------------------------------------------------


def _offsets(given: tuple[int, ...], shape: tuple[int, ...], axis: int) -> Array:
    """Return where the slices along an axis begin in the flattened array, of length 1 there."""
    found: Any = np.zeros((), np.int64)
    step = 1  # stride of dimension d
    for d in reversed(range(len(shape))):
        if d != axis:
            part = np.arange(given[d]) * step
            found = found + part.reshape(-1, *(1,) * (len(shape) - d - 1))
        elif d == len(shape) - 1:
            found = found.reshape(1)
        step *= shape[d]
    found.flags.writeable = False
    return found


_offsets_of_steps = functools.lru_cache(maxsize=64)(_offsets)  # training has the same at each step


def positions(index: Array, shape: tuple[int, ...], axis: int) -> Array:
    """Return the positions of the indices along one axis in the flattened array of ``shape``."""
    given = index.shape
    if len(given) == 1:
        return index
    step = math.prod(shape[axis + 1 :])
    of = _offsets_of_steps if index.size <= _KEPT else _offsets
    found: Array = (index if step == 1 else index * step) + of(given, shape, axis)
    return found


# ---- taking and putting -------------------------------------------------------------------------


def take_along(x: Array, index: Array, axis: int) -> Array:
    """Return the elements at ``index`` along an axis, as ``np.take_along_axis`` does.

    Args:
        x: any shape, at least one dimension.
        index: of the shape of ``x`` except along the axis; from 0 to the length of the axis.
        axis: an axis, not negative.
    """
    # All indices are in range, and "wrap" is the fastest mode.
    found: Array = x.take(positions(index, x.shape, axis), mode="wrap")
    return found


def put_along(x: Array, index: Array, axis: int, values: Any) -> None:
    """Write ``values`` at ``index`` along an axis of a contiguous array in place."""
    x.reshape(-1)[positions(index, x.shape, axis)] = values
