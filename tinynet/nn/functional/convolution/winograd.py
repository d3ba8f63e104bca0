"""Convolutions of kernels of length 3 along the first dimension, with two thirds of the products.

Two neighbouring results of such a convolution take 6 products; 4 are enough, of sums of the four
elements that they see and of sums of the three weights (Winograd, "Arithmetic Complexity of
Computations", 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016).
Four results take 6 products instead of 12, but their sums round more: only the gradient of the
weight is computed so, whose error is still less than PyTorch's.

Along the other dimension and over the channels everything stays as it was: the ``*`` is a product
of matrices. The sums cost little where there are many channels. They spread an infinity or NaN over
its column, so the caller computes results that are not finite without them; float64, too.

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

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.convolution.im2col import Walk

# ---- winograd matrices --------------------------------------------------------------------------
# The matrices of Winograd convolutions: a tile of outputs of a kernel of length 3.
#
#     results = scheme.results @ ((scheme.weights @ weights) * (scheme.elements @ elements))
#
# Polynomials are multiplied by their values at two more points than the tile has outputs; the last
# point is infinity. The points determine the rounding error. Points 0, 1 and -1 for two outputs
# hardly add to it. For four, 2/3, -2/3, 3/2 and -3/2 give a third less than the usual 1, -1, 2 and
# -2 (Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and Improving the Accuracy of
# Winograd Convolution for Deep Neural Networks", 2020), but two to four times that of all products.


class Scheme:
    """The matrices for one tile size.

    Args:
        finite: the points but infinity.
    """

    def __init__(self, finite: Sequence[float]):
        self.points = points = len(finite) + 1
        self.tile = points - 2
        self.elements, self.weights = np.zeros((points, points)), np.zeros((points, 3))
        self.results = np.zeros((self.tile, points))
        for i, point in enumerate(finite):  # Lagrange's polynomials
            others = [*finite[:i], *finite[i + 1 :]]
            self.elements[i, :-1] = np.poly(others)[::-1]
            lead = np.prod([point - other for other in others])
            self.weights[i] = point ** np.arange(3.0) / lead
            self.results[:, i] = point ** np.arange(float(self.tile))
        self.elements[-1] = np.poly(finite)[::-1]
        self.weights[-1, -1] = self.results[-1, -1] = 1


ACCURATE = Scheme((0, 1, -1))
FAST = Scheme((0, 2 / 3, -2 / 3, 3 / 2, -3 / 2))


# ---- winograd -----------------------------------------------------------------------------------


BAND = 4  # tiles treated at once: the matrices of sums grow with its square
TERMS = 128  # products that BLAS adds up in sequence
PARTS = 4  # number of partial sums for gradients of weights


def pays(x: Array, channels: int, walk: Walk, groups: int, scheme: Scheme = ACCURATE) -> bool:
    """Return whether a convolution of ``x`` to a number of channels is faster this way.

    As measured: not with few channels or few results, where the sums cost more than they save.
    """
    return (
        (walk.kernel[0], walk.stride[0], walk.dilation[0], groups) == (3, 1, 1, 1)
        and len(walk.out) == 2
        and walk.stride[1] == walk.dilation[1] == 1
        and x.dtype == np.float32
        and min(x.shape[1], channels) >= 32
        and len(x) * math.prod(walk.out) >= 256
        and scheme.tile * -(-walk.out[0] // scheme.tile) <= 1.15 * walk.out[0]
    )


@functools.lru_cache(maxsize=64)
def _sums(scheme: Scheme, tiles: int, first: int, rows: int, kind: np.dtype[Any]) -> Array:
    """Return the matrix from rows to the sums of their elements, ``[points * tiles, rows]``.

    Tile ``i`` sees the rows from ``tile * i - first``; those that are not there are 0.
    """
    made = np.zeros((scheme.points, tiles, rows), kind)
    for tile in range(tiles):
        for element in range(scheme.points):
            if 0 <= (row := scheme.tile * tile + element - first) < rows:
                made[:, tile, row] = scheme.elements[:, element]
    return made.reshape(scheme.points * tiles, rows)


@functools.lru_cache(maxsize=64)
def _results(scheme: Scheme, tiles: int, rows: int, kind: np.dtype[Any]) -> Array:
    """Return the matrix from products to rows of results, ``[rows, points * tiles]``."""
    made = np.zeros((rows, scheme.points, tiles), kind)
    for row in range(rows):
        made[row, :, row // scheme.tile] = scheme.results[row % scheme.tile]
    return made.reshape(rows, scheme.points * tiles)


class _Streams:
    """The layout of images and tiles of their rows in streams, and their memory.

    Attributes:
        pitch: places from one row to the next: its elements, then zeros.
        length: places in the stream of one point.
    """

    def __init__(self, scheme: Scheme, walk: Walk, x: Array, images: int, tiles: int):
        self.points = scheme.points
        self.images, self.tiles, self.kind = images, tiles, x.dtype
        width, self.out, self.kernel = x.shape[3], walk.out[1], walk.kernel[1]
        padding = walk.padding[1]
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
        last = self.before + self.points * self.length
        made = np.empty((last + self.skipped + self.kernel, channels), self.kind)
        made[: self.before] = made[last:] = 0
        return made, made[self.before : last].reshape(self.points * self.tiles, -1)

    def windows(self, stream: Array) -> Array:
        """Return the windows of the streams, ``[points, kernel, count, kernel * channels]``."""
        return self._strided(stream[self.skipped :], self.kernel * stream.shape[1], self.points)

    def ordered(self, places: Array) -> Array:
        """Return ``[points, length, channels]`` as ``[points, kernel, count, channels]``.

        So the products of ``windows`` come to stand in the order of the places.
        """
        points, _, channels = places.shape
        return self._strided(places.reshape(-1, channels), channels, points)

    def _strided(self, places: Array, columns: int, points: int) -> Array:
        step, count = places.strides[0], self.length // self.kernel
        return as_strided(
            places,
            (points, self.kernel, count, columns),
            (self.length * step, step, self.kernel * step, places.itemsize),
        )

    def products(self, points: int, channels: int) -> Array:
        """Return memory for products, ``[points, length, channels]``: 0 where no window ends."""
        made = np.empty((points, self.length, channels), self.kind)
        made[:, -self.kernel :] = 0
        return made

    def shifted(self, stream: Array) -> Array:
        """Return the elements of the windows, ``[points, kernel, channels, length]``."""
        step = stream.strides[0]
        return as_strided(
            stream[self.skipped :],
            (self.points, self.kernel, stream.shape[1], self.length),
            (self.length * step, step, stream.itemsize, step),
        )


def _lay(x: Array, low: int, rows: Array) -> Array:
    """Write rows of images ``[batch, channels, height, width]`` from ``low`` to their memory.

    Return the memory as a matrix.
    """
    count, width = len(rows), x.shape[3]
    for image in range(len(x)):
        np.copyto(rows[:, image, :width], x[image, :, low : low + count].transpose(1, 2, 0))
    rows[:, len(x) :, :width] = 0
    return rows.reshape(count, math.prod(rows.shape[1:]))


def _bands(
    scheme: Scheme, walk: Walk, size: Sequence[int]
) -> list[tuple[int, int, int, int, int, int]]:
    """Return for each band of rows: its tiles, first and last row of the result and of the input.

    The last number is how many rows the first tile begins before the first row of the input.
    """
    bands = []
    for top in range(0, walk.out[0], BAND * scheme.tile):
        bottom = min(top + BAND * scheme.tile, walk.out[0])
        tiles, start = -(-(bottom - top) // scheme.tile), top - walk.padding[0]
        low = min(max(start, 0), size[0])
        high = max(low, min(start + scheme.tile * tiles + 2, size[0]))
        bands.append((tiles, top, bottom, low, high, low - start))
    return bands


def _images(scheme: Scheme, walk: Walk, channels: int, batch: int) -> int:
    """Return the number of images per step: the fewest for which BLAS is fast."""
    rows = max(64, min(3 * channels // 2, 256))
    tiles = min(BAND, -(-walk.out[0] // scheme.tile))
    places = tiles * (walk.out[1] + 1)
    return min(batch, -(-rows * walk.kernel[1] // places))


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    scheme = ACCURATE
    made = np.empty((len(x), len(weight), *walk.out), x.dtype)
    outputs = len(weight)
    step = _images(scheme, walk, x.shape[1], len(x))
    bands = _bands(scheme, walk, x.shape[2:])
    matrix = np.ascontiguousarray(weight.transpose(2, 3, 1, 0)).reshape(3, -1)
    matrix = np.dot(scheme.weights.astype(x.dtype), matrix)
    matrix = matrix.reshape(scheme.points, 1, -1, outputs)

    def work(part: tuple[Any, list[slice]]) -> None:
        (tiles, top, bottom, low, high, first), spans = part
        streams = _Streams(scheme, walk, x, step, tiles)
        rows = streams.rows(high - low, x.shape[3], x.shape[1])
        stream, inside = streams.stream(x.shape[1])
        products, spare = (streams.products(n, outputs) for n in (scheme.points, 1))
        results = np.empty((bottom - top, streams.images, streams.pitch, outputs), x.dtype)
        sums = _sums(scheme, tiles, first, high - low, x.dtype)
        gather = _results(scheme, tiles, bottom - top, x.dtype)
        for span in spans:
            np.matmul(sums, _lay(x[span], low, rows), out=inside)
            _multiply(streams, stream, matrix, products, spare)
            flat = products.reshape(scheme.points * tiles, -1)
            np.matmul(gather, flat, out=results.reshape(bottom - top, -1))
            if bias is not None:
                results += bias
            found = results[:, : span.stop - span.start, : streams.out].transpose(1, 3, 0, 2)
            np.copyto(made[span, :, top:bottom], found)

    threads.share(work, _parts(len(x), step, bands, 2 * PARTS))
    return made


def _multiply(
    streams: _Streams, stream: Array, matrix: Array, products: Array, spare: Array
) -> None:
    """Multiply windows and weights; long sums in parts, which are added in turn to round less."""
    terms = matrix.shape[2]
    first, *others = threads.slices(terms, -(-terms // -(-terms // TERMS)))
    windows, ordered, again = (
        streams.windows(stream),
        streams.ordered(products),
        streams.ordered(spare),
    )
    for point in range(streams.points):
        np.matmul(windows[point, ..., first], matrix[point, :, first], out=ordered[point])
        for terms in others:
            np.matmul(windows[point, ..., terms], matrix[point, :, terms], out=again[0])
            products[point] += spare[0]


def _parts(batch: int, step: int, bands: list[Any], count: int) -> list[tuple[Any, list[slice]]]:
    """Split the work into about ``count`` parts, each a band of rows and images in steps."""
    spans = threads.slices(batch, step)
    each = max(1, len(spans) * len(bands) // count)
    return [(band, spans[i : i + each]) for band in bands for i in range(0, len(spans), each)]


def correlated(x: Array, y: Array, walk: Walk) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    scheme = FAST
    step = _images(scheme, walk, x.shape[1], len(x))
    bands = _bands(scheme, walk, x.shape[2:])
    parts = _parts(len(x), step, bands, PARTS)
    kernel = walk.kernel[1]
    width = scheme.points, kernel, x.shape[1], y.shape[1]
    totals = np.zeros((len(parts), *width), x.dtype)

    def work(number: int) -> None:
        (tiles, top, bottom, low, high, first), spans = parts[number]
        streams = _Streams(scheme, walk, x, step, tiles)
        rows = streams.rows(high - low, x.shape[3], x.shape[1])
        others = streams.rows(bottom - top, y.shape[3], y.shape[1])
        stream, inside = streams.stream(x.shape[1])
        against = np.empty((scheme.points, 1, streams.length, y.shape[1]), x.dtype)
        shifted, found = streams.shifted(stream), np.empty(width, x.dtype)
        sums = _sums(scheme, tiles, first, high - low, x.dtype)
        gather = _results(scheme, tiles, bottom - top, x.dtype).T
        for span in spans:
            np.matmul(sums, _lay(x[span], low, rows), out=inside)
            flat = against.reshape(scheme.points * tiles, -1)
            np.matmul(gather, _lay(y[span], top, others), out=flat)
            np.matmul(shifted, against, out=found)
            totals[number] += found

    threads.share(work, range(len(parts)))
    total = totals.sum(axis=0).reshape(scheme.points, -1)
    weight = np.dot(scheme.weights.T.astype(x.dtype), total)
    weight = weight.reshape(3, kernel, x.shape[1], y.shape[1]).transpose(3, 2, 0, 1)
    return np.ascontiguousarray(weight).reshape(y.shape[1], x.shape[1], *walk.kernel)
