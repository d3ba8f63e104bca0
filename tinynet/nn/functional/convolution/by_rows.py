"""Convolutions of images as one product for each row of the kernel.

The columns of a kernel are laid side by side, so a row of the kernel takes one matrix product. The
next row takes the same memory, from one row of the image further on. Each element is copied once
for each column of the kernel, not once for each of its elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.convolution.im2col import BLOCK, Walk, windows_inside

PARTS = 4  # number of partial sums for gradients of weights
SHARED = 1 << 13  # elements of an image's channels from which several threads pay


def pays(channels: int, outputs: int, walk: Walk, groups: int) -> bool:
    """Return whether this algorithm is faster, as measured.

    The numbers of channels are those of one group.
    """
    results = math.prod(walk.out)
    many = channels >= 16 and results * groups >= 100
    wide = channels >= 4 and channels * walk.kernel[-1] >= 20 and results >= 900
    return (
        len(walk.out) == 2
        and walk.stride[0] == 1
        and walk.kernel[0] >= 3
        and channels <= 128
        and outputs > 1
        and (many or wide)
    )


def _matrices(x: Array, walk: Walk, groups: int) -> Iterator[tuple[int, slice, list[Array]]]:
    """Yield, for parts of each image, its number, the results, and a matrix per row of the kernel.

    A matrix is ``[groups, channels / groups * columns of the kernel, results]``. The next part
    overwrites it.
    """
    (height, width), (_, columns) = walk.out, walk.kernel
    channels, size = x.shape[1], x.shape[2:]
    reach = walk.dilation[0] * (walk.kernel[0] - 1)
    fitting = BLOCK // (channels * columns * width * x.itemsize) - reach
    rows = min(height, max(fitting, 2 * reach, 1))
    memory = np.zeros((channels, columns, rows + reach, width), x.dtype)
    flat = memory.reshape(groups, channels // groups * columns, (rows + reach) * width)
    for image in range(len(x)):
        for top in range(0, height, rows):
            first = top - walk.padding[0]  # the row of the image that comes first in memory
            low = min(max(0, -first), rows + reach)
            high = max(low, min(size[0] - first, rows + reach))
            memory[:, :, :low] = 0
            memory[:, :, high:] = 0
            for k in range(columns):
                shift, step = walk.dilation[1] * k - walk.padding[1], walk.stride[1]
                left, right = windows_inside(size[1], shift, step, width)
                start = step * left + shift
                places = slice(start, start + step * (right - left), step)
                if left < right:
                    source = x[image, :, first + low : first + high, places]
                    memory[:, k, low:high, left:right] = source
            count = min(rows, height - top) * width
            starts = range(0, (reach + 1) * width, walk.dilation[0] * width)
            span = slice(top * width, top * width + count)
            yield image, span, [flat[:, :, start : start + count] for start in starts]


def _run(x: Array, walk: Walk) -> Callable[..., None]:
    """Return what calls a function with each part of a batch: in this thread, or in several."""
    return threads.share if x.shape[1] * math.prod(walk.out) >= SHARED else threads.in_turn


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk, groups: int) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    outputs = len(weight) // groups
    result = np.empty((len(x), groups, outputs, math.prod(walk.out)), x.dtype)
    kernel = weight.reshape(groups, outputs, *weight.shape[1:]).transpose(3, 0, 1, 2, 4)
    matrix = np.ascontiguousarray(kernel).reshape(walk.kernel[0], groups, outputs, -1)
    offset: Any = None if bias is None else bias.reshape(groups, outputs, 1)

    def work(part: slice) -> None:
        for image, span, columns in _matrices(x[part], walk, groups):
            target = result[part.start + image][..., span]
            np.matmul(matrix[0], columns[0], out=target)
            for row in range(1, len(columns)):
                target += np.matmul(matrix[row], columns[row])
            if offset is not None:
                target += offset

    _run(x, walk)(work, threads.slices(len(x), max(1, -(-len(x) // PARTS))))
    return result.reshape(len(x), len(weight), *walk.out)


def correlated(x: Array, y: Array, walk: Walk, groups: int) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    parts = threads.slices(len(x), max(1, -(-len(x) // PARTS)))
    channels, outputs = x.shape[1] // groups, y.shape[1] // groups
    shape = walk.kernel[0], groups, outputs, channels * walk.kernel[1]
    totals = np.zeros((len(parts), *shape), x.dtype)
    y = y.reshape(len(y), groups, outputs, math.prod(walk.out))

    def work(number: int) -> None:
        part, total = parts[number], totals[number]
        for image, span, columns in _matrices(x[part], walk, groups):
            slopes = y[part.start + image][..., span]
            for row, matrix in enumerate(columns):
                total[row] += np.matmul(slopes, matrix.swapaxes(1, 2))

    _run(x, walk)(work, range(len(parts)))
    total = totals.sum(axis=0).reshape(*shape[:3], channels, walk.kernel[1])
    weight = np.ascontiguousarray(total.transpose(1, 2, 3, 0, 4))
    return weight.reshape(outputs * groups, channels, *walk.kernel)
