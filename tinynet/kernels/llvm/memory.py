"""Arrays and views in compiled functions, and as Python functions the same."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tinynet.dtypes import Array


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return a new array."""
    return np.empty(shape, dtype)


def view(x: Array, shape: tuple[int, ...]) -> Array:
    """Return a contiguous array in another shape of the same size."""
    return x.reshape(shape)


def line(address: int, size: int) -> Array:
    """Return the array of float32 at an address, in one dimension."""
    return np.ctypeslib.as_array((ctypes.c_float * int(size)).from_address(int(address)))


def shared(count: int, work: int) -> range:
    """Return the numbers of iterations that threads share, see ``sharing``.

    Args:
        count: the number of iterations.
        work: of elements that they compute: threads share a large loop.
    """
    return range(count)
