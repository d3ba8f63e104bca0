"""Operations behind batch, layer, group, instance and RMS norm: the same maths over other axes.

Every input is seen as ``[samples, groups, channels, places]`` (see ``Blocks``). Statistics belong
to a group, of one sample or of all; weight and bias belong to a channel. With ``c = x - mean``,
``r = 1 / sqrt(var + eps)``, ``h = c * r`` and averages ``<>`` over what shares its statistics:

    y = h * weight + bias
    dx = r * (g * weight - <g * weight> - h * <g * weight * h>)
    dweight = sum(g * h),  dbias = sum(g)

``slopes`` is these lines, in differentiable operations. They are also fused, for speed: as
composites they would be ten nodes and twice as many temporaries. Sums are BLAS products, which
add several times faster than ``np.add.reduce``, and what is constant along places stays small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tinynet import threads
from tinynet.core.operation import operation
from tinynet.core.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops import sums
from tinynet.ops.exponential import rsqrt
from tinynet.ops.reduction import mean_dims, sum_dims
from tinynet.ops.shape import reshape

Grads = tuple[Any, ...]
PART = 1 << 16  # elements that are worked on at a time


class Blocks(NamedTuple):
    """How an input is cut: ``[samples, groups, channels, places]``.

    Batch norm has ``[N, C, 1, places]`` with ``shared``, group norm ``[N, G, C / G, places]``,
    instance norm is batch norm of ``[1, N * C, 1, places]``, layer norm has ``[rows, 1, n, 1]``.

    Attributes:
        shared: whether all samples have the same statistics.
    """

    samples: int
    groups: int
    channels: int
    places: int
    shared: bool = False


def wide(x: Array) -> Array:
    """Return ``x``, float16 as float32: sums of thousands would have no digits left."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def ones(count: int, x: Array) -> Array:
    """Return a vector of ones, whose product with an array is a sum."""
    return sums.ones(count, x.dtype)


def slopes(
    g: Any, x: Any, weight: Any, blocks: Blocks, eps: float, centered: bool = True
) -> tuple[Any, Any, Any]:
    """Return the gradients by input, weight and bias, in differentiable operations."""
    shape, axes = blocks[:4], (0, 2, 3) if blocks.shared else (2, 3)
    x4, g4 = reshape(x, shape), reshape(g, shape)
    w = reshape(weight, (1, blocks.groups, blocks.channels, 1)) if weight.numel() else 1.0
    c = x4 - mean_dims(x4, axes, True) if centered else x4
    r = rsqrt(mean_dims(c * c, axes, True) + eps)
    h, gw = c * r, g4 * w
    inner = gw - h * mean_dims(gw * h, axes, True)
    dx = r * (inner - mean_dims(gw, axes, True) if centered else inner)
    by_weight, by_bias = sum_dims(g4 * h, (0, 3)), sum_dims(g4, (0, 3))
    return reshape(dx, x.shape), by_weight, by_bias


# ---- statistics of many places: batch, group and instance norm -----------------------------------


