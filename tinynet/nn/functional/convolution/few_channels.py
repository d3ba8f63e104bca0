"""Convolutions between few channels, several adjacent results of a row at a time.

BLAS is slow for matrices of 6 or 16 columns, and of a single one where each channel is a group.
``q`` adjacent results depend on ``q + kernel - 1`` adjacent elements of each row. They are the
product of these elements and a matrix of ``q`` times as many columns, which has the weights in a
band and zeros elsewhere. With the channels as last dimension, the elements are contiguous. There
are more multiplications, but they run two to three times as fast, and fewer elements are copied.

Zeros of that matrix times an infinity would give NaN in unrelated results, so this is for finite
arrays only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.convolution.im2col import Walk, per_block

Ints = tuple[int, ...]
TOGETHER, ALONE = 5, 16  # approximate number of adjacent results; in groups of one channel
LONG = 1 << 18  # elements from which a kernel of one row pays at 3 columns
PARTS = 4  # smallest number of parts of a batch


def pays(
    x: Array, channels: int, outputs: int, walk: Walk, groups: int = 1, least: int = 3
) -> bool:
    """Return whether this algorithm is faster for a finite array, as measured.

    The numbers of channels are those of one group; ``least`` is the smallest kernel that pays with
    one channel.
    """
    dense = (
        {*walk.stride, *walk.dilation} == {1}
        and 4 <= channels <= 16
        and 8 <= outputs <= 32
        and min(walk.kernel) >= 5
    )
    if walk.kernel[0] == 1 and x.size < LONG:
        least = max(least, 5)
    is_large = min(walk.kernel[0] if walk.kernel[0] > 1 else least, walk.kernel[-1]) >= least
    depthwise = channels == 1 and outputs <= 2 and is_large and walk.out[-1] >= 4
    return (
        len(walk.out) == 2
        and (dense if groups == 1 else depthwise)
        and min(walk.padding) >= 0
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

    def __init__(self, walk: Walk, channels: int, size: Ints, groups: int = 1):
        self.walk, self.groups, self.channels = walk, groups, channels // groups
        self.count = max(1, round(walk.out[1] / (TOGETHER if groups == 1 else ALONE)))
        self.each = -(-walk.out[1] // self.count)
        stride, reach = walk.stride[1], walk.dilation[1] * (walk.kernel[1] - 1) + 1
        self.seen = stride * (self.each - 1) + reach
        self.frame = (
            max(walk.padding[0] + size[0], walk.reach[0] + 1),
            max(walk.padding[1] + size[1], stride * (self.each * self.count - 1) + reach),
            self.channels,
        )
        self.inside: Any = (
            ...,
            *(slice(p, p + n) for p, n in zip(walk.padding, size, strict=True)),
            slice(None),
        )

    def matrix(self, weight: Array) -> Array:
        """Return the weights in a band, ``[groups, rows * seen * channels, each * outputs]``."""
        (rows, kernel), outputs = self.walk.kernel, len(weight) // self.groups
        shape = self.groups, rows, self.seen, self.channels, self.each, outputs
        band = np.zeros(shape, weight.dtype)
        weight = weight.reshape(self.groups, outputs, self.channels, rows, kernel)
        for i, places in enumerate(self.places()):
            band[:, :, places, :, i] = weight.transpose(0, 3, 4, 2, 1)
        return band.reshape(self.groups, rows * self.seen * self.channels, -1)

    def places(self) -> Iterator[slice]:
        """Yield the elements that each of the adjacent results depends on."""
        stride, dilation = self.walk.stride[1], self.walk.dilation[1]
        for i in range(self.each):
            start = stride * i
            yield slice(start, start + dilation * (self.walk.kernel[1] - 1) + 1, dilation)

    def runs(self, framed: Array) -> Array:
        """Return a view of the elements, ``[groups, images, out, count, rows, columns]``."""
        group, image, row, column, element = framed.strides
        step, apart = self.walk.stride[1] * self.each * column, self.walk.dilation[0] * row
        shape = *framed.shape[:2], self.walk.out[0], self.count, self.walk.kernel[0]
        steps = group, image, self.walk.stride[0] * row, step, apart, element
        return as_strided(framed, (*shape, self.seen * self.channels), steps)

    def framed(self, images: int, kind: np.dtype[Any]) -> Array:
        """Allocate zeros for images, ``[groups, images, height, width, channels]``."""
        return np.zeros((self.groups, images, *self.frame), kind)

    def lay(self, x: Array) -> Array:
        """Return the elements of each run as matrices, ``[groups, runs, elements]``."""
        framed = self.framed(len(x), x.dtype)
        images = x.reshape(len(x), self.groups, self.channels, *x.shape[2:])
        framed[self.inside] = images.transpose(1, 0, 3, 4, 2)
        runs = self.runs(framed)
        return np.ascontiguousarray(runs).reshape(self.groups, -1, runs.shape[4] * runs.shape[5])

    def turn(self, y: Array) -> Array:
        """Return ``[images, out channels, *out]`` as matrices, ``[groups, runs, results]``."""
        outputs, (height, width) = y.shape[1] // self.groups, y.shape[2:]
        shape = self.groups, len(y), height, self.each * self.count, outputs
        rows = np.empty(shape, y.dtype)
        images = y.reshape(len(y), self.groups, outputs, height, width)
        rows[:, :, :, :width] = images.transpose(1, 0, 3, 4, 2)
        rows[:, :, :, width:] = 0
        return rows.reshape(self.groups, -1, self.each * outputs)

    def parts(self, batch: int, outputs: int, itemsize: int) -> list[slice]:
        """Return slices of a batch whose matrices fit the cache."""
        columns = self.walk.kernel[0] * self.seen * self.channels
        row = max(self.groups * columns, self.each * outputs)
        matrix = columns * self.each * outputs * itemsize
        images = per_block(self.walk.out[0] * self.count * row * itemsize, matrix)
        return threads.slices(batch, min(images, -(-batch // PARTS)))


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk, groups: int) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    bands = _Bands(walk, x.shape[1], x.shape[2:], groups)
    matrix = bands.matrix(weight)
    result = np.empty((len(x), groups, len(weight) // groups, *walk.out), x.dtype)
    offset: Any = 0 if bias is None else bias.reshape(groups, -1, 1, 1)

    def work(part: slice) -> None:
        rows = np.matmul(bands.lay(x[part]), matrix)
        shape = groups, -1, walk.out[0], bands.each * bands.count, result.shape[2]
        results = rows.reshape(shape)[:, :, :, : walk.out[1]]
        np.add(results.transpose(1, 0, 4, 2, 3), offset, out=result[part])

    threads.in_turn(work, bands.parts(len(x), len(weight), x.itemsize))
    return result.reshape(len(x), len(weight), *walk.out)


def spread(y: Array, weight: Array, bias: Array | None, size: Ints, walk: Walk) -> Array:
    """Return the transposed convolution of ``[batch, channels, *out]``, plus the bias."""
    bands = _Bands(walk, weight.shape[1], size)
    matrix = np.ascontiguousarray(bands.matrix(weight)[0].T)
    result = np.empty((len(y), weight.shape[1], *size), y.dtype)
    offset: Any = 0 if bias is None else bias.reshape(-1, 1, 1)

    def work(part: slice) -> None:
        rows = np.matmul(bands.turn(y[part])[0], matrix)
        framed = bands.framed(part.stop - part.start, y.dtype)
        runs = bands.runs(framed)[0]
        results = rows.reshape(runs.shape)
        for row in range(walk.kernel[0]):
            for place in range(bands.count):  # one after the other: they overlap
                runs[:, :, place, row] += results[:, :, place, row]
        np.add(framed[0][bands.inside].transpose(0, 3, 1, 2), offset, out=result[part])

    threads.in_turn(work, bands.parts(len(y), len(weight), y.itemsize))
    return result


def correlated(x: Array, y: Array, walk: Walk, groups: int) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    bands = _Bands(walk, x.shape[1], x.shape[2:], groups)
    parts = bands.parts(len(x), y.shape[1], x.itemsize)
    outputs = y.shape[1] // groups
    shape = groups, walk.kernel[0], bands.seen, bands.channels, bands.each, outputs
    totals = np.zeros((min(PARTS, len(parts)), *shape), x.dtype)

    def work(number: int) -> None:
        for part in parts[number :: len(totals)]:
            product = np.matmul(bands.lay(x[part]).swapaxes(1, 2), bands.turn(y[part]))
            totals[number] += product.reshape(shape)

    threads.in_turn(work, range(len(totals)))
    total = totals.sum(axis=0)
    bands_of = (total[:, :, places, :, i] for i, places in enumerate(bands.places()))
    weight = np.ascontiguousarray(sum(bands_of).transpose(0, 4, 3, 1, 2))
    return weight.reshape(y.shape[1], bands.channels, *walk.kernel)
