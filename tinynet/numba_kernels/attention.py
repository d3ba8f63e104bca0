"""Attention of short sequences, one head of one example at a time, while its data is cached.

Queries, keys and values are copied to matrices whose rows are zero-padded to multiples of 16.
Keys that no query of a tile attends to cost nothing: causal attention takes half of the products.

Arrays are ``[batch, heads, length, size]`` with contiguous rows. A pair is a batch index and a
head; ``keep`` is ``[m, S]``, whose row ``i % m`` is the mask of query ``i`` of all, with 0 for
keys to ignore; ``ends`` is the end of the keys that the mask includes.
"""

from __future__ import annotations

import numpy as np
from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import ONE, ZERO
from tinynet.numba_kernels.llvm.attention_code import (
    copy_code,
    tile_code,
    weigh_code,
)
from tinynet.numba_kernels.llvm.vectors import LANES, ROWS
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.matrices import line, transpose_block
from tinynet.numba_kernels.shared import shared


@written(tile_code)
def times(a: Array, b: Array, out: Array, top: int, count: int, width: int) -> None:
    """Write 8 rows of ``a @ b``, from ``top`` on, and a multiple of 16 columns.

    Only the first ``count`` inputs are used.
    """
    out[top : top + ROWS, :width] = a[top : top + ROWS, :count] @ b[:count, :width]


@written(copy_code)
def copied(x: Array, factor: float32, out: Array) -> None:
    """Write the numbers of ``x`` times a factor, cropped or zero-padded to the size of ``out``."""
    rows, columns = min(len(x), len(out)), min(x.shape[1], out.shape[1])
    out[:rows] = 0
    out[:rows, :columns] = x[:rows, :columns] * factor


@written(weigh_code)
def weigh(
    scores: Array, top: int, bottom: int, keep: Array, first: int, step: int, end: int,
    weights: Array,
) -> None:  # fmt: skip
    """Write the softmax of up to 8 rows of scores, over the unmasked ones among the first ``end``.

    It overwrites the scores, padded to a multiple of 16 columns, and is copied to the same rows of
    the weights, followed by zeros. Row i has the mask ``first + i * step``.
    """
    for i in range(top, bottom):
        row = np.where(keep[first + i * step, :end] != 0, scores[i, :end], -np.inf)
        largest = np.max(row, initial=-np.inf)
        powers = np.exp(row - (0 if np.isneginf(largest) else largest))
        scores[i, :end] = weights[i, :end] = powers / (powers.sum() or 1)
        weights[i, end:] = 0


def reach(keep: Array, ends: Array) -> None:
    """Write the end of the unmasked keys for each row of the mask."""
    rows, n = keep.shape
    for i in range(rows):
        row, end = keep[i], np.int32(0)
        for j in range(n):
            end = np.int32(j + 1) if row[j] != ZERO else end
        ends[i] = end


def room(rows: int, columns: int) -> Array:
    """Return a zero matrix, with both sizes rounded up to multiples of 16."""
    height, width = up(rows), up(columns)
    made = line(height * width)
    made[:] = ZERO
    return made.reshape(height, width)


def up(n: int) -> int:
    """Return a number rounded up to a multiple of 16."""
    return (n + LANES - 1) // LANES * LANES


def turn(x: Array, out: Array) -> None:
    """Write the transpose of a matrix whose sizes are multiples of 16."""
    for i in range(0, x.shape[0], LANES):
        for j in range(0, x.shape[1], LANES):
            transpose_block(x[i : i + LANES, j : j + LANES], out[j : j + LANES, i : i + LANES])


def finite(x: Array) -> bool:
    """Return whether all numbers are finite."""
    total, numbers = ZERO, x.reshape(x.size)
    for i in range(x.size):
        total += numbers[i] * ZERO
    return total == ZERO


def last(ends: Array, first: int, low: int, high: int) -> int:
    """Return the end of the keys that some query of a pair attends to."""
    if ends.size == 1:
        return ends[0]
    end = 0
    for i in range(first + low, first + high):
        end = max(end, ends[i])
    return end


@shared(span="low high", numbers="weights.size * (8 + query.shape[3] // 4)")
def attend(
    query: Array, key: Array, value: Array, keep: Array, ends: Array, scale: float32,
    weights: Array, out: Array, sound: Array, low: int, high: int,
) -> None:  # fmt: skip
    """Write the softmax of ``query @ key.T * scale`` and its product with the values.

    Args:
        query: ``[batch, heads, L, E]``.
        key: ``[batch, heads, S, E]``.
        value: ``[batch, heads, S, V]``.
        keep: as above.
        ends: as above.
        scale: the factor of the scores.
        weights: ``[pairs, L, S]``.
        out: ``[batch, heads, L, V]``.
        sound: a number set to 0 if a value is not finite: then even masked keys affect the
            result.
        low: the first pair to compute.
        high: the end of the pairs to compute.
    """
    heads, length, size = query.shape[1], query.shape[2], query.shape[3]
    count, width = key.shape[2], value.shape[3]
    q, k, v = room(length, size), room(count, size), room(count, width)
    columns, scores, made = room(size, count), room(length, count), room(length, width)
    step = 0 if len(keep) == 1 else 1
    for pair in range(low, high):
        b, h, mine = pair // heads, pair % heads, weights[pair]
        first = pair * length % ends.size
        copied(query[b, h], scale, q)
        copied(key[b, h], ONE, k)
        copied(value[b, h], ONE, v)
        if not finite(v):
            sound[0] = 0
            return
        turn(k, columns)
        for i in range(0, length, ROWS):
            below = min(i + ROWS, length)
            end = last(ends, first, i, below)
            times(q, columns, scores, i, size, up(end))
            weigh(scores, i, below, keep, first, step, end, mine)
            times(scores, v, made, i, end, up(width))
        copied(made, ONE, out[b, h])
