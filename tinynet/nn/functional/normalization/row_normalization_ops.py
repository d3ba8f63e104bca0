"""Operations behind layer and RMS norm: each row of numbers is normalised separately.

This is group norm with one place per channel. It has its own kernels, since arrays that are
constant along places are as large as the input here. See ``normalization_ops`` for the maths.

An empty weight or bias stands for none and saves a pass.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import threads
from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.normalization.layout import Blocks, wide
from tinynet.nn.functional.normalization.normalization_ops import (
    Grads,
    formula_gradients,
    recorded_gradients,
    shaped,
)
from tinynet.sums import column_sums, ones, row_dots, row_sums, weighted_column_sums

_NONE = np.empty(0)
_LAYER_NORM = "NativeLayerNormBackwardBackward0"
_BLOCK = 32768  # elements per block of a larger input, which fits the cache
_LARGE = 8 * _BLOCK


def _row_blocks(input: Any, length: int) -> Blocks:
    return Blocks(math.prod(input.shape) // max(length, 1), 1, length, 1)


def _as_rows(x: Array, length: int) -> Array:
    return wide(x).reshape(-1 if length else 0, length)


def _outer(column: Array, weight: Array) -> Array:
    """Return the column times the weight, which saves a pass over the input."""
    return np.dot(column, wide(weight).reshape(1, -1)) if weight.size else column


def _row_normalized(
    input: Array, weight: Array, bias: Array, length: int, eps: float, centered: bool
) -> tuple[Array, Array, Array]:
    """Return the result, and mean (0 unless ``centered``) and 1 / deviation of each row."""
    x = _as_rows(input, length)
    if x.size <= _LARGE:
        y, mean, inverse = _normalized_part(x, weight, bias, length, eps, centered)
    else:
        y, (mean, inverse) = np.empty_like(x), np.empty((2, len(x), 1), x.dtype)

        def work(part: slice) -> None:
            y[part], mean[part], inverse[part] = _normalized_part(
                x[part], weight, bias, length, eps, centered
            )

        threads.in_turn(work, threads.slices(len(x), max(1, _BLOCK // length)))
    return y.reshape(input.shape).astype(input.dtype, copy=False), mean, inverse


def _normalized_part(
    x: Array, weight: Array, bias: Array, length: int, eps: float, centered: bool
) -> tuple[Array, Array, Array]:
    y, mean = x, np.zeros((len(x), 1), x.dtype)
    if centered:
        np.divide(row_sums(x), length, out=mean[:, 0])
        y = x - mean
    spread = row_dots(y, y)
    spread /= length
    spread += eps
    np.sqrt(spread, out=spread)
    inverse = np.reciprocal(spread, out=spread)[:, None]
    factor = _outer(inverse, weight)
    y = np.multiply(y, factor, out=factor if weight.size else None)
    if bias.size:
        y += wide(bias).reshape(-1)
    return y, mean, inverse


def _row_gradients(
    g: Array, input: Array, weight: Array, mean: Array, inverse: Array, length: int, centered: bool
) -> tuple[Array, Array, Array]:
    """Return the gradients by input, weight and bias."""
    x, g2 = _as_rows(input, length), _as_rows(g, length)
    if x.size <= _LARGE:
        dx, by_weight, by_bias = _gradients_part(g2, x, weight, mean, inverse, length, centered)
        return dx.reshape(g.shape), by_weight, by_bias
    dx, step = np.empty_like(x), max(1, _BLOCK // length)
    sums = np.empty((2, -(-len(x) // step), length), x.dtype)

    def work(part: slice) -> None:
        means = mean[part] if centered else mean
        block = part.start // step
        dx[part], sums[0, block], sums[1, block] = _gradients_part(
            g2[part], x[part], weight, means, inverse[part], length, centered
        )

    threads.in_turn(work, threads.slices(len(x), step))
    by_weight, by_bias = column_sums(sums)
    return dx.reshape(g.shape), by_weight, by_bias


def _gradients_part(
    g: Array, x: Array, weight: Array, mean: Array, inverse: Array, length: int, centered: bool
) -> tuple[Array, Array, Array]:
    w = _weight_of(weight, x)
    c, r = x - mean if centered else x, inverse[:, 0]
    products = g * c
    by_weight, by_bias = weighted_column_sums(r, products), column_sums(g)
    share = r / length
    inner = row_dots(products, w)
    inner *= r
    inner *= r
    inner *= share
    np.multiply(c, inner[:, None], out=products)
    if centered:
        outer = row_dots(g, w)
        outer *= share
        products += outer[:, None]
    factor = _outer(inverse, weight)
    dx = np.multiply(g, factor, out=factor if weight.size else None)
    dx -= products
    return dx, by_weight, by_bias


def _weight_of(weight: Array, x: Array) -> Array:
    return wide(weight).reshape(-1) if weight.size else ones(x.shape[1], x.dtype)


@operation(
    node="NativeLayerNormBackward0", hidden=("mean", "inverse"), methods=False, batch="row_norm"
)
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


@operation(node="MulBackward0", hidden=("inverse",), methods=False, batch="row_norm")
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
