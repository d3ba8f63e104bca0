"""Convolutions of each channel alone, several adjacent results of a row at a time.

BLAS is slow for matrices of one column. ``q`` adjacent results depend on ``q + kernel - 1``
adjacent elements of each row. They are the product of these elements and a matrix of ``q``
times as many columns, which has the weights in a band and zeros elsewhere. There are more
multiplications, but they run two to three times as fast, and fewer elements are copied.

Zeros of that matrix times an infinity give NaN in unrelated results; callers check for these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.convolution.im2col import PARTS, per_block, share
from tinynet.nn.functional.geometry import Geometry

Ints = tuple[int, ...]
TOGETHER = 16  # approximate number of adjacent results
LONG = 1 << 18  # elements from which a kernel of one row pays at 3 columns


def pays(shape: Ints, outputs: int, walk: Geometry) -> bool:
    """Return whether this algorithm is faster as measured.

    Args:
        shape: that of the images.
        outputs: the number of results for each channel.
        walk: the geometry of the windows.
    """
    least = 5 if walk.kernel[0] == 1 and math.prod(shape) < LONG else 3
    kernel = min(walk.kernel[0] if walk.kernel[0] > 1 else least, walk.kernel[-1])
    return (
        len(walk.out) == 2
        and outputs <= 2
        and kernel >= least
        and walk.out[-1] >= 4
        and min(walk.padding) >= 0
        and shape[0] * walk.out[0] * walk.out[1] >= 64
        and math.prod(shape) > 0
    )


class _Bands:
    """The memory layout of the rows of a group of images.

    Attributes:
        each: number of adjacent results in a row of the matrix.
        count: number of these groups in a row of results; the last one may extend past its end.
        seen: number of elements of a row that a group depends on.
        frame: the size of an image with the zeros around it.
        inside: the image there.
    """

    def __init__(self, walk: Geometry, size: Ints):
        self.walk = walk
        self.count = max(1, round(walk.out[1] / TOGETHER))
        self.each = -(-walk.out[1] // self.count)
        stride, reach = walk.stride[1], walk.dilation[1] * (walk.kernel[1] - 1) + 1
        self.seen = stride * (self.each - 1) + reach
        self.frame = (
            max(walk.padding[0] + size[0], walk.reach[0] + 1),
            max(walk.padding[1] + size[1], stride * (self.each * self.count - 1) + reach),
        )
        spans = (slice(p, p + n) for p, n in zip(walk.padding, size, strict=True))
        self.inside: Any = (..., *spans)

    def matrix(self, weight: Array, groups: int) -> Array:
        """Return the weights in a band, ``[groups, rows * seen, each * outputs]``."""
        (rows, kernel), outputs = self.walk.kernel, len(weight) // groups
        band = np.zeros((groups, rows, self.seen, self.each, outputs), weight.dtype)
        weight = weight.reshape(groups, outputs, rows, kernel)
        for i, places in enumerate(self.places()):
            band[:, :, places, i] = weight.transpose(0, 2, 3, 1)
        return band.reshape(groups, rows * self.seen, -1)

    def places(self) -> Iterator[slice]:
        """Yield the elements that each of the adjacent results depends on."""
        stride, dilation = self.walk.stride[1], self.walk.dilation[1]
        for i in range(self.each):
            start = stride * i
            yield slice(start, start + dilation * (self.walk.kernel[1] - 1) + 1, dilation)

    def lay(self, x: Array) -> Array:
        """Return the elements of each run as matrices, ``[groups, runs, rows * seen]``."""
        framed = np.zeros((x.shape[1], len(x), *self.frame), x.dtype)
        framed[self.inside] = x.swapaxes(0, 1)
        group, image, row, element = framed.strides
        walk = self.walk
        shape = *framed.shape[:2], walk.out[0], self.count, walk.kernel[0], self.seen
        across = walk.stride[1] * self.each * element
        steps = group, image, walk.stride[0] * row, across, walk.dilation[0] * row, element
        runs = np.ascontiguousarray(as_strided(framed, shape, steps))
        return runs.reshape(x.shape[1], -1, walk.kernel[0] * self.seen)

    def parts(self, batch: int, groups: int, outputs: int, itemsize: int) -> list[slice]:
        """Return slices of a batch whose matrices fit the cache."""
        columns = self.walk.kernel[0] * self.seen
        row = max(groups * columns, self.each * outputs)
        matrix = columns * self.each * outputs * itemsize
        images = per_block(self.walk.out[0] * self.count * row * itemsize, matrix)
        return threads.slices(batch, min(images, -(-batch // PARTS)))


def convolved(x: Array, weight: Array, bias: Array | None, walk: Geometry, groups: int) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    bands = _Bands(walk, x.shape[2:])
    matrix = bands.matrix(weight, groups)
    result = np.empty((len(x), groups, len(weight) // groups, *walk.out), x.dtype)
    offset: Any = 0 if bias is None else bias.reshape(groups, -1, 1, 1)

    def work(part: slice) -> None:
        rows = np.matmul(bands.lay(x[part]), matrix)
        shape = groups, -1, walk.out[0], bands.each * bands.count, result.shape[2]
        results = rows.reshape(shape)[:, :, :, : walk.out[1]]
        np.add(results.transpose(1, 0, 4, 2, 3), offset, out=result[part])

    parts = bands.parts(len(x), groups, len(weight), x.itemsize)
    share(work, parts, len(x) * matrix.size * walk.out[0] * bands.count)
    return result.reshape(len(x), len(weight), *walk.out)
