"""Normalization of rows, each processed while it is in the cache.

Arrays are ``[rows, n]``; weights and biases ``[n]``; values per row ``[rows]``. Partial sums of a
row are added in float64: a float32 sum of a million numbers loses two digits.
"""

from __future__ import annotations

from numpy import float32, float64

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import ONE, ZERO, one_over_root
from tinynet.numba_kernels.shared import shared

PART = 512  # numbers of a row that are summed in float32, in several lanes


def part_total(row: Array) -> float32:
    """Return the sum of a part of a row."""
    total = ZERO
    for j in range(row.size):
        total += row[j]
    return total


def total_of(row: Array) -> float64:
    """Return the sum of ``[n]``."""
    if row.size <= PART:
        return float64(part_total(row))
    total = float64(0)
    for start in range(0, row.size, PART):
        total += float64(part_total(row[start : start + PART]))
    return total


def part_product(row: Array, other: Array, middle: float32) -> float32:
    """Return the sum of ``row * (other - middle)`` of a part."""
    total = ZERO
    for j in range(row.size):
        total += row[j] * (other[j] - middle)
    return total


def product_of(row: Array, other: Array, middle: float32) -> float64:
    """Return the sum of ``row * (other - middle)``."""
    if row.size <= PART:
        return float64(part_product(row, other, middle))
    total = float64(0)
    for start in range(0, row.size, PART):
        stop = start + PART
        total += float64(part_product(row[start:stop], other[start:stop], middle))
    return total


def part_squares(row: Array, middle: float32) -> float32:
    """Return the sum of ``(row - middle) ** 2`` of a part."""
    total = ZERO
    for j in range(row.size):
        total += (row[j] - middle) * (row[j] - middle)
    return total


def squares_of(row: Array, middle: float32) -> float64:
    """Return the sum of ``(row - middle) ** 2``."""
    if row.size <= PART:
        return float64(part_squares(row, middle))
    total = float64(0)
    for start in range(0, row.size, PART):
        total += float64(part_squares(row[start : start + PART], middle))
    return total


@shared("x y mean inverse", cost=4)
def row_norm(
    x: Array, weight: Array, bias: Array, eps: float32, centered: bool,
    y: Array, mean: Array, inverse: Array,
) -> None:  # fmt: skip
    """Write ``(x - mean) * inverse * weight + bias``, the mean (or 0), and 1 / the deviation."""
    rows, n = x.shape
    for i in range(rows):
        row, out = x[i], y[i]
        m = float32(total_of(row) / n) if centered else ZERO
        r = one_over_root(float32(squares_of(row, m) / n) + eps)
        mean[i] = m
        inverse[i] = r
        for j in range(n):
            out[j] = (row[j] - m) * r * weight[j] + bias[j]


COST = 7  # per number, in units of about 0.1 ns


@shared("g x mean inverse dx", sums="by_weight by_bias", cost=COST)
def row_norm_back(
    g: Array, x: Array, weight: Array, mean: Array, inverse: Array, centered: bool,
    dx: Array, by_weight: Array, by_bias: Array,
) -> None:  # fmt: skip
    """Write the gradients of ``x``, ``weight`` and ``bias``.

    With ``h = (x - mean) * inverse``, ``u = g * weight`` and averages ``<>`` over the row, they are
    ``inverse * (u - <u> - h <u h>)`` (without ``<u>`` unless centered), and the sums over rows of
    ``g * h`` and of ``g``.
    """
    rows, n = x.shape
    share = ONE / float32(n)
    by_weight[:] = ZERO
    by_bias[:] = ZERO
    for i in range(rows):
        m, r = mean[i] if centered else ZERO, inverse[i]
        row, slope, out = x[i], g[i], dx[i]
        totals, products = float64(0), float64(0)
        for start in range(0, n, PART):
            some, steep, factor = row[start : start + PART], slope[start:], weight[start:]
            weighted, added, total, product = by_weight[start:], by_bias[start:], ZERO, ZERO
            for j in range(some.size):
                h = (some[j] - m) * r
                gh = steep[j] * h
                weighted[j] += gh
                added[j] += steep[j]
                total += steep[j] * factor[j]
                product += gh * factor[j]
            totals += float64(total)
            products += float64(product)
        total = float32(totals) * share if centered else ZERO
        product = float32(products) * share
        for j in range(n):
            h = (row[j] - m) * r
            out[j] = r * (slope[j] * weight[j] - total - h * product)
