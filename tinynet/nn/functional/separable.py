"""Linear maps that treat one dimension after the other: a small matrix for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.dtypes import Array


def apply(x: Array, matrices: Sequence[Any]) -> Array:
    """Return ``x`` with its last dimensions multiplied by the matrices ``[outputs, inputs]``.

    A matrix of None leaves its dimension as it is.
    """
    first = x.ndim - len(matrices)
    work = x
    for axis, matrix in reversed(list(enumerate(matrices, first))):
        if matrix is not None:
            work = _along(work, axis, matrix.astype(x.dtype, copy=False))
    return work if work is not x else x.copy()


def _along(x: Array, axis: int, matrix: Array) -> Array:
    """Return the products along one dimension."""
    shape, outputs = x.shape, matrix.shape[0]
    if axis == x.ndim - 1:
        rows = x.reshape(-1, shape[-1]) if x.size else np.zeros((0, shape[-1]), x.dtype)
        return np.dot(rows, matrix.T).reshape(*shape[:-1], outputs)
    before, after = shape[:axis], shape[axis + 1 :]
    count = int(np.prod(before))
    blocks = x.reshape(count, shape[axis], int(np.prod(after)))
    return np.matmul(matrix, blocks).reshape(*before, outputs, *after)
