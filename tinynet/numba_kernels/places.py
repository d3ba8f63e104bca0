"""Batch, group and instance norm.

Arrays are ``[rows, places]``: a row for each channel of each sample. Some rows share their mean and
variance: group u has rows ``u * first + k * apart`` for ``k < count``; it is read, and written
while it is in the cache. Weights and biases are ``[channels]``, row i has number ``i % channels``.
"""

from __future__ import annotations

from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import ONE, ZERO, one_over_root


def normalized(
    x: Array, weight: Array, bias: Array, eps: float32,
    groups: tuple[int, int], first: int, apart: int, count: int,
    y: Array, means: Array, variances: Array,
) -> None:  # fmt: skip
    """Write ``(x - mean) / sqrt(var + eps) * weight + bias``, mean and variance, of some groups.

    A row's squares are about its own mean, and moved to that of all so far (Chan, Golub and
    LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979).
    """
    n, channels = x.shape[1], weight.size
    share = ONE / float32(n)
    for u in range(groups[0], groups[1]):
        mean, squares = ZERO, ZERO
        for k in range(count):
            row = x[u * first + k * apart]
            total, square = ZERO, ZERO
            for j in range(n):
                total += row[j]
            m = total * share
            for j in range(n):
                square += (row[j] - m) * (row[j] - m)
            part = ONE / float32(k + 1)
            squares += square + (m - mean) * (m - mean) * (float32(n) * float32(k) * part)
            mean += (m - mean) * part
        var = squares / (float32(n) * float32(count))
        means[u] = mean
        variances[u] = var
        inverse = one_over_root(var + eps)
        for k in range(count):
            i = u * first + k * apart
            row, out = x[i], y[i]
            factor, offset = inverse * weight[i % channels], bias[i % channels]
            for j in range(n):
                out[j] = (row[j] - mean) * factor + offset


def normalized_back(
    g: Array, x: Array, weight: Array, means: Array, variances: Array, eps: float32,
    groups: tuple[int, int], first: int, apart: int, count: int,
    dx: Array, by_weight: Array, by_bias: Array,
) -> None:  # fmt: skip
    """Write the gradients by x, and, of each row, by weight and bias, of some groups.

    With ``h = (x - mean) * inverse`` they are ``inverse * (g w - <g w> - h <g w h>)`` for averages
    ``<>`` over the group, and the sums of ``g * h`` and ``g``.
    """
    n, channels = x.shape[1], weight.size
    share = ONE / (float32(n) * float32(count))
    for u in range(groups[0], groups[1]):
        mean, inverse = means[u], one_over_root(variances[u] + eps)
        average, slope = ZERO, ZERO
        for k in range(count):
            i = u * first + k * apart
            row, grad, total, product = x[i], g[i], ZERO, ZERO
            for j in range(n):
                total += grad[j]
                product += grad[j] * (row[j] - mean)
            product *= inverse
            by_weight[i] = product
            by_bias[i] = total
            average += total * weight[i % channels]
            slope += product * weight[i % channels]
        rest, by_place = -inverse * average * share, -inverse * inverse * slope * share
        for k in range(count):
            i = u * first + k * apart
            row, grad, out = x[i], g[i], dx[i]
            factor = inverse * weight[i % channels]
            for j in range(n):
                out[j] = grad[j] * factor + (row[j] - mean) * by_place + rest


def scaled(x: Array, middle: Array, factor: Array, offset: Array, y: Array) -> None:
    """Write ``(x - middle) * factor + offset``, each ``[channels]``."""
    rows, n = x.shape
    for i in range(rows):
        row, out, c = x[i], y[i], i % middle.size
        m, f, b = middle[c], factor[c], offset[c]
        for j in range(n):
            out[j] = (row[j] - m) * f + b
