"""Convolutions of streams: the rows of images in sequence, separated by zeros.

A window is a list of offsets: its values at each position of a stream are the stream itself,
shifted by the offset. Nothing is copied before multiplication, and sums stay in registers. Arrays
are one-dimensional; ``start``, ``at`` and ``first`` are positions in an array, ``step`` is the
distance between rows.
"""

from __future__ import annotations

import numpy as np
from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.stream_code import (
    BLOCK,
    LEFT,
    PLACES,
    RIGHT,
    ROWS,
    combine_code,
    dots_code,
    doubled_code,
    halved_code,
    tile_code,
)  # fmt: skip
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.numpy_streams import combined, numbers
from tinynet.numba_kernels.polynomials import ELEMENTS, RESULTS

SPAN = 1024  # positions whose rows fit the cache of a core


@written(tile_code)
def tile(
    weights: Array, first: int, x: Array, start: int, offsets: Array, out: Array, at: int, step: int
) -> None:
    """Write ``sum over k of weights[k, row] * x[offsets[k] + place]``, 8 rows of 32 places."""
    of_k = numbers(weights, first, ROWS, len(offsets), ROWS)
    numbers(out, at, step, ROWS, PLACES)[...] = of_k.T @ np.stack(
        [x[start + offset :][:PLACES] for offset in offsets]
    )


@written(dots_code)
def dots(
    y: Array, y_start: int, y_step: int, x: Array, start: int, offsets: Array, first: int,
    length: int, out: Array, at: int,
) -> None:  # fmt: skip
    """Add ``sum over places of y[i, place] * x[offsets[j] + place]`` for 4 ``i`` and 6 ``j``."""
    seen = np.stack([x[start + o :][:length] for o in offsets[first : first + RIGHT]])
    numbers(out, at, RIGHT, LEFT, RIGHT)[...] += numbers(y, y_start, y_step, LEFT, length) @ seen.T


@written(combine_code(ELEMENTS.tolist()))
def elements(
    x: Array, start: int, step: int, low: int, high: int, width: int, offset: float32, out: Array,
    at: int, out_step: int, count: int,
) -> None:  # fmt: skip
    """Write the sums of 6 rows that Winograd's products take as inputs.

    Rows outside of ``low`` to ``high`` are read as zeros; only the first ``count`` rows of the
    results are written, with an offset added.
    """
    combined(ELEMENTS, x, start, step, low, high, width, offset, out, at, out_step, count)


@written(combine_code(RESULTS.tolist()))
def results(
    x: Array, start: int, step: int, low: int, high: int, width: int, offset: float32, out: Array,
    at: int, out_step: int, count: int,
) -> None:  # fmt: skip
    """Write 4 rows of results from the rows of 6 products."""
    combined(RESULTS, x, start, step, low, high, width, offset, out, at, out_step, count)


@written(combine_code(RESULTS.T.tolist()))
def against(
    x: Array, start: int, step: int, low: int, high: int, width: int, offset: float32, out: Array,
    at: int, out_step: int, count: int,
) -> None:  # fmt: skip
    """Write the gradients of 6 products from those of 4 rows of results."""
    combined(RESULTS.T, x, start, step, low, high, width, offset, out, at, out_step, count)


@written(combine_code([[1.0]]))
def copied(
    x: Array, start: int, step: int, low: int, high: int, width: int, offset: float32, out: Array,
    at: int, out_step: int, count: int,
) -> None:  # fmt: skip
    """Copy a row, with an offset added."""
    combined(np.ones((1, 1)), x, start, step, low, high, width, offset, out, at, out_step, count)


@written(halved_code)
def halved(x: Array, start: int, width: int, out: Array, at: int) -> None:
    """Write ``width`` numbers, every second one of ``x``."""
    out[at : at + width] = x[start:][: 2 * width : 2]


@written(doubled_code)
def doubled(x: Array, start: int, width: int, offset: float32, out: Array, at: int) -> None:
    """Write ``width`` numbers, with an offset added, to every second position."""
    out[at:][: 2 * width : 2] = x[start : start + width] + offset


def products(
    weights: Array, first: int, x: Array, start: int, offsets: Array, out: Array, at: int,
    step: int, blocks: int, length: int,
) -> None:  # fmt: skip
    """Write the results of ``tile`` for a length, rounded up to 32, and blocks of 8 rows.

    The weights are ``[blocks, offsets, 8]``.
    """
    for place in range(0, length, PLACES):
        for block in range(blocks):
            weight = first + block * offsets.size * ROWS
            to = at + block * ROWS * step + place
            tile(weights, weight, x, start + place, offsets, out, to, step)


def gradients(
    y: Array, y_start: int, y_step: int, rows: int, x: Array, start: int, offsets: Array,
    length: int, out: Array, at: int,
) -> None:  # fmt: skip
    """Add the results of ``dots`` to ``[rows / 4, offsets / 6, 32]``; length % 16 must be 0."""
    for first in range(0, length, SPAN):
        count = min(SPAN, length - first)
        for j in range(0, offsets.size, RIGHT):
            for i in range(0, rows, LEFT):
                of_y = y_start + i * y_step + first
                to = at + (i // LEFT * (offsets.size // RIGHT) + j // RIGHT) * BLOCK
                dots(y, of_y, y_step, x, start + first, offsets, j, count, out, to)
