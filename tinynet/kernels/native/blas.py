"""Products of float32 matrices in compiled functions, by oneDNN or numpy's BLAS."""

from __future__ import annotations

from typing import Any

from numpy import bool_, float32, int8, int32

from tinynet.dtypes import Array

sgemm: Any = None  # the library's function, once ``compiler.prepare`` has found it
ROW_MAJOR, AS_IT_IS, TRANSPOSED, ONE = int32(101), int32(111), int32(112), float32(1)
N, T = int8(ord("N")), int8(ord("T"))
NO: Any = bool_(False)
YES: Any = bool_(True)
get_threads: Any = None  # those of OpenMP, for oneDNN
set_threads: Any = None
LARGE = 1 << 24  # multiply-adds: threads take longer to wake up than they save in smaller products
# Of sums of more than 768 terms, oneDNN may give parts to threads: the result would depend on them.
# These shorter ones take less time, too.
LONGEST = 512


def product(a: Array, a_turned: bool, b: Array, b_turned: bool, out: Array, kept: float32) -> None:
    """Write ``a @ b + kept * out`` to ``out``.

    Args:
        a, b, out: matrices, or some columns of matrices, with contiguous rows.
        a_turned, b_turned: whether to take the transpose.
        kept: 0 to overwrite ``out``, 1 to add to it.
    """
    sgemm(
        ROW_MAJOR,
        TRANSPOSED if a_turned else AS_IT_IS,
        TRANSPOSED if b_turned else AS_IT_IS,
        out.shape[0],
        out.shape[1],
        a.shape[0] if a_turned else a.shape[1],
        ONE,
        a.ctypes.data, row_step(a),
        b.ctypes.data, row_step(b),
        float32(kept),
        out.ctypes.data, row_step(out),
    )  # fmt: skip


def row_step(x: Array) -> int:
    """Return the distance from row to row, in elements."""
    step = x.strides[0] // x.itemsize
    step = step if step > x.shape[1] else x.shape[1]
    return step if step > 1 else 1


def product_by_onednn(
    a: Array, a_turned: bool, b: Array, b_turned: bool, out: Array, kept: float32
) -> None:
    """Do what ``product`` does, by oneDNN."""
    inner = a.shape[0] if a_turned else a.shape[1]
    count = (inner + LONGEST - 1) // LONGEST if inner else 1
    step = (inner + count - 1) // count
    a_step, b_step = row_step(a), row_step(b)
    threads = get_threads()
    if out.size * inner < LARGE:
        set_threads(int32(1))
    for k in range(count):
        start = k * step
        sgemm(
            T if a_turned else N,
            T if b_turned else N,
            out.shape[0],
            out.shape[1],
            step if step < inner - start else inner - start,
            ONE,
            a.ctypes.data + 4 * start * (a_step if a_turned else 1), a_step,
            b.ctypes.data + 4 * start * (1 if b_turned else b_step), b_step,
            float32(kept) if k == 0 else ONE,
            out.ctypes.data, row_step(out),
        )  # fmt: skip
    set_threads(threads)


def product_by_loops(
    a: Array, a_turned: bool, b: Array, b_turned: bool, out: Array, kept: float32
) -> None:
    """Do what ``product`` does, where numpy has no OpenBLAS."""
    for i in range(out.shape[0]):
        row = out[i]
        for j in range(row.size):
            before = row[j]
            row[j] = before * float32(kept) if kept else float32(0)
        for k in range(a.shape[0] if a_turned else a.shape[1]):
            factor = a[k, i] if a_turned else a[i, k]
            for j in range(row.size):
                other = b[j, k] if b_turned else b[k, j]
                row[j] += factor * other
