"""Operations behind batch, layer, group, instance and RMS norm: the same maths over other axes.

Every input is treated as ``[samples, groups, channels, places]`` (see ``Blocks``). Each group, of
one sample or of all, has its statistics; each channel has its weight and bias. With
``c = x - mean``, ``r = 1 / sqrt(var + eps)``, ``h = c * r`` and averages ``<>`` over a group:

    y = h * weight + bias
    dx = r * (g * weight - <g * weight> - h * <g * weight * h>)
    dweight = sum(g * h),  dbias = sum(g)

``formula_gradients`` computes these lines with differentiable operations, for second derivatives.
The kernels fuse them for speed: as composites they would be ten nodes and twice as many
temporaries. Those here are of batch and instance norm, and of small groups;
``sample_normalization_ops`` has the others.
Sums are BLAS products, several times faster than ``np.add.reduce``, and arrays that are constant
along places stay small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels
from tinynet.kernels import threads
from tinynet.kernels.sums import add_up, column_sums, row_dots, row_sums
from tinynet.nn.functional.double_backward import one_node
from tinynet.ops.pointwise.exponential import rsqrt
from tinynet.ops.reduction.sums import mean_dims, sum_dims
from tinynet.ops.shaping.views import reshape

# ---- layout -------------------------------------------------------------------------------------
# Input layouts of normalisations: ``[samples, groups, channels, places]``, by rows or columns.


PART = threads.WIDE  # elements per block


class Blocks(NamedTuple):
    """The partition of an input: ``[samples, groups, channels, places]``.

    Batch norm uses ``[N, C, 1, places]`` with ``shared``, group norm ``[N, G, C / G, places]``,
    layer norm ``[rows, 1, n, 1]``. Instance norm is batch norm of ``[1, N * C, 1, places]``.

    Attributes:
        shared: whether all samples have the same statistics.
    """

    samples: int
    groups: int
    channels: int
    places: int
    shared: bool = False


def wide(x: Array) -> Array:
    """Return ``x``; float16 as float32, since long sums in float16 lose all precision."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


