"""Images whose channels are the last dimension, ``[batch, height, width, channels]``.

Norms and sums take an image as rows of several places, ``[rows, places * channels]``: LLVM
vectorizes the inner loop, so it should be long. Means and variances are float64, all other numbers
float32. Sums over 16 rows are float32, sums of these are float64. Threads share parts of the rows,
whose number follows from the shapes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import float32, float64, uint8

from tinynet.dtypes import Array
from tinynet.kernels.llvm.memory import shared

ZERO, ROWS, PARTS = float32(0), 16, 16


def from_first(x: Array, out: Array) -> None:
    """Copy ``[batch, channels, places]`` to ``[batch, places, channels]``."""
    batch, channels, places = x.shape
    for i in shared(batch, x.size):
        for start in range(0, places, ROWS):
            for c in range(channels):
                for p in range(start, min(start + ROWS, places)):
                    out[i, p, c] = x[i, c, p]


def to_first(x: Array, out: Array) -> None:
    """Copy ``[batch, places, channels]`` to ``[batch, channels, places]``."""
    batch, places, channels = x.shape
    for i in shared(batch, x.size):
        for start in range(0, places, ROWS):
            for c in range(channels):
                for p in range(start, min(start + ROWS, places)):
                    out[i, c, p] = x[i, p, c]


# ---- sums ---------------------------------------------------------------------------------------


def rows_of_part(rows: int) -> int:
    """Return how many rows a part has, a multiple of ``ROWS``; there are ``PARTS`` at most."""
    return ROWS * ((rows + PARTS * ROWS - 1) // (PARTS * ROWS))


def folded(totals: Array, c: int, channels: int) -> float64:
    """Return the sum of the columns of a channel."""
    total = float64(0)
    for j in range(c, totals.size, channels):
        total += totals[j]
    return total


def add_parts(parts: Array, sums: Array) -> None:
    """Write the sums of parts, ``[sums, parts, columns]``."""
    for k in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[k, j] = 0.0
        for p in range(parts.shape[1]):
            for j in range(sums.shape[1]):
                sums[k, j] += parts[k, p, j]


def channel_sums(g: Array, out: Array) -> None:
    """Sum rows over all but the channels."""
    rows, width = g.shape
    length = rows_of_part(rows)
    count = (rows + length - 1) // length
    parts, totals = np.empty((count, width), np.float32), np.zeros((1, count, width))
    sums = np.empty((1, width))
    for p in shared(count, g.size):
        part, total = parts[p], totals[0, p]
        for start in range(p * length, min(p * length + length, rows), ROWS):
            part[:] = ZERO
            for i in range(start, min(start + ROWS, rows)):
                for j in range(width):
                    part[j] += g[i, j]
            for j in range(width):
                total[j] += part[j]
    add_parts(totals, sums)
    for c in range(out.size):
        out[c] = folded(sums[0], c, out.size)


def plane_means(x: Array, out: Array) -> None:
    """Average ``[batch, places, channels]`` over the places, to ``[batch, channels]``."""
    batch, places, channels = x.shape
    totals = np.zeros((batch, channels))
    for i in shared(batch, x.size):
        for p in range(places):
            for c in range(channels):
                totals[i, c] += x[i, p, c]
        for c in range(channels):
            out[i, c] = totals[i, c] / places


def plane_means_slope(g: Array, out: Array) -> None:
    """Write ``g / places`` to each place."""
    batch, places, channels = out.shape
    n = float32(places)
    for i in shared(batch, out.size):
        for p in range(places):
            for c in range(channels):
                out[i, p, c] = g[i, c] / n


# ---- batch norm ---------------------------------------------------------------------------------


def batch_norm(
    x: Array, weight: Array, bias: Array, eps: float, floor: float32, y: Array, mean: Array,
    var: Array,
) -> None:  # fmt: skip
    """Normalize each channel of rows by its mean and variance; results are ``floor`` at least.

    The sums are of ``x`` less the mean of its first rows, in one pass over memory. Where that is
    far from the mean of all, another pass adds up ``x`` less the latter.
    """
    rows, width = x.shape
    middle, sums, first = np.zeros(width, np.float32), np.empty((2, width)), x[:ROWS]
    add_up(first, middle, sums)
    settle(sums, len(first), middle, mean, var)
    for _ in range(2):
        add_up(x, middle, sums)
        if settle(sums, rows, middle, mean, var):
            break
    line = np.empty((2, width), np.float32)
    straight(weight, bias, eps, mean, var, middle, line)
    factor, offset = line[0], line[1]
    for i in shared(rows, x.size):
        for j in range(width):
            normal = (x[i, j] - middle[j]) * factor[j] + offset[j]
            y[i, j] = normal if (normal > floor or normal != normal) else floor


def batch_scale(
    x: Array, mean: Array, var: Array, weight: Array, bias: Array, eps: float, y: Array
) -> None:
    """Normalize each channel of rows by a given mean and variance."""
    rows, width = x.shape
    line = np.empty((2, width), np.float32)
    straight(weight, bias, eps, mean, var, np.zeros(width, np.float32), line)
    factor, offset = line[0], line[1]
    for i in shared(rows, x.size):
        for j in range(width):
            y[i, j] = x[i, j] * factor[j] + offset[j]


def add_up(x: Array, middle: Array, sums: Array) -> None:
    """Write sums of rows less the middle, and of their squares, ``[2, columns]``."""
    rows, width = x.shape
    length = rows_of_part(rows)
    count = (rows + length - 1) // length
    parts, totals = np.empty((2, count, width), np.float32), np.zeros((2, count, width))
    for p in shared(count, x.size):
        part, other = parts[0, p], parts[1, p]
        for start in range(p * length, min(p * length + length, rows), ROWS):
            part[:] = ZERO
            other[:] = ZERO
            for i in range(start, min(start + ROWS, rows)):
                for j in range(width):
                    centered = x[i, j] - middle[j]
                    part[j] += centered
                    other[j] += centered * centered
            for j in range(width):
                totals[0, p, j] += part[j]
                totals[1, p, j] += other[j]
    add_parts(totals, sums)


def settle(sums: Array, rows: int, middle: Array, mean: Array, var: Array) -> bool:
    """Compute mean and variance from sums; the middle becomes the mean, rounded.

    Return whether it was near: the variance has lost no more than a bit.
    """
    channels = mean.size
    count, is_near = rows * (middle.size // channels), True
    for c in range(channels):
        shift = folded(sums[0], c, channels) / count
        mean[c] = middle[c] + shift
        var[c] = max(folded(sums[1], c, channels) / count - shift * shift, 0.0)
        is_near = is_near and shift * shift <= var[c]
        for j in range(c, middle.size, channels):
            middle[j] = mean[c]
    return is_near


def straight(
    weight: Array, bias: Array, eps: float, mean: Array, var: Array, middle: Array, line: Array
) -> None:
    """Write factor and offset of each column to ``line``."""
    for c in range(mean.size):
        scale = weight[c] / math.sqrt(var[c] + eps)
        offset = bias[c] - (mean[c] - float64(middle[c])) * scale
        for j in range(c, middle.size, mean.size):
            line[0, j], line[1, j] = scale, offset


def batch_norm_slope(
    g: Array, x: Array, weight: Array, bias: Array, mean: Array, var: Array, eps: float, relu: bool,
    dx: Array, of_weight: Array, of_bias: Array,
) -> None:  # fmt: skip
    """Write the gradients of ``batch_norm`` by the input, the weight and the bias.

    ``relu`` says that the floor was 0, below which there is no slope; otherwise there was none.
    """
    rows, width = x.shape
    channels = mean.size
    middle, lines = np.empty(width, np.float32), np.empty((4, width), np.float32)
    for j in range(width):
        middle[j] = mean[j % channels]
    straight(weight, bias, eps, mean, var, middle, lines)
    sums, count = np.empty((2, width)), rows * (width // channels)
    add_up_slopes(g, x, middle, lines, relu, sums)
    for c in range(channels):
        r, rest = 1 / math.sqrt(var[c] + eps), mean[c] - float64(middle[c])
        total, scale = folded(sums[0], c, channels), weight[c] * r
        product = folded(sums[1], c, channels) - rest * total
        of_weight[c], of_bias[c] = product * r, total
        inner = scale * r * r * product / count
        for j in range(c, width, channels):
            lines[2, j], lines[3, j] = inner, inner * rest - scale * total / count
    factor, offset, inner_of, constant = lines[0], lines[1], lines[2], lines[3]
    for i in shared(rows, x.size):
        for j in range(width):
            centered = x[i, j] - middle[j]
            normal = centered * factor[j] + offset[j]
            slope = g[i, j]
            slope = slope if (not relu or normal > ZERO or normal != normal) else ZERO
            dx[i, j] = factor[j] * slope - inner_of[j] * centered + constant[j]


def add_up_slopes(g: Array, x: Array, middle: Array, lines: Array, relu: bool, sums: Array) -> None:
    """Write sums of slopes, and of their products with ``x`` less the middle, as ``add_up``."""
    rows, width = x.shape
    length = rows_of_part(rows)
    count = (rows + length - 1) // length
    parts, totals = np.empty((2, count, width), np.float32), np.zeros((2, count, width))
    factor, offset = lines[0], lines[1]
    for p in shared(count, x.size):
        part, other = parts[0, p], parts[1, p]
        for start in range(p * length, min(p * length + length, rows), ROWS):
            part[:] = ZERO
            other[:] = ZERO
            for i in range(start, min(start + ROWS, rows)):
                for j in range(width):
                    centered = x[i, j] - middle[j]
                    normal = centered * factor[j] + offset[j]
                    slope = g[i, j]
                    slope = slope if (not relu or normal > ZERO or normal != normal) else ZERO
                    part[j] += slope
                    other[j] += slope * centered
            for j in range(width):
                totals[0, p, j] += part[j]
                totals[1, p, j] += other[j]
    add_parts(totals, sums)


# ---- max pooling --------------------------------------------------------------------------------


def max_pool(x: Array, best: Array, offsets: Array) -> None:
    """Write the maximum of each 2 by 2 window, and its offset; the last NaN wins."""
    for i in shared(best.shape[0], x.size):
        for a in range(best.shape[1]):
            for b in range(best.shape[2]):
                for c in range(best.shape[3]):
                    top, at = x[i, 2 * a, 2 * b, c], uint8(0)
                    for k in range(1, 4):
                        other = x[i, 2 * a + k // 2, 2 * b + k % 2, c]
                        wins = other > top or other != other
                        top, at = (other, uint8(k)) if wins else (top, at)
                    best[i, a, b, c], offsets[i, a, b, c] = top, at


def max_pool_slope(g: Array, offsets: Array, out: Array) -> None:
    """Write each gradient at the offset of its window, and 0 elsewhere."""
    batch, height, width, channels = g.shape
    for i in shared(batch, out.size):
        if out.shape[1] > 2 * height or out.shape[2] > 2 * width:
            out[i] = ZERO
        for a in range(height):
            for b in range(width):
                for c in range(channels):
                    slope, at = g[i, a, b, c], offsets[i, a, b, c]
                    out[i, 2 * a, 2 * b, c] = slope if at == 0 else ZERO
                    out[i, 2 * a, 2 * b + 1, c] = slope if at == 1 else ZERO
                    out[i, 2 * a + 1, 2 * b, c] = slope if at == 2 else ZERO
                    out[i, 2 * a + 1, 2 * b + 1, c] = slope if at == 3 else ZERO
