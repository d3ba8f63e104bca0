"""Operations behind layer and RMS norm: each row of numbers is normalised separately.

This is group norm with one place per channel. It has its own kernels, since arrays that are
constant along places are as large as the input here. See ``normalization_ops`` for the maths.

An empty weight or bias stands for none and saves a pass.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.sums import column_sums, row_dots, row_sums
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
_SMALL = 8192  # elements up to which numpy's usual loops take less time than to change them


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
    """Return the result, and mean (unless ``centered``: none) and 1 / deviation of each row."""
    x = _as_rows(input, length)
    w, b = wide(weight).reshape(-1), wide(bias).reshape(-1)
    made, (count, small) = np.empty_like(x), _numbers(x.dtype, length, eps)

    def work(rows: slice) -> tuple[Array, Array]:
        return _write_normalized(x[rows], w, b, count, small, centered, made[rows])

    mean, inverse = _in_parts(work, x)
    return made.reshape(input.shape).astype(input.dtype, copy=False), mean, inverse


def _in_parts(work: Callable[[slice], tuple[Array, Array]], x: Array) -> tuple[Array, Array]:
    """Return the results for all rows, those of parts one after the other."""
    if x.size <= _SMALL:
        return work(slice(None))
    with threads.row_by_row(x.shape[1]):
        found = [work(part) for part in _parts(x)]
    one, other = zip(*found, strict=True)
    return found[0] if len(found) == 1 else (np.concatenate(one), np.concatenate(other))


@functools.lru_cache(maxsize=64)
def _numbers(kind: np.dtype[Any], *numbers: float) -> tuple[Array, ...]:
    """Return numbers as arrays, since numpy takes twice as long to convert Python's."""
    return tuple(np.array(number, kind) for number in numbers)


def _write_normalized(
    x: Array, w: Array, b: Array, count: Array, eps: Array, centered: bool, out: Array
) -> tuple[Array, Array]:
    """Write normalised rows; return their mean and 1 / deviation, ``[rows, 1]``."""
    kind, mean, y = x.dtype, _NONE, x
    if centered:
        mean = np.divide(row_sums(x), count).astype(kind, copy=False)[:, None]
        y = np.subtract(x, mean, out=out)
    spread = row_dots(y, y)
    np.divide(spread, count, out=spread)
    np.add(spread, eps, out=spread)
    inverse = np.reciprocal(np.sqrt(spread, out=spread), out=spread)[:, None]
    np.multiply(y, inverse, out=out)
    if w.size:
        np.multiply(out, w, out=out)
    if b.size:
        np.add(out, b, out=out)
    return mean, inverse


def _row_gradients(
    g: Array, input: Array, weight: Array, mean: Array, inverse: Array, length: int, centered: bool
) -> tuple[Array, Array, Array]:
    """Return the gradients by input, weight and bias; without a weight, the last two are empty."""
    x, g2 = _as_rows(input, length), _as_rows(g, length)
    w, (count,) = wide(weight).reshape(-1), _numbers(x.dtype, length)
    dx = np.empty_like(x)

    def work(rows: slice) -> tuple[Array, Array]:
        middle = mean[rows] if centered else _NONE
        return _write_slopes(g2[rows], x[rows], w, middle, inverse[rows], count, dx[rows])

    by_weight, by_bias = (x[0] if len(x) == 1 else column_sums(x) for x in _in_parts(work, x))
    return dx.reshape(g.shape), by_weight, by_bias


def _write_slopes(
    g: Array, x: Array, w: Array, mean: Array, inverse: Array, count: Array, out: Array
) -> tuple[Array, Array]:
    """Write the gradient by the rows; return those by weight and bias, ``[1, n]``.

    With ``c = x - mean``, ``r`` the inverse deviation and ``s = r * g * weight``, it is
    ``s - <s> - c * r * r * <s * c>``, for which ``r`` is applied last if there is no weight.
    """
    centered = mean.size > 0
    c = np.subtract(x, mean, out=out) if centered else x
    if not w.size:
        factor, total = row_dots(g, c)[:, None], column_sums(g)[None]
        by_weight, s = total, g
        middle = row_sums(g).astype(g.dtype, copy=False)[:, None] if centered else None
    else:
        scaled = g * inverse
        products = scaled * c
        by_weight, total = column_sums(products)[None], column_sums(g)[None]
        factor = np.dot(products, w)[:, None]
        middle = np.dot(scaled, w)[:, None] if centered else None
        s = np.multiply(scaled, w, out=scaled)
    factor *= inverse
    factor *= inverse
    factor /= count
    np.subtract(s, np.multiply(c, factor, out=out), out=out)
    if middle is not None:
        np.subtract(out, np.divide(middle, count, out=middle), out=out)
    if not w.size:
        np.multiply(out, inverse, out=out)
    return by_weight, total


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
