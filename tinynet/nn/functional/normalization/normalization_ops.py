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

from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.double_backward import one_node
from tinynet.nn.functional.normalization.layout import Blocks, Columns, Rows, seen_as, wide
from tinynet.nn.functional.normalization.normalization_compiled import compiled_rows
from tinynet.ops.pointwise.exponential import rsqrt
from tinynet.ops.reduction.sums import mean_dims, sum_dims
from tinynet.ops.shaping.views import reshape

Grads = tuple[Any, ...]


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


# ---- statistics of many places: batch, group and instance norm ----------------------------------


def _vectors(blocks: Blocks, *given: Array) -> tuple[Array, ...]:
    return tuple(wide(a).reshape(1, blocks.groups, blocks.channels) for a in given)


def _normalized(
    input: Array, weight: Array, bias: Array, blocks: Blocks, eps: float
) -> tuple[Array, Array, Array]:
    """Return the result, and mean and variance of each group (``[samples or 1, groups, 1]``)."""
    w, b = _vectors(blocks, weight, bias)
    x = wide(input)
    rows = compiled_rows(blocks, x, w, b)
    if rows is not None:
        y, mean, var = rows.normalized(x, w, b, eps)
        return y.reshape(input.shape).astype(input.dtype, copy=False), mean, var
    seen = seen_as(blocks)
    x = x.reshape(seen.shape)
    y, totals, squares = np.empty(x.shape, x.dtype), seen.memory(), seen.memory()
    seen.each(lambda part: seen.total(x, part, totals))
    mean = seen.average(totals.reshape(seen.small))
    middle, rest = seen.spread(mean, x.dtype), mean - mean.astype(x.dtype)

    def center(part: slice) -> None:
        np.subtract(x[part], middle[part], out=y[part])
        seen.dot(y, y, part, squares)

    seen.each(center)
    var = np.maximum(seen.average(squares.reshape(seen.small)) - np.square(rest), 0)
    scales = w / np.sqrt(var + eps)
    factor, offset = (seen.spread(a, x.dtype) for a in (scales, b - rest * scales))

    def scale(part: slice) -> None:
        rows = y[part]
        np.multiply(rows, factor[part], out=rows)
        np.add(rows, offset[part], out=rows)

    seen.each(scale)
    return y.reshape(input.shape).astype(input.dtype, copy=False), mean, var


def _moving_slopes(
    g: Array,
    input: Array,
    weight: Array,
    mean: Array,
    var: Array,
    blocks: Blocks,
    eps: float,
    needs: tuple[bool, ...],
) -> Grads:
    """Return the gradients by input, weight and bias, where mean and variance are the input's."""
    rows = compiled_rows(blocks, wide(g), wide(input), wide(weight))
    if rows is None:
        return _normalized_slopes(g, input, weight, mean, var, blocks, eps, needs)
    dx, *others = rows.slopes(wide(g), wide(input), wide(weight), mean, var, eps)
    return dx.reshape(g.shape), *others


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
    seen = seen_as(blocks)
    (w,) = _vectors(blocks, weight)
    g2 = wide(g).reshape(seen.shape)
    dx = by_weight = by_bias = None
    totals, products, r = seen.memory(), seen.memory(), 1 / np.sqrt(var + eps)
    kind, x, c = g2.dtype, wide(input).reshape(seen.shape), np.empty(g2.shape, g2.dtype)
    middle, centered = seen.spread(mean, kind), needs[1] or not constant

    def add_up(part: slice) -> None:
        if centered:
            np.subtract(x[part], middle[part], out=c[part])
            seen.dot(g2, c, part, products)
        if needs[2] or not constant:
            seen.total(g2, part, totals)

    seen.each(add_up)
    totals, products = totals.reshape(seen.small), products.reshape(seen.small)
    if needs[2] or not constant:
        by_bias = np.add.reduce(totals, axis=0).astype(kind)
    rest = mean - mean.astype(kind)
    if not constant:
        products -= rest * totals
    if centered:
        by_weight = np.add.reduce(products * r, axis=0).astype(kind)
    if needs[0] and constant:
        dx = g2 * seen.spread(r * w, kind)
    elif needs[0]:
        dx = _centered_slope(g2, c, r, w, products, totals, rest, seen)
    return None if dx is None else dx.reshape(g.shape), by_weight, by_bias


