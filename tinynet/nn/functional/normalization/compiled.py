"""Batch norm by the kernels of ``kernels/numba``."""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels import numba as numba_kernels
from tinynet.nn.functional.normalization.layout import Blocks

Arrays = tuple[Array, ...]


def takes(blocks: Blocks, input: Array, *others: Array) -> bool:
    """Return whether the kernels compute a batch norm, or its gradients.

    Their rows are places: without these, numpy is faster.
    """
    plain = blocks.shared and blocks.channels == 1 and blocks.places > 1 and input.size
    return bool(plain and all(a.size for a in others) and numba_kernels.takes(input, *others))


def _rows(blocks: Blocks, *arrays: Array) -> Arrays:
    shape = blocks.samples, blocks.groups, blocks.places
    return tuple(np.ascontiguousarray(a).reshape(shape) for a in arrays)


def _vectors(*arrays: Array) -> Arrays:
    return tuple(np.ascontiguousarray(a).reshape(-1) for a in arrays)


def batch_norm(input: Array, weight: Array, bias: Array, blocks: Blocks, eps: float) -> Arrays:
    """Return the normalised input, and mean and variance of each channel."""
    (x,), (w, b) = _rows(blocks, input), _vectors(weight, bias)
    y, mean, var = np.empty_like(x), np.empty(blocks.groups), np.empty(blocks.groups)
    numba_kernels.images.batch_norm(x, w, b, float(eps), y, mean, var)
    return y.reshape(input.shape), mean, var


def batch_norm_gradients(
    g: Array, input: Array, weight: Array, mean: Array, var: Array, blocks: Blocks, eps: float
) -> Arrays:
    """Return the gradients by input, weight and bias."""
    (slopes, x), (w, m, v) = _rows(blocks, g, input), _vectors(weight, mean, var)
    dx, (by_weight, by_bias) = np.empty_like(x), np.empty((2, blocks.groups), np.float32)
    numba_kernels.images.batch_norm_slope(slopes, x, w, m, v, float(eps), dx, by_weight, by_bias)
    return dx.reshape(input.shape), by_weight, by_bias
