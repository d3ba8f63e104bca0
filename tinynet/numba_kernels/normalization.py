"""Batch, group and instance norm.

Arrays are ``[rows, places]``: a row for each channel of each sample. Groups of rows share a mean
and a variance: group u has rows ``u * first + k * apart`` for ``k < count``; a group is read and
written while it is cached. Weights and biases are ``[channels]``; row i uses ``i % channels``.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, float64

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import ONE, ZERO, one_over_root
from tinynet.numba_kernels.rows import product_of, squares_of, total_of
from tinynet.numba_kernels.shared import shared


@shared(span="low high", numbers="(high - low) * count * x.shape[1]", cost=4)
def normalized(
    x: Array, weight: Array, bias: Array, eps: float32,
    low: int, high: int, first: int, apart: int, count: int,
    y: Array, means: Array, variances: Array,
) -> None:  # fmt: skip
    """Write ``(x - mean) / sqrt(var + eps) * weight + bias``, mean and variance of some groups.

    Sums over a group are float64; squares are centered, corrected for the mean's rounding error.
    """
    n, channels = x.shape[1], weight.size
    share = 1 / (float64(n) * count)
    for u in range(low, high):
        total, squares = float64(0), float64(0)
        for k in range(count):
            total += total_of(x[u * first + k * apart])
        mean = float32(total * share)
        rest = total * share - mean
        for k in range(count):
            squares += squares_of(x[u * first + k * apart], mean)
        var = float32(squares * share - rest * rest)
        var = ZERO if var < ZERO else var
        means[u] = mean
        variances[u] = var
        inverse = one_over_root(var + eps)
        for k in range(count):
            i = u * first + k * apart
            row, out = x[i], y[i]
            factor, offset = inverse * weight[i % channels], bias[i % channels]
            for j in range(n):
                out[j] = (row[j] - mean) * factor + offset


@shared(span="low high", numbers="(high - low) * count * x.shape[1]", cost=5)
def normalized_back(
    g: Array, x: Array, weight: Array, means: Array, variances: Array, eps: float32,
    low: int, high: int, first: int, apart: int, count: int,
    dx: Array, by_weight: Array, by_bias: Array,
) -> None:  # fmt: skip
    """Write the gradients of x, and, per row, of weight and bias, for some groups.

    With ``h = (x - mean) * inverse`` they are ``inverse * (g w - <g w> - h <g w h>)`` for averages
    ``<>`` over the group, and the sums of ``g * h`` and ``g``.
    """
    n, channels = x.shape[1], weight.size
    share = 1 / (float64(n) * count)
    for u in range(low, high):
        mean, inverse = means[u], one_over_root(variances[u] + eps)
        average, slope = float64(0), float64(0)
        for k in range(count):
            i = u * first + k * apart
            total, product = total_of(g[i]), product_of(g[i], x[i], mean) * inverse
            by_weight[i] = float32(product)
            by_bias[i] = float32(total)
            average += total * weight[i % channels]
            slope += product * weight[i % channels]
        rest = -inverse * float32(average * share)
        by_place = -inverse * inverse * float32(slope * share)
        for k in range(count):
            i = u * first + k * apart
            row, grad, out = x[i], g[i], dx[i]
            factor = inverse * weight[i % channels]
            for j in range(n):
                out[j] = grad[j] * factor + (row[j] - mean) * by_place + rest


@shared(span="low high", numbers="x.size", cost=2)
def scaled(
    x: Array, middle: Array, factor: Array, offset: Array, low: int, high: int, y: Array
) -> None:
    """Write ``(x - middle) * factor + offset`` for some samples; parameters are ``[channels]``."""
    channels, n = middle.size, x.shape[1]
    for i in range(low * channels, high * channels):
        row, out, c = x[i], y[i], i % channels
        m, f, b = middle[c], factor[c], offset[c]
        for j in range(n):
            out[j] = (row[j] - m) * f + b


# ---- one element per channel --------------------------------------------------------------------


@shared(span="start stop", numbers="x.size", cost=5)
def columns_normalized(
    x: Array, weight: Array, bias: Array, eps: float32, start: int, stop: int,
    y: Array, means: Array, variances: Array,
) -> None:  # fmt: skip
    """Write the results of ``normalized``, for some columns of ``[samples, channels]``.

    If the sum of deviations from the mean is not 0, it corrects the mean.
    """
    rows = x.shape[0]
    w, b, m, v = weight[start:stop], bias[start:stop], means[start:stop], variances[start:stop]
    n, share, factor = stop - start, ONE / float32(rows), np.empty(stop - start, np.float32)
    rest, m[:], v[:] = np.zeros(n, np.float32), ZERO, ZERO
    for i in range(rows):
        row = x[i, start:stop]
        for j in range(n):
            m[j] += row[j]
    for j in range(n):
        m[j] *= share
    for i in range(rows):
        row = x[i, start:stop]
        for j in range(n):
            d = row[j] - m[j]
            rest[j] += d
            v[j] += d * d
    for j in range(n):
        m[j] += rest[j] * share
        found = v[j] * share - rest[j] * share * rest[j] * share
        v[j] = ZERO if found < ZERO else found
        factor[j] = one_over_root(v[j] + eps) * w[j]
    for i in range(rows):
        row, out = x[i, start:stop], y[i, start:stop]
        for j in range(n):
            out[j] = (row[j] - m[j]) * factor[j] + b[j]


@shared(span="start stop", numbers="x.size", cost=5)
def columns_normalized_back(
    g: Array, x: Array, weight: Array, means: Array, variances: Array, eps: float32,
    start: int, stop: int, dx: Array, by_weight: Array, by_bias: Array,
) -> None:  # fmt: skip
    """Write the results of ``normalized_back``, for some columns, and the sums of all samples."""
    rows = x.shape[0]
    n, share, m = stop - start, ONE / float32(rows), means[start:stop]
    products, totals = by_weight[start:stop], by_bias[start:stop]
    factor, by_place = np.empty(n, np.float32), np.empty(n, np.float32)
    products[:] = ZERO
    totals[:] = ZERO
    for i in range(rows):
        row, grad = x[i, start:stop], g[i, start:stop]
        for j in range(n):
            totals[j] += grad[j]
            products[j] += grad[j] * (row[j] - m[j])
    for j in range(n):
        inverse = one_over_root(variances[start + j] + eps)
        products[j] *= inverse
        factor[j] = inverse * weight[start + j]
        by_place[j] = inverse * products[j] * share
    for i in range(rows):
        row, grad, out = x[i, start:stop], g[i, start:stop], dx[i, start:stop]
        for j in range(n):
            out[j] = factor[j] * (grad[j] - totals[j] * share - (row[j] - m[j]) * by_place[j])
