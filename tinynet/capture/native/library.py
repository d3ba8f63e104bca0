"""What fused loops call: products, and plain functions for whole kernels."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tinynet.kernels.llvm.elementary import exp, of_rank, rank, tanh
from tinynet.kernels.llvm.memory import empty, line, shared, view
from tinynet.kernels.native import blas, compiler, images, images_last

COLUMNS = 64  # in a part of a sum over rows: threads share the parts
PARTS, ROWS = 16, 64  # the most parts of rows, and the fewest rows of one


@functools.cache
def namespace() -> dict[str, Any]:
    """Return the globals of native functions."""
    compiler.prepare()
    made: dict[str, Any] = {f.__name__: f for f in (*_OF_MEMORY, *_OF_ARRAYS, *_OF_ELEMENTS)}
    made |= image_loops()
    made.update(
        math=math, np=np, exp=exp, tanh=tanh, product=blas.product, NO=blas.NO, YES=blas.YES
    )
    made.update(rank=rank, of_rank=of_rank, float32=np.float32, float64=np.float64)
    return made


def image_loops() -> dict[str, Any]:
    """Return the kernels of images by the names that forms use."""
    made = {name: getattr(images, name) for name in _OF_IMAGES}
    made |= {f"{name}_last": getattr(images_last, name) for name in _OF_IMAGES_LAST}
    made.update(channels_last=images_last.from_first, channels_first=images_last.to_first)
    return made


def larger(a, b):
    """Return numpy's maximum: NaN if one is."""
    return a if (a >= b or a != a) else b


def smaller(a, b):
    """Return numpy's minimum: NaN if one is."""
    return a if (a <= b or a != a) else b


def positive(x, zero):
    """Return relu; ``zero`` is of the dtype of ``x``."""
    return x if (x > 0 or x != x) else zero


def root(x):
    """Return the square root; NaN below zero."""
    return np.sqrt(x)


def log(x):
    """Return the logarithm; NaN below zero, minus infinity at zero."""
    return np.log(x)


def column_sums(g, out):
    """Sum a matrix over its rows."""
    m, n = g.shape
    total = empty((n,), np.float64)
    for block in shared((n + COLUMNS - 1) // COLUMNS, m * n):
        first = block * COLUMNS
        end = min(first + COLUMNS, n)
        for j in range(first, end):
            total[j] = 0.0
        for i in range(m):
            for j in range(first, end):
                total[j] += g[i, j]
        for j in range(first, end):
            out[j] = total[j]


def means(x, out):
    """Average ``[before, length, after]`` over the middle."""
    before, length, after = x.shape
    if after == 1:
        for i in range(before):
            total = 0.0
            for k in range(length):
                total += np.float64(x[i, k, 0])
            out[i, 0] = total / length
        return
    sums = empty((after,), np.float64)
    for i in range(before):
        for j in range(after):
            sums[j] = 0.0
        for k in range(length):
            for j in range(after):
                sums[j] += x[i, k, j]
        for j in range(after):
            out[i, j] = sums[j] / length


def take_rows(table, index, out):
    """Copy rows of a table; return whether all are in the table."""
    for i in range(index.size):
        k = index[i]
        if k < 0 or k >= table.shape[0]:
            return False
        for j in range(table.shape[1]):
            out[i, j] = table[k, j]
    return True


def fill_rows(out, row):
    """Write a vector to each row of a matrix."""
    m, n = out.shape
    for i in shared(m, m * n):
        for j in range(n):
            out[i, j] = row[j]


def layer_norm(x, weight, bias, eps, y, mean, inverse):
    """Normalize each row by its mean and variance."""
    rows, n = x.shape
    zero = x.dtype.type(0)
    for i in shared(rows, 4 * rows * n):
        total = zero
        for j in range(n):
            total += x[i, j]
        m, spread = total / x.dtype.type(n), zero
        for j in range(n):
            spread += (x[i, j] - m) * (x[i, j] - m)
        r = x.dtype.type(1) / np.sqrt(spread / x.dtype.type(n) + eps)
        for j in range(n):
            y[i, j] = (x[i, j] - m) * r * weight[j] + bias[j]
        mean[i, 0], inverse[i, 0] = m, r


def layer_norm_slope(g, x, weight, mean, inverse, dx, of_weight, of_bias):
    """Write the gradients of ``layer_norm`` by the input, the weight and the bias."""
    rows, n = x.shape
    zero, length = x.dtype.type(0), max(ROWS, (rows + PARTS - 1) // PARTS)
    parts = (rows + length - 1) // length
    by_weight, by_bias = empty((parts, n), np.float64), empty((parts, n), np.float64)
    for part in shared(parts, 8 * rows * n):
        for j in range(n):
            by_weight[part, j], by_bias[part, j] = 0.0, 0.0
        for i in range(part * length, min(part * length + length, rows)):
            m, r = mean[i, 0], inverse[i, 0]
            inner, outer = zero, zero
            for j in range(n):
                normal, slope = (x[i, j] - m) * r, g[i, j] * weight[j]
                inner += slope * normal
                outer += slope
                by_weight[part, j] += g[i, j] * normal
                by_bias[part, j] += g[i, j]
            inner, outer = inner / x.dtype.type(n), outer / x.dtype.type(n)
            for j in range(n):
                normal = (x[i, j] - m) * r
                dx[i, j] = r * (g[i, j] * weight[j] - outer - normal * inner)
    column_sums(by_weight, of_weight)
    column_sums(by_bias, of_bias)


def cross_entropy(logits, target, powers, totals):
    """Return the sum of the losses of rows; NaN totals and -1 mark a target out of range."""
    m, n = logits.shape
    loss, losses = 0.0, empty((m,), np.float64)
    for i in range(m):
        if target[i] < 0 or target[i] >= n:
            return loss, False
    for i in shared(m, 8 * m * n):
        top = rank(logits[i, 0])
        for j in range(1, n):
            this = rank(logits[i, j])
            top = this if this > top else top
        high, total = of_rank(top), logits.dtype.type(0)
        for j in range(n):
            power = exp(logits[i, j] - high)
            powers[i, j] = power
            total += power
        totals[i] = total
        one = math.log(np.float64(total)) - (np.float64(logits[i, target[i]]) - high)
        losses[i] = 0.0 if one < 0.0 else one
    for i in range(m):
        loss += losses[i]
    return loss, True


def cross_entropy_slope(g, target, powers, totals, out):
    """Write ``(softmax - one_hot) * g``."""
    m, n = powers.shape
    for i in shared(m, m * n):
        factor = g / totals[i]
        for j in range(n):
            out[i, j] = powers[i, j] * factor
        out[i, target[i]] -= g


_OF_MEMORY = empty, line, shared, view
_OF_ELEMENTS = larger, smaller, positive, root, log
_OF_ARRAYS = (
    column_sums, cross_entropy, cross_entropy_slope, fill_rows, layer_norm, layer_norm_slope,
    means, take_rows,
)  # fmt: skip
_OF_IMAGES = "batch_norm", "batch_norm_slope", "channel_sums", "max_pool", "max_pool_slope"
_OF_IMAGES_LAST = *_OF_IMAGES, "batch_scale", "plane_means", "plane_means_slope"
