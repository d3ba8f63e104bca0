"""Triangles of matrices, by masks of bits."""

from __future__ import annotations

import functools

import numpy as np

from tinynet.dtypes import Array

_KEPT = 1 << 16  # elements: larger masks are not worth their memory


@functools.lru_cache(maxsize=16)
def _mask(n: int, m: int, diagonal: int, lower: bool, size: int) -> Array:
    """Return integers of ``size`` bytes: -1, whose bits are all set, in the triangle, else 0."""
    below = np.tri(n, m, diagonal if lower else diagonal - 1, dtype=bool)
    found = np.negative(below if lower else ~below, dtype=f"i{size}")
    found.flags.writeable = False
    return found


def triangle(x: Array, diagonal: int, lower: bool) -> Array:
    """Return ``np.tril(x, diagonal)``, or ``np.triu``, of matrices ``[..., n, m]``."""
    n, m = x.shape[-2:]
    if x.itemsize > 8 or n * m > _KEPT:
        return np.tril(x, diagonal) if lower else np.triu(x, diagonal)
    mask = _mask(n, m, diagonal, lower, x.itemsize)
    return np.bitwise_and(x.view(mask.dtype), mask, order="C").view(x.dtype)
