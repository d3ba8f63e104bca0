"""Products with the transpose of a matrix, such as the gradients of weights: ``a.T @ b``.

Nothing is transposed: a tile of the result reads 8 adjacent numbers of each row of ``a``. This is
fast while rows are short; in longer rows, each number is on a different memory page.
"""

from __future__ import annotations

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.vectors import COLUMNS, turned_product
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.matrices import line, pack
from tinynet.numba_kernels.shared import shared

STEP = 128  # rows per block


@written(turned_product)
def add(a: Array, b: Array, out: Array) -> None:
    """Add ``a.T @ b`` to ``out``: ``[rows, n]``, ``[rows, 32]``, ``[n, 32]``."""
    out += a.T @ b


def units(columns: int) -> int:
    """Return the number of panels of 32 columns of ``b``, into which a product divides."""
    return (columns + COLUMNS - 1) // COLUMNS


@shared(span="first last", numbers="a.size * b.shape[1] // 8")
def product(a: Array, b: Array, out: Array, first: int, last: int) -> None:
    """Add ``a.T @ b`` to ``out``, or some panels of it.

    Args:
        a, b, out: ``[rows, n]``, ``[rows, m]``, ``[n, m]``.
        first, last: the first panel of ``b``, and the end of the panels.
    """
    low, high = first * COLUMNS, min(last * COLUMNS, b.shape[1])
    memory, whole = line(STEP * COLUMNS), high // COLUMNS * COLUMNS
    for begin in range(0, a.shape[0], STEP):
        count = min(STEP, a.shape[0] - begin)
        panel = memory[: count * COLUMNS].reshape(count, COLUMNS)
        part = a[begin : begin + count]
        for left in range(low, whole, COLUMNS):
            pack(b, begin, left, panel)
            add(part, panel, out[:, left : left + COLUMNS])
        if whole < high:
            pack(b, begin, whole, panel)
            add_narrow(part, panel, out[:, whole:])


def add_narrow(a: Array, panel: Array, out: Array) -> None:
    """Add ``a.T @ panel`` to fewer than 32 columns of ``out``."""
    made = line(out.shape[0] * COLUMNS).reshape(out.shape[0], COLUMNS)
    made[:] = 0
    add(a, panel, made)
    for r in range(out.shape[0]):
        row, target = made[r], out[r]
        for j in range(target.size):
            target[j] += row[j]
