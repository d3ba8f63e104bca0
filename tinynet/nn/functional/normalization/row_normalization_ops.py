"""Operations behind layer and RMS norm: each row of numbers is normalised separately.

This is group norm with one place per channel. It has its own kernels, since arrays that are
constant along places are as large as the input here. See ``normalization_ops`` for the maths.

An empty weight or bias stands for none and saves a pass.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.sums import column_sums, ones, row_dots, row_sums
from tinynet.nn.functional.normalization.normalization_ops import (
    Blocks,
    Grads,
    formula_gradients,
    recorded_gradients,
    shaped,
    wide,
)

_NONE = np.empty(0)
_LAYER_NORM = "NativeLayerNormBackwardBackward0"
_BLOCK = 65536  # elements per block of a larger input, which fits the cache
_LARGE = 2 * _BLOCK


def _row_blocks(input: Any, length: int) -> Blocks:
    return Blocks(math.prod(input.shape) // max(length, 1), 1, length, 1)


def _as_rows(x: Array, length: int) -> Array:
    return wide(x).reshape(-1 if length else 0, length)


def _parts(x: Array) -> list[slice]:
    """Return the rows that are computed at once: all if they fit the cache."""
    whole = x.size <= _LARGE
    return [slice(None)] if whole else threads.slices(len(x), max(1, _BLOCK // x.shape[1]))


def _row_normalized(
    input: Array, weight: Array, bias: Array, length: int, eps: float, centered: bool
) -> tuple[Array, Array, Array]:
    """Return the result, and mean (0 unless ``centered``) and 1 / deviation of each row."""
    x = _as_rows(input, length)
    w, b = wide(weight).reshape(-1), wide(bias).reshape(-1)
    made, (mean, inverse) = np.empty_like(x), np.zeros((2, len(x), 1), x.dtype)
    with threads.row_by_row(length):
        for part in _parts(x):
            y = rows = x[part]
            if centered:
                np.divide(row_sums(rows), length, out=mean[part, 0])
                y = np.subtract(rows, mean[part], out=made[part])
            spread = row_dots(y, y)
            spread /= length
            spread += eps
            np.sqrt(spread, out=spread)
            np.reciprocal(spread, out=inverse[part, 0])
            y = np.multiply(y, inverse[part], out=made[part])
            if w.size:
                y *= w
            if b.size:
                y += b
    return made.reshape(input.shape).astype(input.dtype, copy=False), mean, inverse


def _row_gradients(
    g: Array, input: Array, weight: Array, mean: Array, inverse: Array, length: int, centered: bool
) -> tuple[Array, Array, Array]:
    """Return the gradients by input, weight and bias."""
    x, g2 = _as_rows(input, length), _as_rows(g, length)
    w = wide(weight).reshape(-1) if weight.size else ones(length, x.dtype)
    dx, parts = np.empty_like(x), _parts(x)
    sums = np.empty((2, len(parts), length), x.dtype)
    with threads.row_by_row(length):
        for number, part in enumerate(parts):
            h, rows = dx[part], g2[part]
            c = np.subtract(x[part], mean[part], out=h) if centered else x[part]
            np.multiply(c, inverse[part], out=h)
            products = rows * h
            sums[0, number], sums[1, number] = column_sums(products), column_sums(rows)
            inner = row_dots(products, w)
            inner /= length
            h *= inner[:, None]
            if centered:
                outer = row_dots(rows, w)
                outer /= length
                h += outer[:, None]
            np.subtract(np.multiply(rows, w, out=products) if weight.size else rows, h, out=h)
            h *= inverse[part]
    by_weight, by_bias = column_sums(sums)
    return dx.reshape(g.shape), by_weight, by_bias


@operation(node="NativeLayerNormBackward0", hidden=("mean", "inverse"))
def layer_normalized(
    input: Array, weight: Array, bias: Array, /, length: int, eps: float
) -> tuple[Array, ...]:
    """Return the input normalised by mean and variance of each row of ``length`` numbers."""
    return _row_normalized(input, weight, bias, length, eps, True)


def _layer_formula(
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: tuple[int, ...],
    mean: Any,
    inverse: Any,
    length: int,
    eps: float,
    needs: tuple[bool, ...],
) -> Grads:
    if isinstance(g, Tensor):
        blocks = _row_blocks(input, length)
        return recorded_gradients(_LAYER_NORM, g, input, weight, blocks, eps, bias_shape, needs)
    found = _row_gradients(g, input, weight, mean, inverse, length, True)
    return shaped(found, weight, bias_shape, needs)


layer_normalized.grads(_layer_formula)


@operation(node="MulBackward0", hidden=("inverse",))
def rms_normalized(input: Array, weight: Array, /, length: int, eps: float) -> tuple[Array, Array]:
    """Return the input divided by the root of the mean square of each row of ``length`` numbers."""
    output, _, inverse = _row_normalized(input, weight, _NONE, length, eps, False)
    return output, inverse


def _rms_formula(
    g: Any, input: Any, weight: Any, inverse: Any, length: int, eps: float, needs: tuple[bool, ...]
) -> Grads:
    if isinstance(g, Tensor):
        found: Grads = formula_gradients(g, input, weight, _row_blocks(input, length), eps, False)
    else:
        found = _row_gradients(g, input, weight, _NONE, inverse, length, False)
    return shaped(found, weight, (), (*needs, False))[:2]


rms_normalized.grads(_rms_formula)
