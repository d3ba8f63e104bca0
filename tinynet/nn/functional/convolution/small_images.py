"""Depthwise convolutions of small images, as one product with a matrix for each channel.

The matrix has a row for each element of an image and a column for each result: the weights where a
window contains the element, zeros elsewhere. The whole batch is multiplied in place. Gradients use
the same matrix (Toeplitz, with any stride and dilation).

Zeros of the matrix times an infinity give NaN in unrelated results; callers check for these.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from tinynet.dtypes import Array
from tinynet.nn.functional.convolution.im2col import Walk, windows_inside

Ints = tuple[int, ...]
LARGEST = 1 << 14  # elements of a matrix
SHARE = 3  # elements of windows whose copies take as long as an element of a matrix


def pays(batch: int, channels: int, size: Ints, walk: Walk, groups: int) -> bool:
    """Return whether this algorithm is faster, as measured."""
    elements = math.prod(size)
    return (
        groups == channels > 1
        and min(walk.padding) >= 0
        and 0 < elements * math.prod(walk.out) <= LARGEST
        and SHARE * elements <= batch * math.prod(walk.kernel)
    )


@functools.lru_cache(maxsize=64)
def _taps(size: Ints, walk: Walk) -> Array:
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


@functools.lru_cache(maxsize=64)
def _places(size: Ints, walk: Walk) -> Array:
    """Return where each element of the kernel is in a flat matrix: ``[kernel, out]``.

    Where it is nowhere, it is the one after the last.
    """
    taps = _taps(size, walk)
    places = np.full((math.prod(walk.kernel) + 1, taps.shape[1]), taps.size)
    rows, columns = np.indices(taps.shape)
    places[taps, columns] = rows * taps.shape[1] + columns
    return places[:-1]


def _matrix(weight: Array, taps: Array) -> Array:
    """Return the elements of ``[channels, 1, *kernel]`` as ``[channels, *taps.shape]``."""
    kernels = weight.reshape(len(weight), math.prod(weight.shape[1:]))
    padded = np.zeros((len(kernels), kernels.shape[1] + 1), weight.dtype)
    padded[:, :-1] = kernels
    return np.take(padded, taps, axis=1)


def _by_channel(x: Array) -> Array:
    """Return ``[batch, channels, *size]`` as a view ``[channels, batch, size]``."""
    return x.reshape(*x.shape[:2], -1).swapaxes(0, 1)


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    return _times(x, _matrix(weight, _taps(x.shape[2:], walk)), bias, walk.out)


def spread(y: Array, weight: Array, bias: Array | None, size: Ints, walk: Walk) -> Array:
    """Return the transposed convolution of ``[batch, channels, *out]``, plus the bias."""
    return _times(y, _matrix(weight, _taps(size, walk).T), bias, size)


def _times(x: Array, matrix: Array, bias: Array | None, size: Ints) -> Array:
    result = np.empty((*x.shape[:2], *size), x.dtype)
    np.matmul(_by_channel(x), matrix, out=_by_channel(result))
    if bias is not None:
        result += bias.reshape(-1, *(1,) * len(size))
    return result


def correlated(x: Array, y: Array, walk: Walk) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    size, channels = x.shape[2:], x.shape[1]
    length = math.prod(size) * math.prod(walk.out)
    total = np.zeros((channels, length + 1), x.dtype)
    product = total[:, :-1].reshape(channels, math.prod(size), -1)
    np.matmul(_by_channel(x).swapaxes(1, 2), _by_channel(y), out=product)
    sums = np.take(total, _places(size, walk), axis=1).sum(axis=2)
    return sums.reshape(channels, 1, *walk.kernel)
