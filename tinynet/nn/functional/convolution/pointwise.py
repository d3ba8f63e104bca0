"""Convolutions with kernels of length 1: products of weight and channels, without a copy."""

from __future__ import annotations

import math

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.convolution.im2col import per_block
from tinynet.nn.functional.geometry import Geometry, Ints


def convolved(x: Array, weight: Array, bias: Array | None, walk: Geometry, groups: int) -> Array:
    """Return the convolution of ``[batch, channels, *size]`` and a weight, plus the bias."""
    outputs, channels = len(weight) // groups, x.shape[1] // groups
    return _times(weight.reshape(groups, outputs, channels), x, bias)


def spread(
    y: Array, weight: Array, bias: Array | None, size: Ints, walk: Geometry, groups: int
) -> Array:
    """Return the transposed convolution of ``[batch, channels, *size]``, plus the bias."""
    matrix = weight.reshape(groups, len(weight) // groups, weight.shape[1])
    return _times(matrix.swapaxes(1, 2), y, bias)


def _times(matrix: Array, x: Array, bias: Array | None) -> Array:
    """Return the product of ``[groups, outputs, channels]`` and each image."""
    groups, outputs, _ = matrix.shape
    images = _images(x, groups)
    if _apart(images):
        result = np.matmul(matrix, images)
    else:
        product = np.matmul(matrix, _side_by_side(images))
        result = product.reshape(groups, outputs, len(x), images.shape[3]).transpose(2, 0, 1, 3)
    result = result.reshape(len(x), groups * outputs, *x.shape[2:])
    if bias is not None:
        result += bias.reshape(-1, *(1,) * (x.ndim - 2))
    return result


def correlated(x: Array, y: Array, groups: int) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    images, slopes = _images(x, groups), _images(y, groups)
    rows, length = images.shape[2:]
    size = slopes.shape[2] * rows * groups * x.itemsize
    total: Array | None = None
    for part in threads.slices(len(x), per_block(groups * rows * length * x.itemsize, size)):
        some, against = images[part], slopes[part]
        if len(some) > 1 and _apart(images):
            product = np.matmul(against, some.swapaxes(2, 3)).sum(0)
        else:
            product = np.matmul(_side_by_side(against), _side_by_side(some).swapaxes(1, 2))
        total = product if total is None else np.add(total, product, out=total)
    if total is None:
        total = np.zeros((groups, slopes.shape[2], rows), x.dtype)
    return total.reshape(y.shape[1], rows, *(1,) * (x.ndim - 2))


def _images(x: Array, groups: int) -> Array:
    """Return ``[batch, groups, channels, elements]``."""
    return x.reshape(len(x), groups, x.shape[1] // groups, math.prod(x.shape[2:]))


def _apart(images: Array) -> bool:
    """Return whether each image is a matrix large enough for a product of its own."""
    return len(images) == 1 or images.shape[2] < images.shape[3]


def _side_by_side(images: Array) -> Array:
    """Return the images as one matrix per group, ``[groups, channels, batch * elements]``."""
    batch, groups, channels, length = images.shape
    return images.transpose(1, 2, 0, 3).reshape(groups, channels, batch * length)
