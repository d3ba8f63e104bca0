"""Products of matrices of any size.

32 columns of the right matrix at a time are copied into a contiguous panel. Sums are split into
parts short enough that the panel stays in the L1 cache while the rows of the left matrix stream
past it. A tile of 8 rows and 32 columns of the result stays in registers.

Source: Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.vectors import COLUMNS, LANES, ROWS, block_transpose, tile_product
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.products import part_of
from tinynet.numba_kernels.shared import shared

MANY = 512  # rows of the left matrix processed per block
BLOCK = 256  # minimum rows per part: each packs the right matrix again, about 3 % of the work
ZERO = np.float32(0)


@written(tile_product(ahead=True))
def tile(a: Array, b: Array, out: Array) -> None:
    """Write ``a @ b``: ``[1 to 8, inputs]`` by ``[inputs, 32]``."""
    out[...] = a @ b


@written(tile_product(onto=True, ahead=True))
def tile_onto(a: Array, b: Array, first: Array, out: Array) -> None:
    """Write ``a @ b + first``, ``[1 to 8, 32]``."""
    out[...] = a @ b + first


@written(tile_product(onto=True, ahead=True))
def tile_from(a: Array, b: Array, first: Array, out: Array) -> None:
    """Write ``a @ b + first`` for a vector ``first``, ``[32]``."""
    out[...] = a @ b + first


@written(block_transpose)
def transpose_block(a: Array, out: Array) -> None:
    """Write the transpose of the first 16 rows and columns."""
    out[:LANES, :LANES] = a[:LANES, :LANES].T


def line(count: int) -> Array:
    """Return memory for ``count`` numbers, aligned to a cache line."""
    memory = np.empty(count + LANES, np.float32)
    start = (-(memory.ctypes.data // 4)) % LANES
    return memory[start : start + count]


def pack(b: Array, begin: int, left: int, panel: Array) -> None:
    """Copy 32 numbers of each row of ``b`` from ``begin`` on to ``[rows, 32]``, zero-padded.

    Numbers beyond the end of ``b`` are zeros.
    """
    count = min(COLUMNS, b.shape[1] - left)
    for k in range(panel.shape[0]):
        row, target = b[begin + k, left : left + count], panel[k]
        for j in range(count):
            target[j] = row[j]
        for j in range(count, COLUMNS):
            target[j] = 0


def pack_turned(b: Array, begin: int, left: int, panel: Array) -> None:
    """Copy rows of the transpose of ``b`` in the same way."""
    inputs = panel.shape[0]
    for first in range(0, COLUMNS, LANES):
        count = min(LANES, b.shape[0] - left - first)
        whole = inputs - inputs % LANES if count == LANES else 0
        for k in range(0, whole, LANES):
            transpose_block(
                b[left + first : left + first + LANES, begin + k : begin + k + LANES],
                panel[k : k + LANES, first : first + LANES],
            )
        for k in range(whole, inputs):
            target = panel[k, first : first + LANES]
            for j in range(LANES):
                target[j] = b[left + first + j, begin + k] if j < count else ZERO


def pack_all(b: Array, b_turned: int, panels: Array) -> None:
    """Copy ``b``, or its transpose, to panels ``[n, rows, 32]``, the last one zero-padded."""
    for panel in range(panels.shape[0]):
        if b_turned:
            pack_turned(b, 0, panel * COLUMNS, panels[panel])
        else:
            pack(b, 0, panel * COLUMNS, panels[panel])


def units(rows: int, columns: int) -> int:
    """Return the number of blocks of rows, or panels of columns, into which a product divides."""
    return (rows + BLOCK - 1) // BLOCK if rows >= MANY else (columns + COLUMNS - 1) // COLUMNS


@shared(span="first last", numbers="a.size * out.shape[1] // 8")
def product(
    a: Array, b: Array, b_turned: int, bias: Array, out: Array, first: int, last: int
) -> None:
    """Write ``a @ b + bias``, or some units of it.

    Args:
        a: ``[rows, inputs]``.
        b: ``[inputs, columns]``, or its transpose.
        b_turned: 1 if it is the transpose.
        bias: ``[columns]``, or empty.
        out: ``[rows, columns]``.
        first, last: the first unit, and the end of the units.
    """
    rows, columns = out.shape
    low, high, start, stop = 0, rows, 0, columns
    if rows >= MANY:
        low, high = first * BLOCK, min(last * BLOCK, rows)
    else:
        start, stop = first * COLUMNS, min(last * COLUMNS, columns)
    step = part_of(a.shape[1])
    memory = line(step * COLUMNS)
    for row in range(low, high, MANY):
        mine, target = a[row : min(row + MANY, high)], out[row : min(row + MANY, high)]
        for begin in range(0, a.shape[1], step):
            count = min(step, a.shape[1] - begin)
            panel = memory[: count * COLUMNS].reshape(count, COLUMNS)
            for left in range(start, stop, COLUMNS):
                if b_turned:
                    pack_turned(b, begin, left, panel)
                else:
                    pack(b, begin, left, panel)
                part, more = mine[:, begin : begin + count], bias[left : left + COLUMNS]
                multiply(part, panel, more, begin > 0, target[:, left : left + COLUMNS])


def multiply(a: Array, panel: Array, bias: Array, onto: bool, out: Array) -> None:
    """Write the product of rows with a panel, plus the bias; or add it to ``out``."""
    rows, columns = out.shape
    if columns < COLUMNS:
        rest = line(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
        for row in range(0, rows, ROWS):
            part = a[row : row + ROWS]
            tile(part, panel, rest[: part.shape[0]])
            finish(rest, bias, onto, out[row : row + ROWS])
    elif onto:
        for row in range(0, rows, ROWS):
            target = out[row : row + ROWS]
            tile_onto(a[row : row + ROWS], panel, target, target)
    elif bias.size:
        for row in range(0, rows, ROWS):
            tile_from(a[row : row + ROWS], panel, bias, out[row : row + ROWS])
    else:
        for row in range(0, rows, ROWS):
            tile(a[row : row + ROWS], panel, out[row : row + ROWS])


def finish(made: Array, bias: Array, onto: bool, out: Array) -> None:
    """Write, or add, the valid part of a tile, with the bias."""
    for r in range(out.shape[0]):
        row, target = made[r], out[r]
        for j in range(out.shape[1]):
            more = target[j] if onto else bias[j] if bias.size else ZERO
            target[j] = row[j] + more