class _Rows:
    """An array as rows of places: numbers per channel are one per row.

    Threads share the rows, in parts that stay in the cache from one line of a formula to the next.
    """

    def __init__(self, blocks: Blocks):
        self.blocks = blocks
        self.shape = (blocks.samples * blocks.groups * blocks.channels, blocks.places)
        self.small = blocks[:3]
        rows = max(1, PART // max(blocks.places, 1))
        self.parts = threads.slices(self.shape[0], rows)

    def each(self, work: Callable[[slice], object]) -> None:
        """Call a function with each part of the rows."""
        if len(self.parts) > 3:
            threads.in_turn(work, self.parts)
            return
        for part in self.parts:
            work(part)

    def sums(self, kind: Any) -> Array:
        """Return memory for sums over places."""
        return np.empty(self.shape[0], kind)

    def total(self, a: Array, part: slice, sums: Array) -> None:
        """Write the sums over places of a part."""
        np.matmul(a[part], ones(self.blocks.places, a), out=sums[part])

    def dot(self, a: Array, b: Array, part: slice, sums: Array) -> None:
        """Write the sums over places of the products of a part."""
        np.vecdot(a[part], b[part], out=sums[part])

    def spread(self, a: Array) -> Array:
        """Return numbers per channel in a shape that broadcasts to the rows."""
        return np.broadcast_to(a, self.small).reshape(-1, 1)

    def average(self, sums: Array) -> Array:
        """Return averages per group from sums over places, ``[samples or 1, groups, 1]``."""
        samples, _, channels, places, shared = self.blocks
        count = channels * places * (samples if shared else 1)
        axis = (0, 2) if shared else 2
        return np.add.reduce(sums, axis=axis, keepdims=True) / max(count, 1)


class _Columns:
    """An array as a row per sample, for few places: numpy is slow at short rows.

    Only for shared statistics, as the sums are over samples, too. It is one part.
    """

    def __init__(self, blocks: Blocks):
        self.blocks = blocks
        self.shape = (blocks.samples, blocks.groups * blocks.places)
        self.small = (1, blocks.groups, 1)

    def each(self, work: Callable[[slice], object]) -> None:
        """Call a function with all samples."""
        work(slice(None))

    def sums(self, kind: Any) -> Array:
        """Return memory for sums over samples and places."""
        return np.empty(self.blocks.groups, kind)

    def total(self, a: Array, part: slice, sums: Array) -> None:
        """Write the sums over samples and places."""
        columns = (ones(self.blocks.samples, a) @ a).reshape(self.blocks.groups, -1)
        np.matmul(columns, ones(self.blocks.places, a), out=sums)

    def dot(self, a: Array, b: Array, part: slice, sums: Array) -> None:
        """Write the sums over samples and places of products."""
        self.total(a * b, part, sums)

    def spread(self, a: Array) -> Array:
        """Return numbers per channel, one for each column."""
        return np.repeat(a.reshape(-1), self.blocks.places)[None]

    def average(self, sums: Array) -> Array:
        """Return averages per group from sums over samples and places, ``[1, groups, 1]``."""
        return sums / max(self.blocks.samples * self.blocks.places, 1)


def _seen(blocks: Blocks) -> _Rows | _Columns:
    """Return the faster way to see an array; the limits are measured."""
    if blocks.shared and blocks.places < 96 and blocks.samples > 3:
        return _Columns(blocks)
    return _Rows(blocks)


def _vectors(blocks: Blocks, *given: Array) -> tuple[Array, ...]:
    return tuple(wide(a).reshape(1, blocks.groups, blocks.channels) for a in given)


def _normalized(
    input: Array, weight: Array, bias: Array, blocks: Blocks, eps: float
) -> tuple[Array, Array, Array]:
    """Return the result, and mean and variance of each group (``[samples or 1, groups, 1]``)."""
    seen = _seen(blocks)
    w, b = _vectors(blocks, weight, bias)
    x = wide(input).reshape(seen.shape)
    y, sums, squares = np.empty(x.shape, x.dtype), seen.sums(x.dtype), seen.sums(x.dtype)
    seen.each(lambda part: seen.total(x, part, sums))
    mean = seen.average(sums.reshape(seen.small))
    middle = seen.spread(mean)

    def center(part: slice) -> None:
        np.subtract(x[part], middle[part], out=y[part])
        seen.dot(y, y, part, squares)

    seen.each(center)
    var = seen.average(squares.reshape(seen.small))
    factor, offset = seen.spread(w / np.sqrt(var + eps)), seen.spread(b)

    def scale(part: slice) -> None:
        rows = y[part]
        np.multiply(rows, factor[part], out=rows)
        np.add(rows, offset[part], out=rows)

    seen.each(scale)
    return y.reshape(input.shape).astype(input.dtype, copy=False), mean, var


def _normalized_slopes(
    g: Array,
    input: Array,
    weight: Array,
    mean: Array,
    var: Array,
    blocks: Blocks,
    eps: float,
    needs: tuple[bool, ...],
    constant: bool = False,
) -> Grads:
    """Return the gradients by input, weight and bias.

    Args:
        constant: mean and variance are given numbers, not those of the input.
    """
    seen = _seen(blocks)
    (w,) = _vectors(blocks, weight)
    g2 = wide(g).reshape(seen.shape)
    r = 1 / np.sqrt(var + eps)
    dx = by_weight = by_bias = None
    sums, products = seen.sums(g2.dtype), seen.sums(g2.dtype)
    x, c = wide(input).reshape(seen.shape), np.empty(g2.shape, g2.dtype)
    middle, centered = seen.spread(mean), needs[1] or not constant

    def add_up(part: slice) -> None:
        if centered:
            np.subtract(x[part], middle[part], out=c[part])
            seen.dot(g2, c, part, products)
        if needs[2] or not constant:
            seen.total(g2, part, sums)

    seen.each(add_up)
    if centered:
        by_weight = np.add.reduce(products.reshape(seen.small) * r, axis=0)
    if needs[2] or not constant:
        by_bias = np.add.reduce(sums.reshape(seen.small), axis=0)
    if needs[0] and constant:
        dx = g2 * seen.spread(r * w)
    elif needs[0]:
        small = products.reshape(seen.small), sums.reshape(seen.small)
        dx = _centered_slope(g2, c, r, w, *small, seen)
    return None if dx is None else dx.reshape(g.shape), by_weight, by_bias


def _centered_slope(
    g: Array,
    c: Array,
    r: Array,
    w: Array,
    products: Array,
    sums: Array,
    seen: _Rows | _Columns,
) -> Array:
    """Return the gradient by the input, written over ``c``, which is the input less its mean."""
    factors: tuple[Array, ...]
    if seen.blocks.channels == 1:  # the weight is a factor of all terms: no second array
        factors = seen.average(products) * -(r**2), seen.average(sums), r * w
    else:
        factors = seen.average(w * products) * -(r**3), seen.average(w * sums) * r, r * w
    slope, middle, last = (seen.spread(factor) for factor in factors)

    def part_of(part: slice) -> None:
        rows = c[part]
        np.multiply(rows, slope[part], out=rows)
        if seen.blocks.channels == 1:
            np.add(rows, g[part], out=rows)
            np.subtract(rows, middle[part], out=rows)
            np.multiply(rows, last[part], out=rows)
        else:
            np.subtract(rows, middle[part], out=rows)
            np.add(rows, g[part] * last[part], out=rows)

    seen.each(part_of)
    return c


def shaped(grads: Grads, weight: Any, bias_shape: tuple[int, ...], needs: Any) -> Grads:
    """Return the gradients that are needed, those by weight and bias in their shape."""
    dx, by_weight, by_bias = grads
    return (
        dx if needs[0] else None,
        by_weight.reshape(weight.shape) if needs[1] else None,
        by_bias.reshape(bias_shape) if needs[2] else None,
    )


@operation(node="NativeBatchNormBackward0", outputs=("output", "mean", "var"), methods=False)
def batch_normalized(
    input: Array, weight: Array, bias: Array, /, blocks: Blocks, eps: float
) -> tuple[Array, ...]:
    """Return the normalised input, and mean and variance of each channel."""
    output, *moments = _normalized(input, weight, bias, blocks, eps)
    return output, *(m.reshape(-1) for m in moments)


def _batch_slopes(
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: tuple[int, ...],
    mean: Any,
    var: Any,
    blocks: Blocks,
    eps: float,
    needs: tuple[bool, ...],
) -> Grads:
    if isinstance(g, Tensor):
        return shaped(slopes(g, input, weight, blocks, eps), weight, bias_shape, needs)
    mean, var = (m.reshape(1, -1, 1) for m in (mean, var))
    found = _normalized_slopes(g, input, weight, mean, var, blocks, eps, needs)
    return shaped(found, weight, bias_shape, needs)


batch_normalized.grads(_batch_slopes)


@operation(node="NativeBatchNormBackward0", methods=False)
def batch_scaled(
    input: Array,
    mean: Array,
    var: Array,
    weight: Array,
    bias: Array,
    /,
    blocks: Blocks,
    eps: float,
) -> Array:
    """Return the input normalised by given means and variances, one per channel."""
    seen = _seen(blocks)
    m, v, w, b = _vectors(blocks, mean, var, weight, bias)
    scale = w / np.sqrt(v + eps)
    y = wide(input).reshape(seen.shape) * seen.spread(scale)
    y += seen.spread(b - m * scale)
    return y.reshape(input.shape).astype(input.dtype, copy=False)


def _batch_scaled_slopes(
    g: Any,
    input: Any,
    mean: Any,
    var: Any,
    weight: Any,
    bias_shape: tuple[int, ...],
    blocks: Blocks,
    eps: float,
    needs: tuple[bool, ...],
) -> Grads:
    wanted = (needs[0], *needs[3:])
    if isinstance(g, Tensor):
        shape, small = blocks[:4], (1, blocks.groups, 1, 1)
        r = rsqrt(reshape(var, small) + eps)
        g4, h = reshape(g, shape), (reshape(input, shape) - reshape(mean, small)) * r
        dx = reshape(g4 * (reshape(weight, small) * r), g.shape)
        found: Grads = dx, sum_dims(g4 * h, (0, 3)), sum_dims(g4, (0, 3))
    else:
        m, v = _vectors(blocks, mean, var)
        found = _normalized_slopes(g, input, weight, m, v, blocks, eps, wanted, constant=True)
    dx, by_weight, by_bias = shaped(found, weight, bias_shape, wanted)
    return dx, None, None, by_weight, by_bias


batch_scaled.grads(_batch_scaled_slopes)


@operation(node="NativeGroupNormBackward0", hidden=("mean", "var"), methods=False)
def group_normalized(
    input: Array, weight: Array, bias: Array, /, blocks: Blocks, eps: float
) -> tuple[Array, ...]:
    """Return the input normalised by mean and variance of each group of each sample."""
    return _normalized(input, weight, bias, blocks, eps)


def _group_slopes(
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: tuple[int, ...],
    mean: Any,
    var: Any,
    blocks: Blocks,
    eps: float,
    needs: tuple[bool, ...],
) -> Grads:
    if isinstance(g, Tensor):
        found: Grads = slopes(g, input, weight, blocks, eps)
    else:
        found = _normalized_slopes(g, input, weight, mean, var, blocks, eps, needs)
    return shaped(found, weight, bias_shape, needs)


group_normalized.grads(_group_slopes)
