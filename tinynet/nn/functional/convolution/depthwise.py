"""Depthwise convolutions, a few rows of results at a time, without a copy of the images.

The rows of an image that some rows of results depend on follow each other in memory. So for each
channel, these rows of the batch are a matrix, and the results its product with a matrix that has a
row for each element and a column for each result: the weights where a window contains the element,
zeros elsewhere (Toeplitz, with any stride and dilation). Gradients of weights are dot products of
images that are shifted against each other.

Zeros times an infinity give NaN in unrelated results; callers check for these.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.geometry import Geometry, windows_inside

Ints = tuple[int, ...]
LEAST = 4  # images in a batch
TOGETHER = 16  # results of a product
WIDEST = 64  # elements of a row
PART = 1 << 17  # elements of images whose dot products are computed together


def _rows(walk: Geometry) -> tuple[int, int]:
    """Return the numbers of rows of results of a product, and of elements."""
    count = min(walk.out[0], -(-TOGETHER // max(1, math.prod(walk.out[1:]))))
    return count, walk.stride[0] * (count - 1) + walk.spans[0]


def pays(shape: Ints, walk: Geometry, groups: int) -> bool:
    """Return whether this algorithm is faster for images of a shape, as measured."""
    (count, rows), width = _rows(walk), math.prod(shape[3:])
    return (
        groups == shape[1] > 1
        and shape[0] >= LEAST
        and width <= WIDEST
        and min(walk.padding) >= 0
        and math.prod(shape) > 0
        and rows * count * math.prod(walk.out[1:]) <= shape[0] * shape[2]
    )


@functools.lru_cache(maxsize=64)
def _taps(size: Ints, walk: Geometry) -> Array:
    """Return which element of the kernel joins each element and each result: ``[size, out]``.

    Where none does, it is the one after the last.
    """
    length = math.prod(walk.kernel)
    taps, inside = np.zeros((1, 1), np.int64), np.ones((1, 1), bool)
    for n, kernel, stride, padding, dilation, out in zip(size, *walk, strict=True):
        along = np.full((n, out), -1)
        for k in range(kernel):
            shift = dilation * k - padding
            results = np.arange(*windows_inside(n, shift, stride, out))
            along[stride * results + shift, results] = k
        shape = len(taps) * n, taps.shape[1] * out
        taps = (taps[:, None, :, None] * kernel + along[:, None]).reshape(shape)
        inside = (inside[:, None, :, None] & (along[:, None] >= 0)).reshape(shape)
    return np.where(inside, taps, length)


def _matrix(weight: Array, taps: Array) -> Array:
    """Return the elements of ``[channels, 1, *kernel]`` as ``[channels, *taps.shape]``."""
    kernels = weight.reshape(len(weight), math.prod(weight.shape[1:]))
    padded = np.zeros((len(kernels), kernels.shape[1] + 1), weight.dtype)
    padded[:, :-1] = kernels
    return np.take(padded, taps, axis=1)


def _by_channel(x: Array) -> Array:
    """Return ``[batch, channels, *size]`` as a view ``[channels, batch, size]``."""
    return x.reshape(*x.shape[:2], -1).swapaxes(0, 1)


def convolved(x: Array, weight: Array, bias: Array | None, walk: Geometry, groups: int) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    (count, rows), (_, stride, padding, _, out) = _rows(walk), walk
    height, width, row = x.shape[2], math.prod(x.shape[3:]), math.prod(out[1:])
    slab = walk._replace(padding=(0, *padding[1:]), out=(count, *out[1:]))
    matrix = _matrix(weight, _taps((rows, *x.shape[3:]), slab))
    result = np.empty((*x.shape[:2], *out), x.dtype)
    images, results = _by_channel(np.ascontiguousarray(x)), _by_channel(result)
    step, before = count * stride[0], padding[0]
    first = -(-before // step)  # of the products whose elements are all inside
    last = max(first, min(out[0] // count, (height + before - rows) // step + 1))
    if last > first:
        (channel, image, item), n = images.strides, last - first
        shape, steps = (*images.shape[:1], n, len(x)), (channel, step * width * item, image, item)
        inside = images[:, :, (first * step - before) * width :]
        inside = as_strided(inside, (*shape, rows * width), steps, writeable=False)
        steps = results.strides[0], count * row * item, results.strides[1], item
        made = as_strided(results[:, :, first * count * row :], (*shape, count * row), steps)
        np.matmul(inside, matrix[:, None], out=made)
    for number in (*range(first), *range(last, -(-out[0] // count))):
        top, done = number * step - before, number * count
        low, high = max(top, 0), max(min(top + rows, height), max(top, 0))
        some, length = images[:, :, low * width : high * width], min(count, out[0] - done) * row
        part = matrix[:, (low - top) * width : (high - top) * width, :length]
        results[:, :, done * row : done * row + length] = np.matmul(some, part)
    if bias is not None:
        result += bias.reshape(-1, *(1,) * len(out))
    return result


def correlated(x: Array, y: Array, walk: Geometry) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    channels, sizes = x.shape[1], zip(x.shape[2:], walk.padding, walk.reach, strict=True)
    frame = tuple([max(n + p, reach + 1) for n, p, reach in sizes])
    size, total = math.prod(frame), np.zeros((channels, *walk.kernel), x.dtype)
    steps = [math.prod(frame[d + 1 :]) for d in range(len(frame))]
    inside = [slice(p, p + n) for p, n in zip(walk.padding, x.shape[2:], strict=True)]
    seen = [slice(0, (o - 1) * s + 1, s) for o, s in zip(walk.out, walk.stride, strict=True)]
    end = sum(s.stop * step for s, step in zip(seen, steps, strict=True)) - sum(steps) + 1
    for part in threads.slices(len(x), max(1, PART // (channels * size))):
        count = part.stop - part.start
        images, slopes = np.zeros((2, channels, count, *frame), x.dtype)
        images[(..., *inside)] = x[part].swapaxes(0, 1)
        slopes[(..., *seen)] = y[part].swapaxes(0, 1)
        length = (count - 1) * size + end
        images, slopes = (a.reshape(channels, count * size) for a in (images, slopes))
        for place in itertools.product(*map(range, walk.kernel)):
            at = sum(k * d * step for k, d, step in zip(place, walk.dilation, steps, strict=True))
            run = images[:, at : at + length]
            element: Any = (slice(None), *place)
            total[element] += np.vecdot(run, slopes[:, :length])
    return total.reshape(channels, 1, *walk.kernel)
