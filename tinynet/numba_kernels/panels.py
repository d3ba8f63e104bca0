"""Memory for the products of ``products.py``. Nothing here is compiled."""

from __future__ import annotations

import math

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels import matrices
from tinynet.numba_kernels.llvm.vectors import COLUMNS, LANES


def aligned(*shape: int) -> Array:
    """Return a new float32 array aligned to a cache line."""
    size = math.prod(shape)
    memory = np.empty(size + LANES, np.float32)
    start = -(memory.__array_interface__["data"][0] // 4) % LANES
    return memory[start : start + size].reshape(shape)


def padded(columns: int) -> int:
    """Return the number of columns rounded up to whole panels."""
    return -(-columns // COLUMNS) * COLUMNS


def packed(matrix: Array, turned: bool = False) -> Array:
    """Return ``[inputs, columns]`` as zero-padded panels, ``[n, inputs, 32]``.

    Args:
        matrix: the matrix to pack.
        turned: whether it is the transpose.
    """
    inputs, columns = matrix.shape[::-1] if turned else matrix.shape
    made = aligned(padded(columns) // COLUMNS, inputs, COLUMNS)
    matrices.pack_all(np.ascontiguousarray(matrix), turned, made)
    return made
