"""Rows of numbers that are normalised, each by itself: one row at a time, while it is in the cache.

Arrays are ``[rows, n]``; weights and biases ``[n]``; what belongs to a row ``[rows]``.
"""

from __future__ import annotations

from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import ONE, ZERO, one_over_root
from tinynet.numba_kernels.shared import shared


@shared("x y mean inverse", cost=4)
def row_norm(
    x: Array, weight: Array, bias: Array, eps: float32, centered: bool,
    y: Array, mean: Array, inverse: Array,
) -> None:  # fmt: skip
    """Write ``(x - mean) * inverse * weight + bias``, the mean or 0, and 1 / the deviation."""
    rows, n = x.shape
    share = ONE / float32(n)
    for i in range(rows):
        row, out = x[i], y[i]
        m, square = ZERO, ZERO
        if centered:
            for j in range(n):
                m += row[j]
            m *= share
        for j in range(n):
            square += (row[j] - m) * (row[j] - m)
        r = one_over_root(square * share + eps)
        mean[i] = m
        inverse[i] = r
        for j in range(n):
            out[j] = (row[j] - m) * r * weight[j] + bias[j]


COST = 7  # of a number, in about 0.1 ns


@shared("g x mean inverse dx", sums="by_weight by_bias", cost=COST)
def row_norm_back(
    g: Array, x: Array, weight: Array, mean: Array, inverse: Array, centered: bool,
    dx: Array, by_weight: Array, by_bias: Array,
) -> None:  # fmt: skip
    """Write the gradients by ``x``, ``weight`` and ``bias``.

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
        total, product = ZERO, ZERO
        for j in range(n):
            h = (row[j] - m) * r
            gh = slope[j] * h
            by_weight[j] += gh
            by_bias[j] += slope[j]
            total += slope[j] * weight[j]
            product += gh * weight[j]
        total = total * share if centered else ZERO
        product *= share
        for j in range(n):
            h = (row[j] - m) * r
            out[j] = r * (slope[j] * weight[j] - total - h * product)
