"""Convolutions between few channels, some neighbouring results of a row at a time.

BLAS is slow where a matrix has only 6 or 16 columns. ``q`` neighbouring results see ``q + kernel -
1`` neighbouring elements of each row: together they are the product with a matrix of ``q`` times as
many columns, in which the weights stand in a band and all else is 0. With the channels as last
dimension these elements are one run in memory. So there are more multiplications, but they run at
two to three times the rate, and fewer elements are copied.

A zero of that matrix times an infinity would be NaN, in results that do not see it: arrays that are
not finite are left to others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet import threads
from tinynet.dtypes import Array
from tinynet.nn.functional.convolution.im2col import BLOCK, Walk

Ints = tuple[int, ...]
TOGETHER = 5  # neighbouring results, about
PARTS = 4  # of a batch, at least, where it is shared


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
        each: neighbouring results that are one row of a matrix.
        count: of these in a row of results; of the last one, some are perhaps not wanted.
        seen: elements of a row that they see.
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
        made = np.zeros((rows, self.seen, self.channels, self.each, len(weight)), weight.dtype)
        turned = weight.transpose(2, 3, 1, 0)
        for place in range(self.each):
            made[:, place : place + kernel, :, place] = turned
        return made.reshape(rows * self.seen * self.channels, -1)

    def runs(self, framed: Array) -> Array:
        """Return what results see, ``[images, out, count, rows, seen * channels]``: a view."""
        image, row, place, element = framed.strides
        shape = len(framed), self.walk.out[0], self.count, self.walk.kernel[0]
        steps = image, row, self.each * place, row, element
        return as_strided(framed, (*shape, self.seen * self.channels), steps)

    def lay(self, x: Array) -> Array:
        """Return the matrix of what results see, a row for each ``each`` of them."""
        framed = np.zeros((len(x), *self.frame), x.dtype)
        framed[self.inside] = x.transpose(0, 2, 3, 1)
        runs = self.runs(framed)
        return np.ascontiguousarray(runs).reshape(-1, runs.shape[3] * runs.shape[4])

    def turn(self, y: Array) -> Array:
        """Return ``[images, out channels, *out]`` as a matrix, ``each`` elements in a row."""
        made = np.empty((len(y), y.shape[2], self.each * self.count, y.shape[1]), y.dtype)
        made[:, :, : y.shape[3]] = y.transpose(0, 2, 3, 1)
        made[:, :, y.shape[3] :] = 0
        return made.reshape(-1, self.each * y.shape[1])

    def parts(self, batch: int, outputs: int, itemsize: int) -> list[slice]:
        """Return slices of a batch whose matrices fit into the cache."""
        row = max(self.walk.kernel[0] * self.seen * self.channels, self.each * outputs)
        images = BLOCK // (self.walk.out[0] * self.count * row * itemsize)
        return threads.slices(batch, max(1, min(images, -(-batch // PARTS))))


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    bands = _Bands(walk, x.shape[1], x.shape[2:])
    matrix = bands.matrix(weight)
    made = np.empty((len(x), len(weight), *walk.out), x.dtype)
    offset: Any = 0 if bias is None else bias.reshape(-1, 1, 1)

    def work(part: slice) -> None:
        rows = np.matmul(bands.lay(x[part]), matrix)
        found = rows.reshape(-1, walk.out[0], bands.each * bands.count, len(weight))
        np.add(found[:, :, : walk.out[1]].transpose(0, 3, 1, 2), offset, out=made[part])

    threads.in_turn(work, bands.parts(len(x), len(weight), x.itemsize))
    return made


def spread(y: Array, weight: Array, bias: Array | None, size: Ints, walk: Walk) -> Array:
    """Return the transposed convolution of ``[batch, channels, *out]``, plus the bias."""
    bands = _Bands(walk, weight.shape[1], size)
    matrix = np.ascontiguousarray(bands.matrix(weight).T)
    made = np.empty((len(y), weight.shape[1], *size), y.dtype)
    offset: Any = 0 if bias is None else bias.reshape(-1, 1, 1)

    def work(part: slice) -> None:
        rows = np.matmul(bands.turn(y[part]), matrix)
        framed = np.zeros((part.stop - part.start, *bands.frame), y.dtype)
        runs = bands.runs(framed)
        found = rows.reshape(runs.shape)
        for row in range(walk.kernel[0]):
            for place in range(bands.count):  # one after the other: they overlap
                runs[:, :, place, row] += found[:, :, place, row]
        np.add(framed[bands.inside].transpose(0, 3, 1, 2), offset, out=made[part])

    threads.in_turn(work, bands.parts(len(y), len(weight), y.itemsize))
    return made


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
