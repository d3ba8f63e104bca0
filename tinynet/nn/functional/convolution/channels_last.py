"""Strided convolutions between many channels, with the channels as last dimension.

The rows that a row of the result depends on are stored as ``[positions, kernel, channels]``, so
that adjacent positions form a row of the matrix that is multiplied by the weights. Every second or
third window, so that they do not overlap, is a row of a matrix in that memory: no window is copied.
``winograd`` does the same for kernels of length 3 without a stride.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.convolution.im2col import Walk

Ints = tuple[int, ...]
ROWS = 256  # number of matrix rows from which BLAS is fast
PARTS = 4  # number of partial sums for gradients of weights


def pays(channels: int, outputs: int, walk: Walk) -> bool:
    """Return whether this algorithm is faster, as measured."""
    return (
        len(walk.out) == 2
        and 16 <= min(channels, outputs) <= 128
        and walk.stride[1] > 1 < walk.kernel[1]
        and walk.dilation[1] == 1
        and min(walk.padding) >= 0
        and min(walk.out) > 0
    )


class _Places:
    """The memory layout of a group of images, ``[images, out, positions, kernel, channels]``.

    Attributes:
        windows: number of windows in a row; the last ones are discarded.
        length: number of windows of all images.
        interval: the smallest distance between windows that do not overlap.
    """

    def __init__(self, walk: Walk, size: Ints, images: int):
        self.walk, self.images, self.size = walk, images, size
        kernel, stride, padding = (field[1] for field in walk[:3])
        self.interval = -(-kernel // stride)
        self.width = min(size[1], max(0, stride * walk.out[1] + kernel - padding))
        places = max(padding + self.width, stride * (walk.out[1] - 1) + kernel)
        self.windows = -(-places // stride)
        while images * walk.out[0] * self.windows % self.interval > self.windows - walk.out[1]:
            self.windows += 1
        self.length = images * walk.out[0] * self.windows

    def memory(self, channels: int, kind: np.dtype[Any]) -> Array:
        """Allocate zeros for all positions, as a matrix with a row for each."""
        places = self.length * self.walk.stride[1] + self.walk.kernel[1]
        return np.zeros((places, self.walk.kernel[0] * channels), kind)

    def rows(self, memory: Array, k: int) -> tuple[slice, slice, Array]:
        """Return the rows of images that are element ``k`` of windows, the windows, and the memory.

        The memory is ``[images, rows, width, channels]``.
        """
        kernel, stride, padding, dilation, out = (field[0] for field in self.walk)
        shift = dilation * k - padding
        low = min(max(0, -(shift // stride)), out)
        high = max(low, min(out, (self.size[0] - 1 - shift) // stride + 1))
        first = stride * low + shift
        inside = memory[: self.length * self.walk.stride[1]]
        inside = inside.reshape(self.images, out, -1, kernel, memory.shape[1] // kernel)
        start = self.walk.padding[1]
        return (
            slice(first, first + stride * (high - low - 1) + 1, stride) if high > low else slice(0),
            slice(low, high),
            inside[:, low:high, start : start + self.width, k],
        )

    def lay(self, x: Array, memory: Array) -> None:
        """Write images to memory."""
        for k in range(self.walk.kernel[0]):
            rows, _, places = self.rows(memory, k)
            for image in range(len(x)):
                np.copyto(places[image], x[image, :, rows, : self.width].transpose(1, 2, 0))
            places[len(x) :] = 0

    def joined(self, memory: Array) -> Array:
        """Return the windows as matrices, ``[interval, count, kernel * channels]``."""
        row, each = memory.strides[0] * self.walk.stride[1], self.walk.kernel[1]
        shape = self.interval, self.length // self.interval, each * memory.shape[1]
        return as_strided(memory, shape, (row, self.interval * row, memory.itemsize))

    def ordered(self, rows: Array) -> Array:
        """Return ``[length, channels]`` in the order of ``joined``."""
        row, shape = rows.strides[0], (self.interval, self.length // self.interval, rows.shape[1])
        return as_strided(rows, shape, (row, self.interval * row, rows.itemsize))

    def column(self, memory: Array, k: int) -> Array:
        """Return element ``k`` of all windows, ``[length, kernel * channels]``."""
        return memory[k : k + self.length * self.walk.stride[1] : self.walk.stride[1]]

    def outputs(self, rows: Array) -> Array:
        """Return ``[length, channels]`` as ``[images, channels, *out]``."""
        out = self.walk.out
        windows = rows.reshape(self.images, out[0], self.windows, -1)
        return windows[:, :, : out[1]].transpose(0, 3, 1, 2)


def _steps(walk: Walk, batch: int, parts: int) -> tuple[int, list[list[slice]]]:
    """Return the number of images per step, and lists of slices of the batch."""
    rows = ROWS * -(-walk.kernel[1] // walk.stride[1])
    images = min(batch, -(-rows // (walk.out[0] * walk.out[1])))
    spans = threads.slices(batch, images)
    each = -(-len(spans) // parts)
    return images, [spans[i : i + each] for i in range(0, len(spans), each)]


def _matrix(weight: Array) -> Array:
    """Return the weights as ``[columns, rows, channels, out channels]``."""
    return np.ascontiguousarray(weight.transpose(3, 2, 1, 0))


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    result = np.empty((len(x), len(weight), *walk.out), x.dtype)
    matrix = _matrix(weight).reshape(-1, len(weight))
    images, parts = _steps(walk, len(x), 2 * PARTS)

    def work(spans: list[slice]) -> None:
        places = _Places(walk, x.shape[2:], images)
        memory = places.memory(x.shape[1], x.dtype)
        rows = np.empty((places.length, len(weight)), x.dtype)
        joined, ordered = places.joined(memory), places.ordered(rows)
        for span in spans:
            places.lay(x[span], memory)
            np.matmul(joined, matrix, out=ordered)
            if bias is not None:
                rows += bias
            np.copyto(result[span], places.outputs(rows)[: span.stop - span.start])

    threads.share(work, parts)
    return result


def spread(y: Array, weight: Array, bias: Array | None, size: Ints, walk: Walk) -> Array:
    """Return the transposed convolution of ``[batch, channels, *out]``, plus the bias."""
    channels = weight.shape[1]
    result = np.zeros((len(y), channels, *size), y.dtype)
    if bias is not None:
        result += bias.reshape(-1, 1, 1)
    matrix = _matrix(weight).reshape(walk.kernel[1], -1, len(weight)).swapaxes(1, 2)
    images, parts = _steps(walk, len(y), 2 * PARTS)

    def work(spans: list[slice]) -> None:
        places = _Places(walk, size, images)
        memory = places.memory(channels, y.dtype)
        rows = np.zeros((places.length, len(weight)), y.dtype)
        for span in spans:
            np.copyto(places.outputs(rows)[: span.stop - span.start], y[span])
            for k in range(walk.kernel[1]):
                column = places.column(memory, k)
                if k < walk.stride[1]:
                    np.matmul(rows, matrix[k], out=column)
                else:
                    column += np.matmul(rows, matrix[k])
            block = result[span]
            for k in range(walk.kernel[0]):
                at, _, source = places.rows(memory, k)
                block[:, :, at, : places.width] += source[: len(block)].transpose(0, 3, 1, 2)

    threads.share(work, parts)
    return result


def correlated(x: Array, y: Array, walk: Walk) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    images, parts = _steps(walk, len(x), PARTS)
    shape = walk.kernel[1], walk.kernel[0] * x.shape[1], y.shape[1]
    totals = np.zeros((len(parts), *shape), x.dtype)

    def work(number: int) -> None:
        places = _Places(walk, x.shape[2:], images)
        memory = places.memory(x.shape[1], x.dtype)
        rows = np.zeros((places.length, y.shape[1]), x.dtype)
        for span in parts[number]:
            places.lay(x[span], memory)
            outputs = places.outputs(rows)
            np.copyto(outputs[: span.stop - span.start], y[span])
            outputs[span.stop - span.start :] = 0
            for k in range(walk.kernel[1]):
                totals[number, k] += np.matmul(places.column(memory, k).T, rows)

    threads.share(work, range(len(parts)))
    total = totals.sum(axis=0).reshape(*walk.kernel[::-1], x.shape[1], y.shape[1])
    return np.ascontiguousarray(total.transpose(3, 2, 1, 0))
