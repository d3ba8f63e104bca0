"""Scaled dot-product attention, head by head: threads share the heads.

All arrays are float32, and ``[batch, heads, length, size]`` with contiguous rows. Scores are
computed for some queries at a time, for the keys that one of these may see.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, int64

from tinynet.dtypes import Array
from tinynet.kernels.llvm.elementary import exp, of_rank, rank
from tinynet.kernels.llvm.memory import shared
from tinynet.kernels.native.blas import NO, YES, product

ZERO, ONE, LEAST = float32(0), float32(1), float32(-np.inf)
QUERIES = 64  # whose scores are computed at a time


def attend(
    query: Array, key: Array, value: Array, keep: Array, noise: Array, scale: float,
    output: Array, powers: Array, sums: Array,
) -> None:  # fmt: skip
    """Write the mean of the values for each query, weighted by softmax of its scores.

    Args:
        query, key, value: ``[batch, heads, length, size]``.
        keep: 0 for masked pairs and 1 for others, ``[queries, keys]``; empty: all are kept.
        noise: dropout factors of the weights, ``[batch, heads, queries, keys]``; empty: none.
        scale: the factor of the scores.
        output: ``[batch, heads, queries, size]``, written.
        powers: exponentials of the scores less the largest of their query,
            ``[batch, heads, queries, keys]``, written.
        sums: those of the powers, ``[batch, heads, queries, 1]``, written; 1 instead of 0.
    """
    batch, heads, length, size = query.shape
    keys = key.shape[2]
    begins, ends = np.empty(length, np.int64), np.empty(length, np.int64)
    find_spans(keep, keys, begins, ends)
    rows = min(length, QUERIES) if noise.size else 0
    weights = np.empty((batch, heads, rows, keys), np.float32)
    for at in shared(batch * heads, 8 * batch * heads * length * (keys + size)):
        b, h = at // heads, at % heads
        for first in range(0, length, QUERIES):
            last = min(first + QUERIES, length)
            end = largest(ends[first:last])
            part, mean = powers[b, h, first:last, :end], output[b, h, first:last]
            product(query[b, h, first:last], NO, key[b, h, :end], YES, part, ZERO)
            for i in range(first, last):
                row, factor = powers[b, h, i], float32(scale)
                total = masked_powers(row, keep[i], factor, begins[i], ends[i])
                sums[b, h, i, 0] = ONE if total == ZERO else total
            if noise.size:
                multiply(part, noise[b, h, first:last], weights[b, h])
                part = weights[b, h, : last - first, :end]
            product(part, NO, value[b, h, :end], NO, mean, ZERO)
            for i in range(first, last):
                factor = ONE / sums[b, h, i, 0]
                for j in range(size):
                    output[b, h, i, j] *= factor


def find_spans(keep: Array, keys: int, begins: Array, ends: Array) -> None:
    """Write the first key that each query may not see, and the end of those that it may.

    Args:
        keep: as for ``attend``.
        keys: the number of keys.
        begins, ends: ``[queries]``.
    """
    begins[:] = keys
    ends[:] = keys
    for i in range(keep.shape[0]):
        ends[i] = int64(0)
        for j in range(keys):
            if keep[i, j] == ZERO:
                begins[i] = min(begins[i], j)
            else:
                ends[i] = j + 1


def largest(numbers: Array) -> int64:
    """Return the largest of numbers that are not below 0."""
    top = int64(0)
    for i in range(numbers.size):
        top = max(top, numbers[i])
    return top


def masked_powers(row: Array, keep: Array, scale: float32, begin: int, end: int) -> float32:
    """Overwrite the scores of a query with their exponentials; return the sum.

    Args:
        row: ``[keys]``; becomes 0 from ``end`` on.
        keep: of this query; read from ``begin`` up to ``end``.
    """
    for j in range(end, row.size):
        row[j] = ZERO
    for j in range(end):
        row[j] *= scale
    for j in range(begin, end):
        row[j] = row[j] if keep[j] != ZERO else LEAST
    top = rank(LEAST)
    for j in range(end):
        this = rank(row[j])
        top = this if this > top else top
    high, total = of_rank(top), ZERO
    high = ZERO if high == LEAST else high
    for j in range(end):
        row[j] = exp(row[j] - high)
        total += row[j]
    return total


def multiply(a: Array, b: Array, out: Array) -> None:
    """Write ``a * b`` to the first rows and columns; only ``a`` has their number."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * b[i, j]


def attend_slope(
    g: Array, query: Array, key: Array, value: Array, keep: Array, noise: Array, scale: float,
    output: Array, powers: Array, sums: Array, of_query: Array, of_key: Array, of_value: Array,
) -> None:  # fmt: skip
    """Write the gradients of ``attend`` by query, key and value; ``g`` is that of its output."""
    batch, heads, length, size = query.shape
    keys = key.shape[2]
    begins, ends = np.empty(length, np.int64), np.empty(length, np.int64)
    find_spans(keep, keys, begins, ends)
    slopes = np.empty((batch, heads, min(length, QUERIES), keys), np.float32)
    for at in shared(batch * heads, 16 * batch * heads * length * (keys + size)):
        b, h = at // heads, at % heads
        for j in range(keys):
            for k in range(size):
                of_key[b, h, j, k], of_value[b, h, j, k] = ZERO, ZERO
        for first in range(0, length, QUERIES):
            last = min(first + QUERIES, length)
            end = largest(ends[first:last])
            over, part = of_query[b, h, first:last], powers[b, h, first:last, :end]
            d = slopes[b, h, : last - first, :end]
            for i in range(first, last):
                factor = ONE / sums[b, h, i, 0]
                for k in range(size):
                    of_query[b, h, i, k] = g[b, h, i, k] * factor
            if noise.size:
                multiply(part, noise[b, h, first:last], d)
                product(d, YES, over, NO, of_value[b, h, :end], ONE)
            else:
                product(part, YES, over, NO, of_value[b, h, :end], ONE)
            product(over, NO, value[b, h, :end], YES, d, ZERO)
            if noise.size:
                multiply(d, noise[b, h, first:last], d)
            for i in range(last - first):
                inner = ZERO
                for k in range(size):
                    inner += over[i, k] * output[b, h, first + i, k]
                for j in range(end):
                    d[i, j] = (d[i, j] - inner) * part[i, j] * float32(scale)
            product(d, YES, query[b, h, first:last], NO, of_key[b, h, :end], ONE)
            product(d, NO, key[b, h, :end], NO, over, ZERO)
