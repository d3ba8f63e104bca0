"""Matrix products of numpy: large ones on several threads, those of few rows in blocks.

The loops of OpenBLAS take rows in steps that divide 24 (8, for float32 with AVX-512), and other
loops below ``_PART``. So each part is computed as it is in the whole, and the result does not
depend on the number of threads. One thread computes products of few rows, as the layers of a small
batch need.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels.threads import openblas
from tinynet.kernels.threads.blocks import row_by_row
from tinynet.kernels.threads.openblas import blas_function
from tinynet.kernels.threads.sharing import alone, get_count, share, slices

SHARED = 1 << 23  # multiply-adds, some 0.1 ms: threads of BLAS save more than their start costs
_LARGE = 1 << 25  # the same for threads of Python
_PART = 1 << 23


def dot(a: Array, b: Array) -> Array:
    """Return ``a @ b`` of matrices."""
    size = a.size * b.shape[1]
    if len(a) > 1 and (size > LEAST or b.size >= MATRIX):
        blocks = of_few_rows(a, b)
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
    rows, step = len(a), 8 if a.dtype.char == "f" and _has_avx512() else 24
    parts = slices(rows, -(-rows // (step * count)) * step)
    if len(parts) > 1 and rows - parts[-1].start < step:
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


# ---- products of a large matrix and one of few rows ---------------------------------------------
# OpenBLAS copies both matrices to another order before it multiplies them. With few rows, the copy
# of the large one takes most of the time: 1.2 ms of the 1.5 ms for 4 rows of 768 by 3072 numbers.
# For processors with AVX-512 it has loops for small products too, of up to a million
# multiply-adds, which read matrices in place. So the large matrix is cut into blocks of that size,
# which ``np.matmul`` takes as a stack. This is 1.5 to 7 times as fast, and as fast as memory for up
# to 4 rows.

LEAST = 400_000  # multiply-adds from which a product takes longer than what blocks cost
MATRIX = 1 << 15  # numbers of a transposed matrix whose copy takes longer than that
SMALL = 100**3  # multiply-adds up to which OpenBLAS multiplies in place
_RESULTS = 1200  # numbers in its result, up to which it also reads a transposed matrix in place
_FEW, _FEWEST = 32, 24  # rows; rows if the products of blocks are added
_CORES = (b"SkylakeX", b"Cooperlake", b"SapphireRapids")


def of_few_rows(a: Array, b: Array) -> Array | None:
    """Return ``a @ b`` in blocks of the larger matrix, or None if that is not faster.

    Args:
        a: ``[rows, inner]``.
        b: ``[inner, columns]``.
    """
    (rows, inner), columns = a.shape, b.shape[1]
    if a.dtype != np.float32 or b.dtype != np.float32:
        return None
    a_by_rows, b_by_rows = a.flags.c_contiguous, b.flags.c_contiguous
    if inner == 1:
        return _outer(a, b) if b_by_rows else None
    is_small = rows * inner * columns <= SMALL
    if a_by_rows and b.flags.f_contiguous and 1 < rows <= 2 * _FEW:
        block = _block(min(_RESULTS // rows, SMALL // (rows * inner)), 64)
        if rows <= _FEW and columns >= block >= 16 and _has_avx512():
            return None if rows * columns <= _RESULTS and is_small else _by_columns(a, b, block)
        return _transposed(a, b) if rows < columns and inner >= 4 * rows else None
    if is_small or not _has_avx512() or not b_by_rows:
        return None
    if a.flags.f_contiguous and inner <= _FEW:
        block = _block(SMALL // (inner * columns), 32)
        return _by_rows(a, b, block) if rows >= block >= 16 else None
    if a_by_rows and 1 < rows <= _FEWEST:
        block = _block(SMALL // (rows * columns), 256)
        # Adding a block takes as long as reading ``rows`` rows of it.
        return _by_sums(a, b, block) if inner >= block >= max(16, 2 * rows) else None
    return None


def _block(most: int, limit: int) -> int:
    """Return the largest power of two up to ``most`` and ``limit``."""
    return min(limit, 1 << max(most, 1).bit_length() - 1)


@functools.cache
def _has_avx512() -> bool:
    """Return whether OpenBLAS uses its loops for AVX-512, some of which read matrices in place."""
    found = blas_function("openblas_get_corename")
    if found is None:
        return False
    function, _ = found
    function.restype = ctypes.c_char_p
    return function() in _CORES


def _outer(a: Array, b: Array) -> Array:
    """Return a column times a row, in numpy's loops: BLAS takes twice as long."""
    with row_by_row(b.shape[1]):
        return np.multiply(a, b, order="C")


def _transposed(a: Array, b: Array) -> Array:
    """Return ``a @ b`` by ``b.T @ a.T``, since BLAS takes longer to copy its second matrix."""
    return np.ascontiguousarray(np.dot(b.T, a.T).T)


def _by_columns(a: Array, b: Array, block: int) -> Array:
    """Multiply few rows by a transposed matrix, block of columns by block."""
    (rows, inner), columns = a.shape, b.shape[1]
    whole, out = columns // block * block, np.empty((rows, columns), a.dtype)
    blocks = b.T[:whole].reshape(-1, block, inner).swapaxes(1, 2)
    np.matmul(a, blocks, out=out[:, :whole].reshape(rows, -1, block).swapaxes(0, 1))
    if whole < columns:
        out[:, whole:] = np.dot(a, b[:, whole:])
    return out


def _by_rows(a: Array, b: Array, block: int) -> Array:
    """Multiply the transpose of few rows by few rows, block of the result by block."""
    (rows, inner), columns = a.shape, b.shape[1]
    whole, out = rows // block * block, np.empty((rows, columns), a.dtype)
    blocks = a.T[:, :whole].reshape(inner, -1, block).transpose(1, 2, 0)
    np.matmul(blocks, b, out=out[:whole].reshape(-1, block, columns))
    if whole < rows:
        np.dot(a[whole:], b, out=out[whole:])
    return out


def _by_sums(a: Array, b: Array, block: int) -> Array:
    """Multiply few rows by a matrix; add the products of its blocks of rows."""
    (rows, inner), columns = a.shape, b.shape[1]
    whole = inner // block * block
    blocks = a[:, :whole].reshape(rows, -1, block).swapaxes(0, 1)
    products = np.matmul(blocks, b[:whole].reshape(-1, block, columns))
    out: Array = np.add.reduce(products, axis=0)
    if whole < inner:
        out += np.dot(a[:, whole:], b[whole:])
    return out
