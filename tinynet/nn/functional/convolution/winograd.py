"""Convolutions whose kernel has length 3 along the first dimension, with half the products.

Four neighbouring results of such a convolution take 12 products; 6 are enough, of sums of the six
elements that they see and of sums of the three weights (Winograd, "Arithmetic Complexity of
Computations", 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016):

    results = RESULTS @ ((WEIGHTS @ weights) * (ELEMENTS @ elements))

Along the other dimension and over the channels everything stays as it was: the ``*`` is a product
of matrices. The sums cost little where there are many channels. They also cost one of float32's 24
bits (more if both dimensions were treated so), and spread an infinity along its whole column. So
float64 is computed without them.

All of it is products of matrices. With the channels as last dimension, the rows of the images are
a stream of places, between them as many zeros as a window reaches over. The sums are a product with
a matrix that knows nothing but rows; and ``kernel`` neighbouring places are already one row of the
matrix that the weights are multiplied with: every ``kernel``-th window, begun at 0, 1, ..., makes a
matrix in the stream itself, and nothing has to be copied.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet import threads
from tinynet.dtypes import Array
from tinynet.nn.functional.convolution.im2col import Walk
from tinynet.nn.functional.convolution.winograd_matrices import (
    ELEMENTS,
    POINTS,
    RESULTS,
    TILE,
    WEIGHTS,
)

BAND = 4  # tiles treated at once: the matrices of sums grow with its square
PARTS = 4  # number of partial sums for gradients of weights


def pays(x: Array, channels: int, walk: Walk, groups: int) -> bool:
    """Return whether a convolution of ``x`` to a number of channels is faster this way.

    As measured: not with few channels or few results, where the sums cost more than they save.
    """
    return (
        (walk.kernel[0], walk.stride[0], walk.dilation[0], groups) == (3, 1, 1, 1)
        and len(walk.out) < 3
        and {*walk.stride[1:], *walk.dilation[1:]} <= {1}
        and x.dtype == np.float32
        and min(x.shape[1], channels) >= 32
        and len(x) * math.prod(walk.out) >= 256
        and TILE * -(-walk.out[0] // TILE) <= 1.15 * walk.out[0]
    )


@functools.lru_cache(maxsize=64)
def _sums(tiles: int, first: int, rows: int, kind: np.dtype[Any]) -> Array:
    """Return the matrix from rows to the sums of their elements, ``[points * tiles, rows]``.

    Tile ``i`` sees the rows from ``TILE * i - first``; those that are not there are 0.
    """
    made = np.zeros((POINTS, tiles, rows), kind)
    for tile in range(tiles):
        for element in range(POINTS):
            if 0 <= (row := TILE * tile + element - first) < rows:
                made[:, tile, row] = ELEMENTS[:, element]
    return made.reshape(POINTS * tiles, rows)


@functools.lru_cache(maxsize=64)
def _results(tiles: int, rows: int, kind: np.dtype[Any]) -> Array:
    """Return the matrix from products to rows of results, ``[rows, points * tiles]``."""
    made = np.zeros((rows, POINTS, tiles), kind)
    for row in range(rows):
        made[row, :, row // TILE] = RESULTS[row % TILE]
    return made.reshape(rows, POINTS * tiles)


class _Streams:
    """The layout of images and tiles of their rows in streams, and their memory.

    Attributes:
        pitch: places from one row to the next: its elements, then zeros.
        length: places in the stream of one point.
    """

    def __init__(self, walk: Walk, x: Array, images: int, tiles: int):
        self.images, self.tiles, self.kind = images, tiles, x.dtype
        width, self.out, self.kernel, padding = 1, 1, 1, 0
        if len(walk.out) == 2:
            width, self.out, self.kernel, padding = x.shape[3], *(f[1] for f in _along(walk))
        self.before, self.skipped = max(padding, 0), max(-padding, 0)
        behind = self.out + self.kernel - 1 - padding
        self.pitch = max(width + self.before, behind, self.out)
        # Windows behind the last whole row of the matrix are left out: none that is wanted.
        while images * tiles * self.pitch % self.kernel > self.pitch - self.out:
            self.pitch += 1
        self.length = images * tiles * self.pitch

    def rows(self, count: int, width: int, channels: int) -> Array:
        """Return memory for rows of all images, the first of each; between them are zeros."""
        made = np.empty((count, self.images, self.pitch, channels), self.kind)
        made[:, :, width:] = 0
        return made

    def stream(self, channels: int) -> tuple[Array, Array]:
        """Return memory for the streams of all points, and what is inside of its margins.

        The inside is a matrix with a row for each point and tile.
        """
        last = self.before + POINTS * self.length
        made = np.empty((last + self.skipped + self.kernel, channels), self.kind)
        made[: self.before] = made[last:] = 0
        return made, made[self.before : last].reshape(POINTS * self.tiles, -1)

    def windows(self, stream: Array) -> Array:
        """Return the windows of the streams, ``[points, kernel, count, kernel * channels]``."""
        return self._strided(stream[self.skipped :], self.kernel * stream.shape[1])

    def ordered(self, places: Array) -> Array:
        """Return ``[points * length, channels]`` as ``[points, kernel, count, channels]``.

        So the products of ``windows`` come to stand in the order of the places.
        """
        return self._strided(places, places.shape[1])

    def _strided(self, places: Array, columns: int) -> Array:
        step, count = places.strides[0], self.length // self.kernel
        return as_strided(
            places,
            (POINTS, self.kernel, count, columns),
            (self.length * step, step, self.kernel * step, places.itemsize),
        )

    def shifted(self, stream: Array) -> Array:
        """Return the elements of the windows, ``[points, kernel, channels, length]``."""
        step = stream.strides[0]
        return as_strided(
            stream[self.skipped :],
            (POINTS, self.kernel, stream.shape[1], self.length),
            (self.length * step, step, stream.itemsize, step),
        )


def _along(walk: Walk) -> tuple[Sequence[int], ...]:
    return walk.out, walk.kernel, walk.padding


def _lay(x: Array, low: int, rows: Array) -> Array:
    """Write rows of images ``[batch, channels, height, width]`` from ``low`` to their memory.

    Return the memory as a matrix.
    """
    count, width = len(rows), x.shape[3]
    for image in range(len(x)):
        np.copyto(rows[:, image, :width], x[image, :, low : low + count].transpose(1, 2, 0))
    rows[:, len(x) :, :width] = 0
    return rows.reshape(count, math.prod(rows.shape[1:]))


def _bands(walk: Walk, size: Sequence[int]) -> list[tuple[int, int, int, int, int, int]]:
    """Return for each band of rows: its tiles, first and last row of the result and of the input.

    The last number is how many rows the first tile begins before the first row of the input.
    """
    bands = []
    for top in range(0, walk.out[0], BAND * TILE):
        bottom = min(top + BAND * TILE, walk.out[0])
        tiles, start = -(-(bottom - top) // TILE), top - walk.padding[0]
        low = min(max(start, 0), size[0])
        high = max(low, min(start + TILE * tiles + 2, size[0]))
        bands.append((tiles, top, bottom, low, high, low - start))
    return bands


def _images(walk: Walk, channels: int, batch: int) -> int:
    """Return the number of images per step: the fewest for which BLAS is fast."""
    rows = max(64, min(3 * channels // 2, 256))
    tiles = min(BAND, -(-walk.out[0] // TILE))
    places = tiles * (walk.out[1] + 1 if len(walk.out) == 2 else 1)
    return min(batch, -(-rows * walk.kernel[-1] // places))


def _planes(x: Array) -> Array:
    return x if x.ndim == 4 else x[..., None]


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    made = np.empty((len(x), len(weight), *walk.out), x.dtype)
    images, outputs, target = _planes(x), len(weight), _planes(made)
    step, bands = _images(walk, x.shape[1], len(x)), _bands(walk, x.shape[2:])
    ordered = np.ascontiguousarray(_planes(weight).transpose(2, 3, 1, 0))
    matrix = np.dot(WEIGHTS.astype(x.dtype), ordered.reshape(3, -1))
    matrix = matrix.reshape(POINTS, 1, -1, outputs)

    def work(part: tuple[Any, list[slice]]) -> None:
        (tiles, top, bottom, low, high, first), spans = part
        streams = _Streams(walk, x, step, tiles)
        rows = streams.rows(high - low, images.shape[3], x.shape[1])
        stream, inside = streams.stream(x.shape[1])
        products = np.empty((POINTS * streams.length, outputs), x.dtype)
        products.reshape(POINTS, -1, outputs)[:, -streams.kernel :] = 0
        results = np.empty((bottom - top, streams.images, streams.pitch, outputs), x.dtype)
        windows, ordered = streams.windows(stream), streams.ordered(products)
        sums = _sums(tiles, first, high - low, x.dtype)
        gather = _results(tiles, bottom - top, x.dtype)
        for span in spans:
            np.matmul(sums, _lay(images[span], low, rows), out=inside)
            np.matmul(windows, matrix, out=ordered)
            flat = products.reshape(POINTS * tiles, -1)
            np.matmul(gather, flat, out=results.reshape(bottom - top, -1))
            if bias is not None:
                results += bias
            found = results[:, : span.stop - span.start, : streams.out].transpose(1, 3, 0, 2)
            np.copyto(target[span, :, top:bottom], found)

    threads.share(work, _parts(len(x), step, bands, 2 * PARTS))
    return made


def _parts(batch: int, step: int, bands: list[Any], count: int) -> list[tuple[Any, list[slice]]]:
    """Split the work into about ``count`` parts, each a band of rows and images in steps."""
    spans = threads.slices(batch, step)
    each = max(1, len(spans) * len(bands) // count)
    return [(band, spans[i : i + each]) for band in bands for i in range(0, len(spans), each)]


def correlated(x: Array, y: Array, walk: Walk) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    images, grads = _planes(x), _planes(y)
    step, bands = _images(walk, x.shape[1], len(x)), _bands(walk, x.shape[2:])
    parts = _parts(len(x), step, bands, PARTS)
    kernel = walk.kernel[1] if len(walk.kernel) == 2 else 1
    width = POINTS, kernel, x.shape[1], y.shape[1]
    totals = np.zeros((len(parts), *width), x.dtype)

    def work(number: int) -> None:
        (tiles, top, bottom, low, high, first), spans = parts[number]
        streams = _Streams(walk, x, step, tiles)
        rows = streams.rows(high - low, images.shape[3], x.shape[1])
        others = streams.rows(bottom - top, grads.shape[3], y.shape[1])
        stream, inside = streams.stream(x.shape[1])
        against = np.empty((POINTS, 1, streams.length, y.shape[1]), x.dtype)
        shifted, found = streams.shifted(stream), np.empty(width, x.dtype)
        sums = _sums(tiles, first, high - low, x.dtype)
        gather = _results(tiles, bottom - top, x.dtype).T
        for span in spans:
            np.matmul(sums, _lay(images[span], low, rows), out=inside)
            flat = against.reshape(POINTS * tiles, -1)
            np.matmul(gather, _lay(grads[span], top, others), out=flat)
            np.matmul(shifted, against, out=found)
            totals[number] += found

    threads.share(work, range(len(parts)))
    total = totals.sum(axis=0).reshape(POINTS, -1)
    weight = np.dot(WEIGHTS.T.astype(x.dtype), total)
    weight = weight.reshape(3, kernel, x.shape[1], y.shape[1]).transpose(3, 2, 0, 1)
    return np.ascontiguousarray(weight).reshape(y.shape[1], x.shape[1], *walk.kernel)
