"""A numpy version of the vectors of ``streams``, for use without numba and as a reference."""

from __future__ import annotations

import numpy as np
from numpy import float32
from numpy.lib.stride_tricks import as_strided

from tinynet.dtypes import Array


def numbers(x: Array, start: int, step: int, rows: int, columns: int) -> Array:
    """Return rows of a one-dimensional array, as a view."""
    size = x.itemsize
    return as_strided(x[start:], (rows, columns), (step * size, size))


def combined(
    matrix: Array, x: Array, start: int, step: int, low: int, high: int, width: int,
    offset: float32, out: Array, at: int, out_step: int, count: int,
) -> None:  # fmt: skip
    """Write the first rows of a matrix times rows of an array, with missing rows as zeros."""
    rows = np.zeros((matrix.shape[1], width), x.dtype)
    for r in range(max(low, 0), min(high, len(rows))):
        rows[r] = x[start + r * step :][:width]
    made = matrix.astype(x.dtype) @ rows + offset
    for j in range(min(count, len(made))):
        out[at + j * out_step :][:width] = made[j]
