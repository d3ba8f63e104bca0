"""Sums of arrays over axes: long ones as products with ones, by BLAS."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.dtypes import Array

add_up: Callable[..., Array] = np.add.reduce  # numpy's type knows no ``keepdims: bool``

_MANY, _ROW = 2**12, 1024  # numbers from which it is worth it; how many make a row
_MATRIX = 512  # of each of the matrices whose columns are added


def sum_kind(array: Array, dtype: Any) -> Any:
    """Return the dtype to sum in: as given, else int64 for integers and booleans."""
    if dtype is not None:
        return dtypes.as_numpy(dtype)
    return array.dtype if array.dtype.kind == "f" else np.dtype(np.int64)


def ones(count: int, kind: np.dtype[Any]) -> Array:
    """Return a vector of ones, whose product with an array is a sum. It must not be written to."""
    return _kept_ones(count, kind) if count <= _MANY else np.ones(count, kind)


@functools.lru_cache(maxsize=64)  # a layer of a net needs the same ones at each call
def _kept_ones(count: int, kind: np.dtype[Any]) -> Array:
    made = np.ones(count, kind)
    made.flags.writeable = False
    return made


def sums(x: Array, axes: tuple[int, ...] | None, keepdim: bool, dtype: Any) -> Array:
    """Return sums over the axes (None: over all) in a dtype, None for that of `sum_kind`."""
    if dtype is not None or x.dtype.kind != "f":
        return add_up(x, axis=axes, keepdims=keepdim, dtype=sum_kind(x, dtype))
    if x.size >= _MANY and x.flags.c_contiguous and x.itemsize >= 4:
        if axes is None and x.size >= 8 * _MANY:
            whole = x.size // _ROW * _ROW
            flat = x.reshape(-1)
            return add_up(_row_sums(flat[:whole], _ROW)) + add_up(flat[whole:])
        first = x.ndim - len(axes or ())
        if axes and 0 < first == min(axes):
            found = _row_sums(x, math.prod(x.shape[first:]))
            return found.reshape(x.shape[:first] + (1,) * (keepdim * len(axes)))
        if axes and max(axes) - min(axes) + 1 == len(axes) and max(axes) + 1 < x.ndim:
            first, last = min(axes), max(axes) + 1
            many, after = math.prod(x.shape[first:last]), math.prod(x.shape[last:])
            if many * after >= _MATRIX:
                found = np.matmul(ones(many, x.dtype), x.reshape(-1, many, after))
                kept = (1,) * (keepdim * len(axes))
                return found.reshape(x.shape[:first] + kept + x.shape[last:])
    return add_up(x, axis=axes, keepdims=keepdim)


def _row_sums(x: Array, length: int) -> Array:
    """Return the sums of numbers that follow each other in memory, so many at a time.

    As products with a vector of ones: BLAS is several times faster than numpy here. It adds in
    as many lanes, so the rounding is no worse.
    """
    return np.dot(x.reshape(-1, length), ones(length, x.dtype))
