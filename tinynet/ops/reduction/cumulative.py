"""Cumulative sums, products and extrema along a dimension; differences between neighbours.

Running values are kept in float64 and each result is rounded once: float32 would lose a digit for
each hundredfold of elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.complex_rules import holds_complex
from tinynet.core.declaration.operation import Operation, composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array, DtypeLike
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.kernels.sums import sum_kind
from tinynet.ops.arguments import EXPECTED_TEXT, refuse_others, refuse_whole, same_dtype
from tinynet.ops.indexing.gather import gather_sum
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.conversion import cast
from tinynet.ops.pointwise.exponential import exp
from tinynet.ops.pointwise.logarithms import complex_logaddexp
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.reduction.extrema import pair
from tinynet.ops.reduction.sums import axes_of, sum_dims
from tinynet.ops.shaping.copies import clone, flip_dims, roll_dims
from tinynet.ops.shaping.joining import cat
from tinynet.ops.shaping.views import axis_of, cut, embed, reshape

_FOUND = same_dtype("expected scalar_type {result} but found {out}")

DOUBLE, COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)
_WIDE = 256  # elements of a slice that are worth a call


def _accumulated(function: np.ufunc, x: Array, axis: int, kind: Any) -> Array:
    """Apply an accumulating ufunc in a dtype; its own conversion would take longer."""
    wide = x.astype(np.result_type(kind, DOUBLE) if kind.kind in "fc" else kind)
    if wide.strides[axis] == wide.itemsize or wide.size < _WIDE * wide.shape[axis]:
        function.accumulate(wide, axis=axis, out=wide)
    else:  # numpy would follow one column after the other through memory
        for last, slice_ in itertools.pairwise(np.moveaxis(wide, axis, 0)):
            function(last, slice_, out=slice_)
    return wide.astype(kind, copy=False)


def _along(op: Operation, function: np.ufunc, x: Array, dim: int, dtype: DtypeLike) -> Array:
    axis = axis_of(dim, x.ndim)
    if x.dtype is HALF and dtype is None:
        return in_single(op, x, axis)
    kind = sum_kind(x, dtype)
    return _accumulated(function, x, axis, kind) if x.ndim else x.astype(kind)


# ---- cumulative sums ----------------------------------------------------------------------------


@operation(public=True, inplace=True, out=same_dtype(EXPECTED_TEXT, inside=True), complex=True)
def cumsum(self: Array, /, dim: int, *, dtype: DtypeLike = None) -> Array:
    """Return the cumulative sum along a dimension; integers sum as int64.

    Example:
        >>> tn.tensor([1.0, 2.0, 3.0]).cumsum(dim=0)
        tensor([1., 3., 6.])
    """
    return _along(cumsum, np.add, self, dim, dtype)


cumsum.grad(
    self=lambda g, self_shape, dim: (
        flip_dims(cumsum(flip_dims(g, (dim,)), dim), (dim,)) if self_shape else g
    )
)

# ---- linear recurrences, shared by the derivatives below ----------------------------------------


@operation(complex=True)
def recurrence(self: Array, start: Array, /, dim: int) -> Array:
    """Return ``y[k] = start[k] + self[k] * y[k - 1]`` along a dimension; ``self[0]`` is unused.

    Its derivative is the same recurrence in the other direction.
    """
    factors = np.moveaxis(self, dim, 0)
    found = np.moveaxis(start.astype(np.result_type(start, DOUBLE)), dim, 0)
    for k in range(1, len(found)):
        found[k] += factors[k] * found[k - 1]
    return np.moveaxis(found, 0, dim).astype(start.dtype, copy=False)


def _backwards(factors: Any, g: Any, dim: int) -> Any:
    """Return ``z[k] = g[k] + factors[k + 1] * z[k + 1]``."""
    turned = flip_dims(roll_dims(factors, (-1,), (dim,)), (dim,))
    return flip_dims(recurrence(turned, flip_dims(g, (dim,)), dim), (dim,))


def _from_second(x: Any, dim: int, shape: tuple[int, ...]) -> Any:
    """Prepend a slice of zeros to ``x``, which begins with the second slice."""
    return embed(x, shape, (slice(None),) * dim + (slice(1, None),))


def _of_factors(z: Any, result: Any, shape: tuple[int, ...], dim: int) -> Any:
    later = cut(z, dim, slice(1, None)) * cut(result, dim, slice(0, shape[dim] - 1))
    return _from_second(later, dim, shape)


recurrence.grad(
    self=lambda g, self, self_shape, result, dim: _of_factors(
        _backwards(self, g, dim), result, self_shape, dim
    ),
    start=lambda g, self, dim: _backwards(self, g, dim),
)

# ---- cumulative products ------------------------------------------------------------------------


@operation(public=True, inplace=True, out=same_dtype(EXPECTED_TEXT, inside=True), complex=True)
def cumprod(self: Array, /, dim: int, *, dtype: DtypeLike = None) -> Array:
    """Return the cumulative product along a dimension; integers multiply as int64.

    The derivative is a recurrence without division, so that zeros are no problem.

    Example:
        >>> tn.tensor([1.0, 2.0, 3.0]).cumprod(dim=0)
        tensor([1., 2., 6.])
    """
    return _along(cumprod, np.multiply, self, dim, dtype)


def _product_slope(g: Any, x: Any, result: Any, shape: tuple[int, ...], dim: int) -> Any:
    """Multiply the product of the preceding elements by the recurrence of the following ones."""
    if not shape or 0 in shape:
        return g
    axis = axis_of(dim, len(shape))
    first = zeros_for(cut(g, axis, slice(0, 1))) + 1
    before = cat([first, cut(result, axis, slice(0, shape[axis] - 1))], axis)
    return before * _backwards(x, g, axis)


cumprod.grad(
    self=lambda g, self, self_shape, result, dim: _product_slope(g, self, result, self_shape, dim)
)

# ---- cumulative logsumexp -----------------------------------------------------------------------


@operation(public=True, out=_FOUND, complex=True)
def logcumsumexp(self: Array, /, dim: int) -> Array:
    """Return the logarithm of the cumulative sum of exponentials, without overflow.

    The derivative is a recurrence whose factors are at most 1.

    Example:
        >>> tn.tensor([0.0, 0.0, 1000.0]).logcumsumexp(dim=0)
        tensor([0.0000e+00, 6.9315e-01, 1.0000e+03])
    """
    axis = axis_of(dim, self.ndim)
    refuse_whole("logcumsumexp_out", self)
    if self.dtype is HALF:
        return in_single(logcumsumexp, self, axis)
    if self.ndim == 0 or self.size == 0:
        return self.copy()
    if self.dtype.kind == "c":
        found = np.moveaxis(self.astype(np.complex128), axis, 0)
        for k in range(1, len(found)):
            found[k] = complex_logaddexp(found[k - 1], found[k])
        return np.moveaxis(found, 0, axis).astype(self.dtype, copy=False)
    return _accumulated(np.logaddexp, self, axis, self.dtype)


def _logarithm_slope(g: Any, x: Any, result: Any, shape: tuple[int, ...], dim: int) -> Any:
    if not shape or 0 in shape:
        return g
    axis = axis_of(dim, len(shape))
    low = result == -np.inf
    flat = where(low, 0.0, result)
    steps = cut(flat, axis, slice(0, shape[axis] - 1)) - cut(flat, axis, slice(1, None))
    factors = _from_second(
        exp(cast(steps, COMPLEX if holds_complex(steps) else DOUBLE)), axis, shape
    )
    return where(low, 0.0, exp(x - flat)) * _backwards(factors, g, axis)


logcumsumexp.grad(
    self=lambda g, self, self_shape, result, dim: _logarithm_slope(g, self, result, self_shape, dim)
)

# ---- cumulative extrema -------------------------------------------------------------------------


def _running(self: Array, dim: int, extreme: np.ufunc) -> tuple[Array, Array]:
    """Return the cumulative extrema and their indices, the last of equal elements."""
    axis = axis_of(dim, self.ndim)
    if self.ndim == 0 or self.size == 0:
        return self.copy(), np.zeros(self.shape, np.int64)
    values = extreme.accumulate(self, axis=axis)
    place = np.arange(self.shape[axis]).reshape((-1,) + (1,) * (self.ndim - axis - 1))
    new = (self == values) | (self != self)
    return values, np.maximum.accumulate(np.where(new, place, 0), axis=axis)


@operation(public=True, outputs=("values", "indices"), result=pair("cummax"), out=_FOUND)
def cummax(self: Array, /, dim: int) -> tuple[Array, Array]:
    """Return the cumulative maximum along a dimension, and its indices.

    Example:
        >>> tn.tensor([1.0, 3.0, 2.0]).cummax(dim=0).values
        tensor([1., 3., 3.])
    """
    return _running(self, dim, np.maximum)


@operation(public=True, outputs=("values", "indices"), result=pair("cummin"), out=_FOUND)
def cummin(self: Array, /, dim: int) -> tuple[Array, Array]:
    """Return the cumulative minimum along a dimension, and its indices.

    Example:
        >>> values, indices = tn.tensor([3.0, 1.0, 2.0]).cummin(0)
        >>> values, indices
        (tensor([3., 1., 1.]), tensor([0, 1, 1]))
    """
    return _running(self, dim, np.minimum)


def _at_extremes(g: Any, self: Any, indices: Any, self_shape: tuple[int, ...], dim: int) -> Any:
    return gather_sum(g, indices, self_shape, dim)


cummax.grad(self=_at_extremes)
cummin.grad(self=_at_extremes)

# ---- differences --------------------------------------------------------------------------------


def _part(x: Tensor, axis: int, start: int, stop: int | None) -> Tensor:
    return cut.function(x, axis, slice(start, stop))


def refuse_other_lengths(self: Tensor, other: Tensor | None, axis: int) -> None:
    """Raise if ``prepend`` or ``append`` differs from the input in another dimension."""
    if other is None:
        return
    for d, (n, given) in enumerate(zip(self._array.shape, other._array.shape, strict=True)):
        if d != axis and n != given:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({d}) = {n}, but got "
                f"tensor.size({d}) = {given}"
            )


@composite(out=True, checks=True)
def diff(
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return the differences between neighbours along a dimension, taken ``n`` times.

    Taken once: ``result[i] = x[i + 1] - x[i]``.

    Args:
        n: the number of times to take differences.
        dim: the dimension.
        prepend, append: values to join before and after the input first.

    Example:
        >>> tn.tensor([1, 4, 9]).diff()
        tensor([3, 5])
    """
    ndim = self._array.ndim
    if ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = axis_of(dim, ndim)
    if n == 0:
        return clone.function(self)
    for other in (prepend, append):
        if other is not None and other._array.ndim != ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        refuse_other_lengths(self, other, axis)
    if prepend is not None or append is not None:
        self = cat.function([x for x in (prepend, self, append) if x is not None], axis)
    for _ in range(min(n, self._array.shape[axis])):
        later, earlier = _part(self, axis, 1, None), _part(self, axis, 0, -1)
        self = later ^ earlier if self._array.dtype.kind == "b" else later - earlier
    return self