class Rows:
    """An array as rows of places, with one number per channel for each row.

    Parts stay in the cache from one line of a formula to the next.
    """

    def __init__(self, blocks: Blocks):
        self.blocks = blocks
        self.shape = (blocks.samples * blocks.groups * blocks.channels, blocks.places)
        self.rows = max(1, PART // max(blocks.places, 1))

    def each(self, work: Callable[[slice], object]) -> None:
        """Call a function with each part of the rows."""
        places = self.blocks.places
        with threads.row_by_row(places):
            threads.each_slice(work, self.shape[0], self.rows, places)

    def memory(self) -> Array:
        """Return memory for sums over places, in float64."""
        return np.empty(self.shape[0])

    def total(self, a: Array, part: slice, out: Array) -> None:
        """Write the sums over places of a part."""
        out[part] = row_sums(a[part])

    def dot(self, a: Array, b: Array, part: slice, out: Array) -> None:
        """Write the sums over places of the products of a part."""
        out[part] = row_dots(a[part], b[part])

    def collected(self, sums: Array) -> Array:
        """Return the sums over places, ``[samples, groups, channels]``."""
        return sums.reshape(self.blocks[:3])

    def spread(self, a: Array, kind: Any) -> Array:
        """Return numbers per channel in a shape that broadcasts to the rows."""
        column = np.empty(self.blocks[:3], kind)
        column[...] = a
        return column.reshape(-1, 1)

    def average(self, totals: Array) -> Array:
        """Return averages per channel from sums over places, ``[1, groups, 1]``."""
        count = self.blocks.places * self.blocks.samples
        return add_up(totals, axis=(0, 2), keepdims=True) / max(count, 1)


class Columns:
    """An array with one row per sample, for few places, since numpy is slow at short rows.

    For shared statistics only, as sums include the samples.
    """

    def __init__(self, blocks: Blocks):
        self.blocks = blocks
        self.shape = (blocks.samples, blocks.groups * blocks.places)
        self.samples = max(1, PART // max(self.shape[1], 1))

    def each(self, work: Callable[[slice], object]) -> None:
        """Call a function with each part of the samples."""
        threads.each_slice(work, self.shape[0], self.samples, self.shape[1])

    def memory(self) -> Array:
        """Return memory for sums, in float64: a row for each part of the samples."""
        return np.empty((-(-self.shape[0] // self.samples), self.blocks.groups))

    def total(self, a: Array, part: slice, out: Array) -> None:
        """Write the sums over samples and places of a part."""
        out[part.start // self.samples] = self._sums(a[part])

    def dot(self, a: Array, b: Array, part: slice, out: Array) -> None:
        """Write the sums over samples and places of the products of a part."""
        out[part.start // self.samples] = self._sums(a[part] * b[part])

    def _sums(self, a: Array) -> Array:
        return row_sums(column_sums(a).reshape(self.blocks.groups, -1))

    def collected(self, sums: Array) -> Array:
        """Return the sums of all parts, ``[1, groups, 1]``."""
        total: Array = np.add.reduce(sums, axis=0)
        return total.reshape(1, self.blocks.groups, 1)

    def spread(self, a: Array, kind: Any) -> Array:
        """Return numbers per channel, one for each column."""
        row = np.repeat(a.reshape(-1).astype(kind, copy=False), self.blocks.places)
        return np.ndarray(self.shape, kind, row, strides=(0, row.itemsize))  # faster broadcast_to

    def average(self, totals: Array) -> Array:
        """Return averages per group from sums over samples and places, ``[1, groups, 1]``."""
        return totals / max(self.blocks.samples * self.blocks.places, 1)


def layout_of(blocks: Blocks) -> Rows | Columns:
    """Return the faster layout for an array; the limits are measured."""
    if blocks.shared and blocks.places < 96 and blocks.samples > 3:
        return Columns(blocks)
    return Rows(blocks)


# ---- compiled -----------------------------------------------------------------------------------
# Batch norm by the kernels of ``kernels/native``.


Arrays = tuple[Array, ...]


def takes(blocks: Blocks, input: Array, *others: Array) -> bool:
    """Return whether the kernels compute a batch norm, or its gradients.

    Their rows are places: without these, numpy is faster.
    """
    plain = blocks.shared and blocks.channels == 1 and blocks.places > 1 and input.size
    return bool(plain and all(a.size for a in others) and native_kernels.takes(input, *others))


def _rows(blocks: Blocks, *arrays: Array) -> Arrays:
    shape = blocks.samples, blocks.groups, blocks.places
    return tuple(np.ascontiguousarray(a).reshape(shape) for a in arrays)


def _flat(*arrays: Array) -> Arrays:
    return tuple(np.ascontiguousarray(a).reshape(-1) for a in arrays)


def batch_norm(input: Array, weight: Array, bias: Array, blocks: Blocks, eps: float) -> Arrays:
    """Return the normalised input, and mean and variance of each channel."""
    (x,), (w, b) = _rows(blocks, input), _flat(weight, bias)
    y, mean, var = np.empty_like(x), np.empty(blocks.groups), np.empty(blocks.groups)
    native_kernels.images.batch_norm(x, w, b, float(eps), y, mean, var)
    return y.reshape(input.shape), mean, var


def batch_norm_gradients(
    g: Array, input: Array, weight: Array, mean: Array, var: Array, blocks: Blocks, eps: float
) -> Arrays:
    """Return the gradients by input, weight and bias."""
    (slopes, x), (w, m, v) = _rows(blocks, g, input), _flat(weight, mean, var)
    dx, (by_weight, by_bias) = np.empty_like(x), np.empty((2, blocks.groups), np.float32)
    native_kernels.images.batch_norm_slope(slopes, x, w, m, v, float(eps), dx, by_weight, by_bias)
    return dx.reshape(input.shape), by_weight, by_bias


# ---- normalization ops --------------------------------------------------------------------------


Grads = tuple[Any, ...]


def formula_gradients(
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


# ---- kernels of small arrays --------------------------------------------------------------------

_SMALL = 1 << 13  # elements up to which the passes over an array cost less than the calls for them


def is_small(x: Array) -> bool:
    """Return whether the formula in float64, of few calls, is the fastest."""
    return 0 < x.size <= _SMALL and x.itemsize > 2


def _averages(x: Array, shared: bool) -> Array:
    """Return the averages over each group, of one sample or of all."""
    sums = add_up(x, axis=(0, 2, 3) if shared else (2, 3), keepdims=True)
    sums *= sums.size / x.size
    return sums


def small_normalized(
    input: Array, weight: Array, bias: Array, blocks: Blocks, eps: float
) -> tuple[Array, Array, Array]:
    """Return the result, and mean and variance of each group, computed in float64."""
    x, each = input.reshape(blocks[:4]).astype(np.float64), (1, blocks.groups, blocks.channels, 1)
    mean = _averages(x, blocks.shared)
    x -= mean
    var = _averages(x * x, blocks.shared)
    x *= weight.reshape(each) / np.sqrt(var + eps)
    x += bias.reshape(each)
    result = x.astype(input.dtype, copy=False).reshape(input.shape)
    return result, mean[..., 0], var[..., 0]


def small_gradients(
    g: Array,
    input: Array,
    weight: Array,
    mean: Array,
    inverse: Array,
    blocks: Blocks,
    constant: bool = False,
) -> Grads:
    """Return the gradients by input, weight and bias, computed in float64.

    Args:
        mean, inverse: the mean and 1 / deviation of each group.
        constant: they do not depend on the input.
    """
    g4 = g.reshape(blocks[:4]).astype(np.float64)
    h, r = input.reshape(blocks[:4]) - mean[..., None], inverse[..., None]
    h *= r
    by_weight, by_bias = add_up(g4 * h, axis=(0, 3)), add_up(g4, axis=(0, 3))
    g4 *= weight.reshape(1, blocks.groups, blocks.channels, 1)
    if not constant:
        middle = _averages(g4, blocks.shared)
        h *= _averages(g4 * h, blocks.shared)
        g4 -= middle
        g4 -= h
    g4 *= r
    kind = g.dtype
    dx = g4.astype(kind, copy=False).reshape(g.shape)
    return dx, by_weight.astype(kind, copy=False), by_bias.astype(kind, copy=False)


# ---- kernels of batch and instance norm ---------------------------------------------------------
#
# For ``[samples, groups, 1, places]`` with shared statistics.


def _vectors(blocks: Blocks, *given: Array) -> tuple[Array, ...]:
    return tuple(wide(a).reshape(1, blocks.groups, blocks.channels) for a in given)


def _normalized(
    input: Array, weight: Array, bias: Array, blocks: Blocks, eps: float
) -> tuple[Array, Array, Array]:
    """Return the result, and mean and variance of each channel (``[1, groups, 1]``)."""
    if is_small(input):
        return small_normalized(input, weight, bias, blocks, eps)
    w, b = _vectors(blocks, weight, bias)
    layout = layout_of(blocks)
    x = wide(input).reshape(layout.shape)
    y, totals, squares = np.empty(x.shape, x.dtype), layout.memory(), layout.memory()
    layout.each(lambda part: layout.total(x, part, totals))
    mean = layout.average(layout.collected(totals))
    middle, rest = layout.spread(mean, x.dtype), mean - mean.astype(x.dtype)

    def center(part: slice) -> None:
        np.subtract(x[part], middle[part], out=y[part])
        layout.dot(y, y, part, squares)

    layout.each(center)
    var = np.maximum(layout.average(layout.collected(squares)) - np.square(rest), 0)
    scales = w / np.sqrt(var + eps)
    _scale(y, scales, b - rest * scales, layout, y)
    return y.reshape(input.shape).astype(input.dtype, copy=False), mean, var


def _gradients(
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
        constant: mean and variance do not depend on the input.
    """
    r = 1 / np.sqrt(var + eps)
    if is_small(g):
        return small_gradients(g, input, weight, mean, r, blocks, constant)
    layout, (w,) = layout_of(blocks), _vectors(blocks, weight)
    g2 = wide(g).reshape(layout.shape)
    dx = by_weight = by_bias = None
    totals, products = layout.memory(), layout.memory()
    kind, x, c = g2.dtype, wide(input).reshape(layout.shape), np.empty(g2.shape, g2.dtype)
    middle, rest = layout.spread(mean, kind), mean - mean.astype(kind)
    centered = needs[1] or not constant

    def add_up(part: slice) -> None:
        if centered:
            np.subtract(x[part], middle[part], out=c[part])
            layout.dot(g2, c, part, products)
        if needs[2] or not constant:
            layout.total(g2, part, totals)

    layout.each(add_up)
    totals, products = map(layout.collected, (totals, products))
    if needs[2] or not constant:
        by_bias = np.add.reduce(totals, axis=0).astype(kind)
    products -= 0 if constant else rest * totals
    if centered:
        by_weight = np.add.reduce(products * r, axis=0).astype(kind)
    if needs[0]:
        given = g2, c, r, w, products, totals, rest, layout
        dx = _scale(g2, r * w, None, layout, c) if constant else _input_gradient(*given)
    return None if dx is None else dx.reshape(g.shape), by_weight, by_bias


def _input_gradient(
    g: Array,
    c: Array,
    r: Array,
    w: Array,
    products: Array,
    totals: Array,
    rest: Array,
    layout: Rows | Columns,
) -> Array:
    """Return the gradient by the input, written over ``c``, the input minus its mean.

    ``rest`` is the part of the mean that was lost when it was rounded to float32.
    """
    by_place = layout.average(products) * -(r**2)
    middle = layout.average(totals) + rest * by_place
    factor, middle, last = (layout.spread(a, g.dtype) for a in (by_place, middle, r * w))

    def write(part: slice) -> None:
        rows = c[part]
        np.multiply(rows, factor[part], out=rows)
        np.add(rows, g[part], out=rows)
        np.subtract(rows, middle[part], out=rows)
        np.multiply(rows, last[part], out=rows)

    layout.each(write)
    return c


def shaped(grads: Grads, weight: Any, bias_shape: tuple[int, ...], needs: Any) -> Grads:
    """Return the needed gradients, those by weight and bias in their shapes."""
    dx, by_weight, by_bias = grads
    return (
        dx if needs[0] else None,
        by_weight.reshape(weight.shape) if needs[1] else None,
        by_bias.reshape(bias_shape) if needs[2] else None,
    )


_BATCH_NORM = "NativeBatchNormBackwardBackward0"


def recorded_gradients(
    node: str,
    g: Tensor,
    input: Tensor,
    weight: Tensor,
    blocks: Blocks,
    eps: float,
    bias_shape: tuple[int, ...],
    needs: tuple[bool, ...],
) -> Grads:
    """Return the gradients by input, weight and bias, recorded as one node."""
    found: Grads = one_node(
        node,
        lambda g, x, w: shaped(formula_gradients(g, x, w, blocks, eps), w, bias_shape, needs),
        g,
        input,
        weight,
    )
    return found


@operation(node="NativeBatchNormBackward0", outputs=("output", "mean", "var"), order="as_image")
def batch_normalized(
    input: Array, weight: Array, bias: Array, /, blocks: Blocks, eps: float
) -> tuple[Array, ...]:
    """Return the normalised input, and mean and variance of each channel."""
    if takes(blocks, input, weight, bias):
        return batch_norm(input, weight, bias, blocks, eps)
    output, *moments = _normalized(input, weight, bias, blocks, eps)
    return output, *(m.reshape(-1) for m in moments)


def _batch_formula(
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
        return recorded_gradients(_BATCH_NORM, g, input, weight, blocks, eps, bias_shape, needs)
    if takes(blocks, g, input, weight):
        found = batch_norm_gradients(g, input, weight, mean, var, blocks, eps)
    else:
        mean, var = (m.reshape(1, -1, 1) for m in (mean, var))
        found = _gradients(g, input, weight, mean, var, blocks, eps, needs)
    return shaped(found, weight, bias_shape, needs)


batch_normalized.grads(_batch_formula)


@operation(node="NativeBatchNormBackward0", order="as_image")
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
    m, v, w, b = _vectors(blocks, mean, var, weight, bias)
    scale = w / np.sqrt(v + eps)
    if is_small(input):
        y = input.reshape(blocks[:4]) * scale[..., None].astype(input.dtype, copy=False)
        y += (b - m * scale)[..., None]
        return y.reshape(input.shape)
    layout = layout_of(blocks)
    x = wide(input).reshape(layout.shape)
    y = np.empty(x.shape, x.dtype)
    _scale(x, scale, b - m * scale, layout, y)
    return y.reshape(input.shape).astype(input.dtype, copy=False)


def _scale(
    x: Array, scale: Array, offset: Array | None, layout: Rows | Columns, out: Array
) -> Array:
    """Write and return ``x * scale + offset``, of which there is one per channel."""
    factor = layout.spread(scale, x.dtype)
    added = None if offset is None else layout.spread(offset, x.dtype)

    def work(part: slice) -> None:
        rows = np.multiply(x[part], factor[part], out=out[part])
        if added is not None:
            np.add(rows, added[part], out=rows)

    layout.each(work)
    return out


def _batch_scaled_formula(
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
    needed = (needs[0], *needs[3:])

    def steps(g: Any, input: Any, mean: Any, var: Any, weight: Any) -> Grads:
        shape, small = blocks[:4], (1, blocks.groups, 1, 1)
        r = rsqrt(reshape(var, small) + eps)
        g4, h = reshape(g, shape), (reshape(input, shape) - reshape(mean, small)) * r
        dx = reshape(g4 * (reshape(weight, small) * r), g.shape)
        found = dx, sum_dims(g4 * h, (0, 3)), sum_dims(g4, (0, 3))
        return shaped(found, weight, bias_shape, needed)

    if isinstance(g, Tensor):
        found: Grads = one_node(_BATCH_NORM, steps, g, input, mean, var, weight)
    else:
        m, v = _vectors(blocks, mean, var)
        found = _gradients(g, input, weight, m, v, blocks, eps, needed, constant=True)
        found = shaped(found, weight, bias_shape, needed)
    dx, by_weight, by_bias = found
    return dx, None, None, by_weight, by_bias


batch_scaled.grads(_batch_scaled_formula)
