"""Convolutions of images, ``[images, channels, height, width]``, in streams.

``winograd`` treats kernels of length 3 along the height, see ``nn.functional.winograd``; ``direct``
all others. The lengths are those of ``convolution_compiled``, which makes the arguments.
"""

from __future__ import annotations

import numpy as np
from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.stream_code import LEFT, RIGHT, ROWS
from tinynet.numba_kernels.polynomials import POINTS, TILE, WEIGHTS
from tinynet.numba_kernels.shared import shared
from tinynet.numba_kernels.streams import (
    against,
    copied,
    doubled,
    elements,
    gradients,
    halved,
    products,
    results,
)  # fmt: skip

ZERO = float32(0)
SUMS = WEIGHTS.astype(np.float32)


def weight_sums(weight: Array, out: Array) -> None:
    """Write the sums of weights, ``[points, blocks, channels * kernel, 8]``.

    The weight is ``[out channels, channels, 3, kernel]``.
    """
    kernel = weight.shape[3]
    for o in range(weight.shape[0]):
        for c in range(weight.shape[1]):
            of_pair = weight[o, c]
            for k in range(kernel):
                a, b, d = of_pair[0, k], of_pair[1, k], of_pair[2, k]
                for p in range(POINTS):
                    total = SUMS[p, 0] * a + SUMS[p, 1] * b + SUMS[p, 2] * d
                    out[p, o // ROWS, c * kernel + k, o % ROWS] = total


def weight_gradients(totals: Array, out: Array) -> None:
    """Write the gradient of the weight from those of its sums in all parts.

    The sums are ``[parts, points, rows / 4, offsets / 6, 32]``.
    """
    kernel = out.shape[3]
    for o in range(out.shape[0]):
        for c in range(out.shape[1]):
            for k in range(kernel):
                j = c * kernel + k
                block, place = j // RIGHT, o % LEFT * RIGHT + j % RIGHT
                first = second = third = ZERO
                for p in range(POINTS):
                    total = ZERO
                    for part in range(totals.shape[0]):
                        total += totals[part, p, o // LEFT, block, place]
                    first += SUMS[p, 0] * total
                    second += SUMS[p, 1] * total
                    third += SUMS[p, 2] * total
                out[o, c, 0, k] = first
                out[o, c, 1, k] = second
                out[o, c, 2, k] = third


def _lay_tiles(
    x: Array, first: int, count: int, top: int, tiles: int, pitch: int, margin: int, step: int,
    stream: Array,
) -> None:  # fmt: skip
    """Write the sums of elements of all tiles of some images, ``[points, channels, step]``."""
    channels, height, width = x.shape[1:]
    flat = x.reshape(-1)
    for c in range(channels):
        for i in range(count):
            for t in range(tiles):
                row = TILE * t - top
                start = (((first + i) * channels + c) * height + row) * width
                at = c * step + margin + (i * tiles + t) * pitch
                elements(
                    flat, start, width, -row, height - row, width, ZERO, stream, at,
                    channels * step, POINTS,
                )  # fmt: skip


@shared("x out", numbers="out.size // out.shape[1] * weights.size // 32", parts="pieces")
def winograd(
    x: Array, weights: Array, bias: Array, out: Array, offsets: Array, top: int, pitch: int,
    margin: int, step: int, images: int, pieces: int,
) -> None:  # fmt: skip
    """Write the convolution to ``[images, out channels, *size]``.

    The weights are ``[points, blocks, offsets, 8]``; ``top`` is the padding above, and ``images``
    how many of them are treated at once. The batch is cut into so many ``pieces``.
    """
    batch, outputs, height, width = out.shape
    blocks, tiles = weights.shape[1], (height + TILE - 1) // TILE
    stream = np.zeros(POINTS * x.shape[1] * step, np.float32)
    made = np.empty(POINTS * blocks * ROWS * step, np.float32)
    flat, target = weights.reshape(-1), out.reshape(-1)
    for first in range(0, batch, images):
        count = min(images, batch - first)
        _lay_tiles(x, first, count, top, tiles, pitch, margin, step, stream)
        for p in range(POINTS):
            products(
                flat, p * blocks * offsets.size * ROWS, stream, p * x.shape[1] * step, offsets,
                made, p * blocks * ROWS * step, step, blocks, count * tiles * pitch,
            )  # fmt: skip
        for o in range(outputs):
            for i in range(count):
                for t in range(tiles):
                    start = o * step + (i * tiles + t) * pitch
                    at = (((first + i) * outputs + o) * height + TILE * t) * width
                    results(
                        made, start, blocks * ROWS * step, 0, POINTS, width, bias[o], target, at,
                        width, height - TILE * t,
                    )  # fmt: skip


@shared("x y", sums="totals", numbers="y.size * offsets.size // 8")
def winograd_weights(
    x: Array, y: Array, totals: Array, offsets: Array, top: int, pitch: int, margin: int,
    step: int, images: int,
) -> None:  # fmt: skip
    """Add the gradients of the sums of weights to ``[points, rows / 4, offsets / 6, 32]``."""
    batch, outputs, height, width = y.shape
    rows, tiles = totals.shape[1] * LEFT, (height + TILE - 1) // TILE
    stream = np.zeros(POINTS * x.shape[1] * step, np.float32)
    other = np.zeros(POINTS * rows * step, np.float32)
    flat, target = y.reshape(-1), totals.reshape(-1)
    for first in range(0, batch, images):
        count = min(images, batch - first)
        _lay_tiles(x, first, count, top, tiles, pitch, margin, step, stream)
        if count < images:
            other[:] = ZERO
        for o in range(outputs):
            for i in range(count):
                for t in range(tiles):
                    start = (((first + i) * outputs + o) * height + TILE * t) * width
                    at = o * step + (i * tiles + t) * pitch
                    against(
                        flat, start, width, 0, height - TILE * t, width, ZERO, other, at,
                        rows * step, POINTS,
                    )  # fmt: skip
        length = (count * tiles * pitch + 15) // 16 * 16
        for p in range(POINTS):
            gradients(
                other, p * rows * step, step, rows, stream, p * x.shape[1] * step, offsets, length,
                target, p * (target.size // POINTS),
            )  # fmt: skip


def _lay(
    x: Array, first: int, count: int, walk: Array, phases: Array, rows: int, pitch: int,
    step: int, stream: Array,
) -> None:  # fmt: skip
    """Write images to ``[channels, phases, step]``, each with ``rows`` rows.

    ``walk`` is the stride and the padding, ``phases`` the first element of each, from the edge.
    """
    channels, height, width = x.shape[1:]
    flat = x.reshape(-1)
    for f in range(phases.shape[0]):
        down, right = phases[f, 0] - walk[2], phases[f, 1] - walk[3]
        low = max(0, -(right // walk[1]))
        high = max(low, min(pitch, (width - 1 - right) // walk[1] + 1))
        for c in range(channels):
            for i in range(count):
                for r in range(rows):
                    row = walk[0] * r + down
                    if row < 0 or row >= height:
                        continue
                    start = (((first + i) * channels + c) * height + row) * width + right
                    at = (c * phases.shape[0] + f) * step + (i * rows + r) * pitch
                    if walk[1] == 1:
                        copied(
                            flat, start + low, 0, 0, 1, high - low, ZERO, stream, at + low, 0, 1
                        )  # fmt: skip
                    elif walk[1] == 2:
                        halved(flat, start + 2 * low, high - low, stream, at + low)
                    else:
                        for j in range(low, high):
                            stream[at + j] = flat[start + walk[1] * j]


@shared("x out", numbers="out.size // out.shape[1] * weights.size // 8", parts="pieces")
def direct(
    x: Array, weights: Array, bias: Array, out: Array, to: Array, size: Array, offsets: Array,
    walk: Array, phases: Array, rows: int, pitch: int, step: int, images: int, together: int,
    pieces: int,
) -> None:  # fmt: skip
    """Write the convolution, of a given size, to ``[images, out channels, height, width]``.

    ``to`` says where in a channel it begins, and how far it is from row to row and from one number
    to the next. The weights are ``[blocks, offsets, 8]``; so many images are laid at once, and
    ``together`` multiplied. The batch is cut into so many ``pieces``.
    """
    (batch, outputs), (height, width) = out.shape[:2], size
    blocks, target, plane = weights.shape[0], out.reshape(-1), out.shape[2] * out.shape[3]
    stream = np.zeros(x.shape[1] * phases.shape[0] * step, np.float32)
    made = np.empty(blocks * ROWS * step, np.float32)
    flat = weights.reshape(-1)
    for first in range(0, batch, images):
        count = min(images, batch - first)
        _lay(x, first, count, walk, phases, rows, pitch, step, stream)
        for i in range(0, count, together):
            length = (min(together, count - i) - 1) * rows * pitch + (height - 1) * pitch + width
            start = i * rows * pitch
            products(flat, 0, stream, start, offsets, made, start, step, blocks, length)
        for i in range(count):
            for o in range(outputs):
                start = o * step + i * rows * pitch
                at = ((first + i) * outputs + o) * plane + to[0]
                for _ in range(height):
                    if to[2] == 1:
                        copied(
                            made, start, 0, 0, 1, width, bias[o], target, at, 0, 1
                        )  # fmt: skip
                    elif to[2] == 2:
                        doubled(made, start, width, bias[o], target, at)
                    else:
                        for j in range(width):
                            target[at + to[2] * j] = made[start + j] + bias[o]
                    start += pitch
                    at += to[1]


@shared("x y", sums="totals", numbers="y.size * offsets.size // 8")
def direct_weights(
    x: Array, y: Array, totals: Array, offsets: Array, walk: Array, phases: Array, rows: int,
    pitch: int, step: int, images: int,
) -> None:  # fmt: skip
    """Add the gradients of the weights to ``[rows / 4, offsets / 6, 32]``."""
    batch, outputs, height, width = y.shape
    lines = totals.shape[0] * LEFT
    flat, target = y.reshape(-1), totals.reshape(-1)
    stream = np.zeros(x.shape[1] * phases.shape[0] * step, np.float32)
    other = np.zeros(lines * step, np.float32)
    for first in range(0, batch, images):
        count = min(images, batch - first)
        _lay(x, first, count, walk, phases, rows, pitch, step, stream)
        if count < images:
            other[:] = ZERO
        for i in range(count):
            for o in range(outputs):
                start = ((first + i) * outputs + o) * height * width
                at = o * step + i * rows * pitch
                for r in range(height):
                    copied(
                        flat, start + r * width, 0, 0, 1, width, ZERO, other, at + r * pitch, 0, 1
                    )  # fmt: skip
        length = (count - 1) * rows * pitch + (height - 1) * pitch + width  # up to the last window
        length = (length + 15) // 16 * 16
        gradients(other, 0, step, lines, stream, 0, offsets, length, target, 0)
