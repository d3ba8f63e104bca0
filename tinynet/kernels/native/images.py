"""Images ``[batch, channels, height, width]``: batch norm, max pooling, sums by channel.

Norms and sums take ``[batch, channels, places]``, pooling takes planes. Means and variances are
float64, all other numbers float32. Sums over places are float32, sums of these are float64.
"""

from __future__ import annotations

import math

from numpy import float32, float64, uint8

from tinynet.dtypes import Array
from tinynet.kernels.llvm.memory import shared

ZERO = float32(0)


def batch_norm(
    x: Array, weight: Array, bias: Array, eps: float, y: Array, mean: Array, var: Array
) -> None:
    """Normalize each channel of ``[batch, channels, places]`` by its mean and variance."""
    batch, channels, places = x.shape
    for c in shared(channels, x.size):
        total, squares = float64(0), float64(0)
        for i in range(batch):
            part = ZERO
            for j in range(places):
                part += x[i, c, j]
            total += part
        exact = total / (batch * places)
        m = float32(exact)
        rest = exact - float64(m)
        for i in range(batch):
            part = ZERO
            for j in range(places):
                part += (x[i, c, j] - m) * (x[i, c, j] - m)
            squares += part
        mean[c], var[c] = exact, max(squares / (batch * places) - rest * rest, 0.0)
        scale = weight[c] / math.sqrt(var[c] + eps)
        factor, offset = float32(scale), float32(bias[c] - rest * scale)
        for i in range(batch):
            for j in range(places):
                y[i, c, j] = (x[i, c, j] - m) * factor + offset


def batch_norm_slope(
    g: Array, x: Array, weight: Array, mean: Array, var: Array, eps: float, dx: Array,
    of_weight: Array, of_bias: Array,
) -> None:  # fmt: skip
    """Write the gradients of ``batch_norm`` by the input, the weight and the bias."""
    batch, channels, places = x.shape
    for c in shared(channels, x.size):
        m, r = float32(mean[c]), 1 / math.sqrt(var[c] + eps)
        rest = mean[c] - float64(m)
        total, product = float64(0), float64(0)
        for i in range(batch):
            part, other = ZERO, ZERO
            for j in range(places):
                part += g[i, c, j]
                other += g[i, c, j] * (x[i, c, j] - m)
            total += part
            product += other
        product -= rest * total
        of_weight[c], of_bias[c] = product * r, total
        scale = weight[c] * r
        inner = scale * r * r * product / (batch * places)
        factor, slope = float32(scale), float32(inner)
        offset = float32(inner * rest - scale * total / (batch * places))
        for i in range(batch):
            for j in range(places):
                dx[i, c, j] = factor * g[i, c, j] - slope * (x[i, c, j] - m) + offset


def channel_sums(g: Array, out: Array) -> None:
    """Sum ``[batch, channels, places]`` over all but the channels."""
    batch, channels, places = g.shape
    for c in shared(channels, g.size):
        total = float64(0)
        for i in range(batch):
            part = ZERO
            for j in range(places):
                part += g[i, c, j]
            total += part
        out[c] = total


def max_pool(x: Array, best: Array, offsets: Array) -> None:
    """Write the maximum of each 2 by 2 window of planes, and its offset; the last NaN wins."""
    for p in shared(best.shape[0], x.size):
        for i in range(best.shape[1]):
            for j in range(best.shape[2]):
                top, at = x[p, 2 * i, 2 * j], uint8(0)
                for k in range(1, 4):
                    other = x[p, 2 * i + k // 2, 2 * j + k % 2]
                    wins = other > top or other != other
                    top, at = (other, uint8(k)) if wins else (top, at)
                best[p, i, j], offsets[p, i, j] = top, at


def max_pool_slope(g: Array, offsets: Array, out: Array) -> None:
    """Write each gradient at the offset of its window, and 0 elsewhere."""
    height, width = g.shape[1], g.shape[2]
    for p in shared(g.shape[0], out.size):
        if out.shape[1] > 2 * height or out.shape[2] > 2 * width:
            out[p] = 0
        for i in range(height):
            for j in range(width):
                slope, at = g[p, i, j], offsets[p, i, j]
                out[p, 2 * i, 2 * j] = slope if at == 0 else ZERO
                out[p, 2 * i, 2 * j + 1] = slope if at == 1 else ZERO
                out[p, 2 * i + 1, 2 * j] = slope if at == 2 else ZERO
                out[p, 2 * i + 1, 2 * j + 1] = slope if at == 3 else ZERO
