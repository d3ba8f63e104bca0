"""Matrix products of numpy, large ones on several threads.

The loops of OpenBLAS take rows in steps that divide ``_ROWS``, and other loops below ``_PART``. So
each part is computed as it is in the whole, and the result does not depend on the number of
threads. Products with few rows are computed in blocks (``few_rows``), by one thread.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels.threads import few_rows, openblas
from tinynet.kernels.threads.sharing import alone, get_count, share, slices

SHARED = 1 << 23  # multiply-adds, some 0.1 ms: threads of BLAS save more than their start costs
_LARGE = 1 << 25  # the same for threads of Python
_ROWS, _PART = 24, 1 << 23


def dot(a: Array, b: Array) -> Array:
    """Return ``a @ b`` of matrices."""
    size = a.size * b.shape[1]
    if len(a) > 1 and (size > few_rows.LEAST or b.size >= few_rows.MATRIX):
        blocks = few_rows.product(a, b)
        if blocks is not None:
            return blocks
    if size >= SHARED and get_count() > 1:
        parts = _parts(a, b, min(get_count(), 2 * size // _PART))
        if len(parts) > 1:
            return _shared(a, b, parts)
    return a.dot(b)  # one call in Python less than ``np.dot``


def matmul(a: Array, b: Array) -> Array:
    """Return the products of stacks of matrices.

    Args:
        a: ``[batch, n, m]``.
        b: ``[batch, m, p]``.
    """
    if a.size * b.shape[2] < _LARGE or len(a) == 1:
        outer = a.shape[2] == 1 and a.size > 1  # which numpy multiplies without BLAS
        found: Array = np.multiply(a, b, order="C") if outer else np.matmul(a, b)
        return found
    out = np.empty((*a.shape[:2], b.shape[2]), a.dtype)

    def work(part: slice) -> None:
        np.matmul(a[part], b[part], out=out[part])

    share(work, slices(len(a), -(-len(a) // get_count())))
    return out


def _parts(a: Array, b: Array, count: int) -> list[slice]:
    """Return the rows of ``a @ b`` that each thread computes."""
    # numpy computes half of a matrix times its own transpose.
    if b.shape[1] < 2 or a.dtype != b.dtype or a.ctypes.data == b.ctypes.data:
        return []
    rows = len(a)
    parts = slices(rows, -(-rows // (_ROWS * count)) * _ROWS)
    if len(parts) > 1 and rows - parts[-1].start < _ROWS:
        parts[-2:] = [slice(parts[-2].start, rows)]
    return parts


def _shared(a: Array, b: Array, parts: list[slice]) -> Array:
    """Return ``a @ b``; each thread computes some of the rows."""
    with alone() as is_alone:
        made = openblas.product(a, b, parts) if is_alone else None
    if made is None and a.size * b.shape[1] >= max(_LARGE, len(parts) * _PART):
        made = out = np.empty((len(a), b.shape[1]), a.dtype)
        share(lambda part: np.dot(a[part], b, out=out[part]), parts)
    found: Array = np.dot(a, b) if made is None else made
    return found
