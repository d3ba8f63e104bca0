"""Products of the transpose of a matrix, as the gradients of weights are: ``a.T @ b``.

Nothing is turned around: a tile of the result takes 8 neighbours of each row of ``a``. That pays
while rows are short: of longer ones, each number is on a page of memory of its own.
"""

from __future__ import annotations

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.vectors import COLUMNS, turned_product
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.matrices import line, pack
from tinynet.numba_kernels.shared import shared

STEP = 128  # rows that are worked on at once


@written(turned_product)
def add(a: Array, b: Array, out: Array) -> None:
    """Add ``a.T @ b`` to ``out``: ``[rows, n]``, ``[rows, 32]``, ``[n, 32]``."""
    out += a.T @ b


def units(columns: int) -> int:
    """Return how many panels of 32 columns of ``b`` parts of a product may consist of."""
    return (columns + COLUMNS - 1) // COLUMNS


@shared(span="first last", numbers="a.size * b.shape[1] // 8")
def product(a: Array, b: Array, out: Array, first: int, last: int) -> None:
    """Add ``a.T @ b`` to ``out``, or some panels of it.

    Args:
        a, b, out: ``[rows, n]``, ``[rows, m]``, ``[n, m]``.
        first, last: the first panel of ``b``, and that after the last.
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
    """Add ``a.T @ panel`` to less than 32 columns of ``out``."""
    made = line(out.shape[0] * COLUMNS).reshape(out.shape[0], COLUMNS)
    made[:] = 0
    add(a, panel, made)
    for r in range(out.shape[0]):
        row, target = made[r], out[r]
        for j in range(target.size):
            target[j] += row[j]
