"""Convolutions whose kernel has length 3 along the first dimension, with half the products.

Four neighbouring results of such a convolution take 12 products; 6 are enough, of sums of the six
elements that they see and of sums of the three weights (Winograd, "Arithmetic Complexity of
Computations", 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016):

    results = RESULTS @ ((WEIGHTS @ weights) * (ELEMENTS @ elements))

Along the other dimensions and over the channels everything stays as it was: the ``*`` is a product
of matrices, with the columns of ``sliding``. The sums cost little where there are many channels.
They also cost two to three of float32's 24 bits (four or five if two dimensions were treated so),
and spread an infinity to its whole tile. So float64, where one wants all bits, is not treated so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tinynet.dtypes import Array
from tinynet.nn.functional.sliding import BLOCK, OFFSET, Walk, copied, sliding

# Polynomials are multiplied by their values at the points 0, 1, -1, 2, -2 and infinity.
ELEMENTS = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ]
)
WEIGHTS = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
RESULTS = np.array(
    [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]
)
POINTS, TILE = 6, 4


def pays(x: Array, channels: int, walk: Walk, groups: int) -> bool:
    """Return whether a convolution of ``x`` to a number of channels is faster this way.

    As measured: not with few channels or small images, where the sums cost more than they save, nor
    with images so large that the columns of one alone leave the cache.
    """
    columns = x.shape[1] * math.prod(walk.kernel[1:]) * math.prod(walk.out) * POINTS // TILE
    return (
        (walk.kernel[0], walk.stride[0], walk.dilation[0], groups) == (3, 1, 1, 1)
        and x.dtype == np.float32
        and min(x.shape[1], channels) >= 32
        and math.prod(walk.out) >= 64
        and TILE * _tiles(walk) <= 1.15 * walk.out[0]
        and columns * x.itemsize <= 4 * BLOCK
    )


def _tiles(walk: Walk) -> int:
    """Return how many groups of four results there are along the first dimension."""
    return -(-walk.out[0] // TILE)


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    made = np.empty((len(x), len(weight), *walk.out), x.dtype)
    matrix = np.tensordot(WEIGHTS.astype(x.dtype), weight, (1, 2))
    matrix = matrix.reshape(POINTS, len(weight), -1)
    for part, columns in _columns(x, walk):
        products = np.matmul(matrix, columns).reshape(POINTS, -1)
        results = np.dot(RESULTS.astype(x.dtype), products)
        results = results.reshape(TILE, len(weight), -1, _tiles(walk), *walk.out[1:])
        block = made[part]
        for row in range(TILE):
            places = block[:, :, row::TILE]
            np.copyto(places, results[row, :, :, : places.shape[2]].swapaxes(0, 1))
        if bias is not None:
            block += bias.reshape(-1, *(1,) * len(walk.out))
    return made


def correlated(x: Array, y: Array, walk: Walk) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    total = np.zeros((POINTS, x.shape[1] * math.prod(walk.kernel[1:]), y.shape[1]), x.dtype)
    for part, columns in _columns(x, walk):
        block = y[part].swapaxes(0, 1)
        rows = np.zeros((TILE, *block.shape[:2], _tiles(walk), *walk.out[1:]), x.dtype)
        for row in range(TILE):
            places = block[:, :, row::TILE]
            rows[row, :, :, : places.shape[2]] = places
        sums = np.dot(RESULTS.T.astype(x.dtype), rows.reshape(TILE, -1))
        total += np.matmul(columns, sums.reshape(POINTS, y.shape[1], -1).swapaxes(1, 2))
    weight = np.tensordot(WEIGHTS.astype(x.dtype), total, (0, 0))
    weight = weight.reshape(3, x.shape[1], *walk.kernel[1:], y.shape[1])
    return np.ascontiguousarray(np.moveaxis(weight, -1, 0).swapaxes(1, 2))


def _columns(x: Array, walk: Walk) -> Iterator[tuple[slice, Array]]:
    """Yield parts of the batch, and the columns of the sums of their elements.

    The columns are ``[points, channels * kernel, batch * tiles * windows]``, where kernel and
    windows are those of the dimensions but the first.
    """
    size, padding, tiles = x.shape[2:], walk.padding[0], _tiles(walk)
    inner = Walk(
        *((first, *field[1:]) for first, field in zip((1, 1, 0, 1, tiles), walk, strict=True))
    )
    height, length = x.shape[1] * math.prod(inner.kernel), math.prod(inner.out)
    images = max(1, min(len(x), BLOCK // (POINTS * height * length * x.itemsize)))
    buffer = np.empty(height * (POINTS * images * length + OFFSET), x.dtype)
    for start in range(0, len(x), images):
        part = x[start : start + images]
        elements = np.zeros((POINTS, *part.shape[:2], tiles, *size[1:]), x.dtype)
        for row in range(POINTS):  # element `row` of a tile is at TILE * tile + row - padding
            shift = row - padding
            low = max(0, -(shift // TILE))
            high = max(low, min(tiles, (size[0] - 1 - shift) // TILE + 1))
            places = slice(TILE * low + shift, max(TILE * high + shift, 0), TILE)
            elements[row, :, :, low:high] = part[:, :, places][:, :, : high - low]
        sums = np.dot(ELEMENTS.astype(x.dtype), elements.reshape(POINTS, -1))
        sums = sums.reshape(POINTS * len(part), *elements.shape[2:])
        made = copied(sliding(sums, inner), buffer, sums.shape[2:], inner)
        made = made.reshape(height, POINTS, len(part) * length)
        yield slice(start, start + len(part)), made.swapaxes(0, 1)