def _slopes(x: Tensor, axis: int, h: Any, edge_order: int) -> Tensor:
    """Return the slopes along an axis, given the distances ``h`` between neighbours (or one)."""
    low: Any
    high: Any
    steps = (_part(x, axis, 1, None) - _part(x, axis, 0, -1)) / h
    if isinstance(h, Tensor):
        before, after = _part(h, axis, 0, -1), _part(h, axis, 1, None)
        inner = (_part(steps, axis, 0, -1) * after + _part(steps, axis, 1, None) * before) / (
            before + after
        )
        low, high = _part(before, axis, 0, 1), _part(after, axis, -1, None)
        low = low / (low + _part(after, axis, 0, 1))
        high = high / (high + _part(before, axis, -1, None))
    else:
        inner = (_part(x, axis, 2, None) - _part(x, axis, 0, -2)) / (2 * h)
        low = high = 0.5
    left, right = _part(steps, axis, 0, 1), _part(steps, axis, -1, None)
    if edge_order == 2:
        left = left + (left - _part(steps, axis, 1, 2)) * low
        right = right + (right - _part(steps, axis, -2, -1)) * high
    return cat.function([left, inner, right], axis)


@composite(method=False, checks=True)
def gradient(
    input: Tensor,
    *,
    spacing: float | Sequence[float] | Sequence[Tensor] | None = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """Return the slopes of sampled values along each dimension, by central differences.

    Inside, with the distance h: ``(x[i + 1] - x[i - 1]) / (2 * h)``; with uneven distances, the
    slope of the parabola through three neighbours.

    Args:
        spacing: the distance between samples (1), one per dimension, or tensors of coordinates.
        dim: the dimension or dimensions; all by default.
        edge_order: 1 or 2: the order of the estimates at the edges.

    Raises:
        RuntimeError: a dimension is shorter than ``edge_order + 1``, or appears twice.

    Example:
        >>> tn.gradient(tn.tensor([1.0, 4.0, 9.0]))
        (tensor([3., 4., 5.]),)
    """
    shape = input._array.shape
    axes = list(range(len(shape)) if dim is None else axes_of(dim, len(shape)))
    if edge_order not in (1, 2):
        raise RuntimeError("tinynet.gradient only supports edge_order=1 and edge_order=2.")
    even = 1 if spacing is None else spacing
    distances = list(even) if isinstance(even, (list, tuple)) else [even] * len(axes)
    if len(distances) != len(axes):
        wanted = (
            f"a list of length equal to 'self.dim() = {len(shape)}', but got a list of length "
            f"{len(distances)}"
            if dim is None
            else "it's spacing and dim arguments to have the same length, but got a spacing "
            f"argument of length {len(distances)} and a dim argument of length {len(axes)}"
        )
        raise RuntimeError(
            f"tinynet.gradient expected spacing to be unspecified, a scalar or {wanted}"
        )
    found = []
    for axis, h in zip(axes, distances, strict=True):
        if shape[axis] < edge_order + 1:
            raise RuntimeError(
                "tinynet.gradient expected each dimension size to be at least edge_order+1"
            )
        if isinstance(h, Tensor):
            h = diff(h).reshape((-1,) + (1,) * (len(shape) - axis - 1))
            h = h.expand((*shape[:axis], shape[axis] - 1, *shape[axis + 1 :]))
        found.append(_slopes(input, axis, h, edge_order))
    return tuple(found)


# ---- trapezoid ----------------------------------------------------------------------------------
# Integrals of sampled functions by the trapezoidal rule.


def _pairs(y: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return the samples without the last, and without the first."""
    return cut.function(y, axis, slice(None, -1)), cut.function(y, axis, slice(1, None))


def _checked(name: str, y: Any, x: Any, dim: int) -> tuple[int, Tensor | None]:
    """Return the axis, and the distances between the points if given."""
    refuse_others(name, y=y, **({} if x is None else {"x": x}))
    ndim = y._array.ndim
    if ndim == 0:
        raise IndexError(
            f"Dimension specified as {dim} but tensor has no dimensions"
            if name == "trapezoid"
            else "slice() cannot be applied to a 0-dim tensor."
        )
    axis = axis_of(dim, ndim)
    kinds = {t._array.dtype.kind for t in (y, x) if t is not None}
    if "b" in kinds:
        which = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")
    if x is None:
        return axis, None
    shape = x._array.shape
    if len(shape) < ndim:
        along = shape[-1] if shape else -1
        where = (1,) * (ndim - len(shape)) + shape
        if len(shape) == 1:  # one coordinate per sample along the dimension
            where = tuple(along if i == axis else 1 for i in range(ndim))
        x = reshape(x, where)
    elif len(shape) > ndim:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    if x._array.shape[axis] != y._array.shape[axis]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    before, after = _pairs(x, axis)
    return axis, after - before


@composite(method=False)
def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Integrate along a dimension by the trapezoidal rule.

    ``sum((y[i] + y[i + 1]) / 2 * (x[i + 1] - x[i]))``.

    Args:
        y: the samples.
        x: the points of the samples: a vector, or a tensor that broadcasts with ``y``.
        dx: alternative to ``x``: the distance between the points; 1 by default.
        dim: the dimension to integrate along.

    Raises:
        RuntimeError: the numbers of points and samples differ, or booleans.

    Example:
        >>> tn.trapezoid(tn.tensor([1.0, 2.0, 3.0]), dx=2)
        tensor(8.)
    """
    axis, gaps = _checked("trapezoid", y, x, dim)
    if y._array.shape[axis] == 0:
        shape = tuple(n for i, n in enumerate(y._array.shape) if i != axis)
        return wrap(np.zeros(shape, y._array.dtype))
    before, after = _pairs(y, axis)
    if gaps is not None:
        return sum_dims.function((before + after) * gaps, axis) / 2.0
    ends = (y.select(axis, 0) + y.select(axis, -1)) * 0.5
    step = 1 if dx is None else dx
    return (sum_dims.function(y, axis) - ends) * step


@composite(method=False)
def trapz(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """Integrate by the trapezoidal rule, like ``trapezoid``; arguments are those of ``trapezoid``.

    Example:
        >>> tn.trapz(tn.tensor([1.0, 2.0, 3.0]))
        tensor(4.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


@composite(method=False)
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Integrate cumulatively along a dimension by the trapezoidal rule.

    ``result[k] = sum((y[i] + y[i + 1]) / 2 * (x[i + 1] - x[i]))`` over i up to k.

    See ``trapezoid`` for the arguments.

    Example:
        >>> tn.cumulative_trapezoid(tn.tensor([1.0, 2.0, 3.0]))
        tensor([1.5000, 4.0000])
    """
    axis, gaps = _checked("cumulative_trapezoid", y, x, dim)
    before, after = _pairs(y, axis)
    if gaps is not None:
        return cumsum.function((before + after) * gaps, axis) / 2.0
    step = 1 if dx is None else dx
    return cumsum.function((before + after) * (step / 2), axis)
