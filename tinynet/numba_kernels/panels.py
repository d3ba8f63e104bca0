"""Memory for the products of ``products.py``. Nothing here is compiled."""

from __future__ import annotations

import math

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels.vectors import COLUMNS

_LINE = 64  # bytes of a line of the cache, and of the longest vector


def aligned(*shape: int) -> Array:
    """Return a new float32 array that begins with a line of the cache."""
    size = math.prod(shape) * 4
    memory = np.empty(size + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size].view(np.float32).reshape(shape)


def padded(columns: int) -> int:
    """Return the width of a product: a number of columns, and those that fill the last panel."""
    return -(-columns // COLUMNS) * COLUMNS


def packed(matrix: Array) -> Array:
    """Return ``[inputs, columns]`` as panels, ``[n, inputs, 32]``, the last one with zeros."""
    inputs, columns = matrix.shape
    whole, rest = divmod(columns, COLUMNS)
    made = aligned(padded(columns) // COLUMNS, inputs, COLUMNS)
    cut = matrix[:, : whole * COLUMNS].reshape(inputs, whole, COLUMNS)
    made[:whole] = cut.transpose(1, 0, 2)
    if rest:
        made[whole, :, :rest] = matrix[:, whole * COLUMNS :]
        made[whole, :, rest:] = 0
    return made
