"""Convolutions between few channels, several adjacent results of a row at a time.

BLAS is slow for matrices of 6 or 16 columns. ``q`` adjacent results depend on ``q + kernel - 1``
adjacent elements of each row. They are the product of these elements and a matrix of ``q`` times as
many columns, which has the weights in a band and zeros elsewhere. With the channels as last
dimension, the elements are contiguous. There are more multiplications, but they run two to three
times as fast, and fewer elements are copied.

Zeros of that matrix times an infinity would give NaN in unrelated results, so this is for finite
arrays only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet import threads
from tinynet.dtypes import Array
from tinynet.nn.functional.convolution.im2col import BLOCK, Walk

Ints = tuple[int, ...]
TOGETHER = 5  # approximate number of adjacent results
PARTS = 4  # smallest number of parts of a batch


def pays(x: Array, channels: int, outputs: int, walk: Walk) -> bool:
    """Return whether this algorithm is faster for a finite array, as measured."""
    return (
        len(walk.out) == 2
        and {*walk.stride, *walk.dilation} == {1}
        and min(walk.padding) >= 0
        and min(walk.kernel) >= 5
        and 4 <= channels <= 16
        and 8 <= outputs <= 32
        and len(x) * walk.out[0] * walk.out[1] >= 64
        and x.size > 0
    ) and bool(np.isfinite(x.min()) and np.isfinite(x.max()))


class _Bands:
    """The memory layout of the rows of a group of images.

    Attributes:
        each: number of adjacent results in a row of the matrix.
        count: number of these groups in a row of results; the last one may extend past its end.
        seen: number of elements of a row that a group depends on.
        frame: the size of an image with the zeros around it.
    """

    def __init__(self, walk: Walk, channels: int, size: Ints):
        self.walk, self.channels, self.size = walk, channels, size
        self.count = max(1, round(walk.out[1] / TOGETHER))
        self.each = -(-walk.out[1] // self.count)
        self.seen = self.each + walk.kernel[1] - 1
        height, width = walk.out[0] + walk.kernel[0] - 1, self.each * self.count
        self.frame = height, width + walk.kernel[1] - 1, channels
        self.inside: Any = (
            ...,
            *(slice(p, p + n) for p, n in zip(walk.padding, size, strict=True)),
            slice(None),
        )

    def matrix(self, weight: Array) -> Array:
        """Return the weights in a band, ``[rows * seen * channels, each * out channels]``."""
        rows, kernel = self.walk.kernel
        band = np.zeros((rows, self.seen, self.channels, self.each, len(weight)), weight.dtype)
        transposed = weight.transpose(2, 3, 1, 0)
        for i in range(self.each):
            band[:, i : i + kernel, :, i] = transposed
        return band.reshape(rows * self.seen * self.channels, -1)

    def runs(self, framed: Array) -> Array:
        """Return a view of the elements of each group, ``[images, out, count, rows, columns]``."""
        image, row, column, element = framed.strides
        shape = len(framed), self.walk.out[0], self.count, self.walk.kernel[0]
        steps = image, row, self.each * column, row, element
        return as_strided(framed, (*shape, self.seen * self.channels), steps)

    def lay(self, x: Array) -> Array:
        """Return the matrix of the elements of each group, one group per row."""
        framed = np.zeros((len(x), *self.frame), x.dtype)
        framed[self.inside] = x.transpose(0, 2, 3, 1)
        runs = self.runs(framed)
        return np.ascontiguousarray(runs).reshape(-1, runs.shape[3] * runs.shape[4])

    def turn(self, y: Array) -> Array:
        """Return ``[images, out channels, *out]`` as a matrix, one group per row."""
        rows = np.empty((len(y), y.shape[2], self.each * self.count, y.shape[1]), y.dtype)
        rows[:, :, : y.shape[3]] = y.transpose(0, 2, 3, 1)
        rows[:, :, y.shape[3] :] = 0
        return rows.reshape(-1, self.each * y.shape[1])

    def parts(self, batch: int, outputs: int, itemsize: int) -> list[slice]:
        """Return slices of a batch whose matrices fit the cache."""
        row = max(self.walk.kernel[0] * self.seen * self.channels, self.each * outputs)
        images = BLOCK // (self.walk.out[0] * self.count * row * itemsize)
        return threads.slices(batch, max(1, min(images, -(-batch // PARTS))))


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    bands = _Bands(walk, x.shape[1], x.shape[2:])
    matrix = bands.matrix(weight)
    result = np.empty((len(x), len(weight), *walk.out), x.dtype)
    offset: Any = 0 if bias is None else bias.reshape(-1, 1, 1)

    def work(part: slice) -> None:
        rows = np.matmul(bands.lay(x[part]), matrix)
        results = rows.reshape(-1, walk.out[0], bands.each * bands.count, len(weight))
        np.add(results[:, :, : walk.out[1]].transpose(0, 3, 1, 2), offset, out=result[part])

    threads.in_turn(work, bands.parts(len(x), len(weight), x.itemsize))
    return result


def spread(y: Array, weight: Array, bias: Array | None, size: Ints, walk: Walk) -> Array:
    """Return the transposed convolution of ``[batch, channels, *out]``, plus the bias."""
    bands = _Bands(walk, weight.shape[1], size)
    matrix = np.ascontiguousarray(bands.matrix(weight).T)
    result = np.empty((len(y), weight.shape[1], *size), y.dtype)
    offset: Any = 0 if bias is None else bias.reshape(-1, 1, 1)

    def work(part: slice) -> None:
        rows = np.matmul(bands.turn(y[part]), matrix)
        framed = np.zeros((part.stop - part.start, *bands.frame), y.dtype)
        runs = bands.runs(framed)
        results = rows.reshape(runs.shape)
        for row in range(walk.kernel[0]):
            for place in range(bands.count):  # one after the other: they overlap
                runs[:, :, place, row] += results[:, :, place, row]
        np.add(framed[bands.inside].transpose(0, 3, 1, 2), offset, out=result[part])

    threads.in_turn(work, bands.parts(len(y), len(weight), y.itemsize))
    return result


def correlated(x: Array, y: Array, walk: Walk) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    bands = _Bands(walk, x.shape[1], x.shape[2:])
    parts = bands.parts(len(x), y.shape[1], x.itemsize)
    rows, kernel = walk.kernel
    shape = rows, bands.seen, x.shape[1], bands.each, y.shape[1]
    totals = np.empty((len(parts), *shape), x.dtype)

    def work(number: int) -> None:
        part = parts[number]
        product = np.matmul(bands.lay(x[part]).T, bands.turn(y[part]))
        totals[number] = product.reshape(shape)

    threads.in_turn(work, range(len(parts)))
    total = totals.sum(axis=0)
    bands_of = (total[:, i : i + kernel, :, i] for i in range(bands.each))
    return np.ascontiguousarray(sum(bands_of).transpose(3, 2, 0, 1))