def _centered_slope(
    g: Array,
    c: Array,
    r: Array,
    w: Array,
    products: Array,
    totals: Array,
    rest: Array,
    seen: Rows | Columns,
) -> Array:
    """Return the gradient by the input, written over ``c``, which is the input less its mean.

    It is so but for ``rest``, what float32 does not hold of the mean.
    """
    alone = seen.blocks.channels == 1  # the weight is a factor of all terms: no second array
    by, power = (1, 2) if alone else (w, 3)
    by_place, middle = seen.average(by * products) * -(r**power), seen.average(by * totals)
    middle = (middle if alone else middle * r) + rest * by_place
    slope, middle, last = (seen.spread(a, g.dtype) for a in (by_place, middle, r * w))

    def part_of(part: slice) -> None:
        rows = c[part]
        np.multiply(rows, slope[part], out=rows)
        if alone:
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


_BATCH_NORM = "NativeBatchNormBackwardBackward0"


def recorded_slopes(
    node: str,
    g: Tensor,
    input: Tensor,
    weight: Tensor,
    blocks: Blocks,
    eps: float,
    bias_shape: tuple[int, ...],
    needs: tuple[bool, ...],
) -> Grads:
    """Return the gradients by input, weight and bias, as what one node gave."""
    found: Grads = one_node(
        node,
        lambda g, x, w: shaped(slopes(g, x, w, blocks, eps), w, bias_shape, needs),
        g,
        input,
        weight,
    )
    return found


@operation(
    node="NativeBatchNormBackward0", outputs=("output", "mean", "var"), methods=False, batch="loop"
)
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
        return recorded_slopes(_BATCH_NORM, g, input, weight, blocks, eps, bias_shape, needs)
    mean, var = (m.reshape(1, -1, 1) for m in (mean, var))
    found = _moving_slopes(g, input, weight, mean, var, blocks, eps, needs)
    return shaped(found, weight, bias_shape, needs)


batch_normalized.grads(_batch_slopes)


@operation(node="NativeBatchNormBackward0", methods=False, batch="group_norm")
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
    seen = seen_as(blocks)
    m, v, w, b = _vectors(blocks, mean, var, weight, bias)
    scale = w / np.sqrt(v + eps)
    x = wide(input)
    rows = compiled_rows(blocks, x, m, scale, b)
    if rows is not None:
        y = rows.scaled(x, m, scale, b)
    else:
        y = x.reshape(seen.shape) * seen.spread(scale, x.dtype)
        y += seen.spread(b - m * scale, x.dtype)
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

    def steps(g: Any, input: Any, mean: Any, var: Any, weight: Any) -> Grads:
        shape, small = blocks[:4], (1, blocks.groups, 1, 1)
        r = rsqrt(reshape(var, small) + eps)
        g4, h = reshape(g, shape), (reshape(input, shape) - reshape(mean, small)) * r
        dx = reshape(g4 * (reshape(weight, small) * r), g.shape)
        found = dx, sum_dims(g4 * h, (0, 3)), sum_dims(g4, (0, 3))
        return shaped(found, weight, bias_shape, wanted)

    if isinstance(g, Tensor):
        found: Grads = one_node(_BATCH_NORM, steps, g, input, mean, var, weight)
    else:
        m, v = _vectors(blocks, mean, var)
        found = _normalized_slopes(g, input, weight, m, v, blocks, eps, wanted, constant=True)
        found = shaped(found, weight, bias_shape, wanted)
    dx, by_weight, by_bias = found
    return dx, None, None, by_weight, by_bias


batch_scaled.grads(_batch_scaled_slopes)


@operation(
    node="NativeGroupNormBackward0", hidden=("mean", "var"), methods=False, batch="group_norm"
)
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
        found = _moving_slopes(g, input, weight, mean, var, blocks, eps, needs)
    return shaped(found, weight, bias_shape, needs)


group_normalized.grads(_group_slopes)
