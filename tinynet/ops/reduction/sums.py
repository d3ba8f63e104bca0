"""Reductions: sums, means, products, ``all`` and ``any``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.arrays import broadcast_axes
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.seams import Recorded
from tinynet.core.tensors.tensor import Tensor, dense_copy, wrap
from tinynet.dtypes import Array, DtypeLike
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.kernels.sums import products, sum_kind, sums
from tinynet.ops.arguments import (
    EXPECTED_TEXT,
    bad_dim,
    is_whole,
    name_of,
    refuse_others,
    same_dtype,
)
from tinynet.ops.pointwise.arithmetic import add
from tinynet.ops.pointwise.complex_numbers import real
from tinynet.ops.pointwise.conversion import cast
from tinynet.ops.shaping.joining import cat, stack
from tinynet.ops.shaping.views import axis_of, expand, reshape, view_as_shape

_BOOLEAN = same_dtype(
    "{name} only supports bool tensor for result, got: {out}", also=(np.dtype(np.uint8),)
)

Dims = int | Sequence[int] | None

# numpy's type stubs lack ``keepdims: bool``
largest: Callable[..., Array] = np.maximum.reduce
smallest: Callable[..., Array] = np.minimum.reduce

# ---- shared helpers -----------------------------------------------------------------------------


def axes_of(dim: Dims, ndim: int, function: str = "", overloaded: bool = True) -> tuple[int, ...]:
    """Return the dimensions to reduce as a tuple of axes; all for None or an empty tuple.

    ``function`` and ``overloaded`` are for the error, see ``bad_dim``.

    Raises:
        IndexError: a dimension is out of range.
        RuntimeError: a dimension appears twice.
        TypeError: not an int or a sequence of ints.
    """
    if isinstance(dim, int):
        axis = axis_of(dim, ndim)
        return (axis,) if ndim else ()
    if dim is None:
        return tuple(range(ndim))
    if not isinstance(dim, (tuple, list)):
        if not is_whole(dim):
            raise bad_dim(function, dim, overloaded=overloaded)
        return (axis_of(dim, ndim),) if ndim else ()  # type: ignore[arg-type]  # an integer tensor
    axes = [axis_of(d, ndim) for d in dim] or list(range(ndim))
    if len(set(axes)) != len(axes):
        double = next(a for a in axes if axes.count(a) > 1)
        raise RuntimeError(f"dim {double} appears multiple times in the list of dims")
    return tuple(axes) if ndim else ()


def restore(g: Any, shape: tuple[int, ...], dim: Dims, keepdim: bool) -> Any:
    """Restore the reduced dimensions of a gradient with length 1, to broadcast to ``shape``."""
    if keepdim or not shape:
        return g
    kept = list(shape)
    for axis in axes_of(dim, len(shape)):
        kept[axis] = 1
    return reshape(g, tuple(kept))


def spread(g: Any, shape: tuple[int, ...], dim: Dims, keepdim: bool) -> Any:
    """Broadcast a reduced gradient back to ``shape``."""
    return expand(restore(g, shape, dim, keepdim), shape)


def count_of(shape: tuple[int, ...], dim: Dims) -> int:
    """Return the number of elements reduced to one."""
    return math.prod(shape[a] for a in axes_of(dim, len(shape)))


def _mean_kind(array: Array, dtype: Any) -> np.dtype[Any]:
    kind = array.dtype if dtype is None else dtypes.as_numpy(dtype)
    if not dtypes.is_inexact(kind):
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {name_of(array)}"
        )
    return kind


# ---- sums and means -----------------------------------------------------------------------------


@operation(node="SumBackward0", complex=True, order="")
def sum_all(self: Array, /, dtype: DtypeLike = None) -> Array:
    """Return the sum of all elements."""
    return sums(self, None, False, dtype)


sum_all.grad(self=lambda g, self_shape: expand(g, self_shape))


@operation(node="SumBackward1", complex=True)
def sum_dims(self: Array, /, dim: Dims, keepdim: bool = False, dtype: DtypeLike = None) -> Array:
    """Return the sums over dimensions."""
    return sums(self, axes_of(dim, self.ndim, "sum"), keepdim, dtype)


sum_dims.grad(self=lambda g, self_shape, dim, keepdim: spread(g, self_shape, dim, keepdim))


@composite(out=same_dtype(EXPECTED_TEXT, dim=True, inside=True))
def sum(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the sum over the given dimensions; all by default. Integers sum as int64.

    ``x[0] + x[1] + ...``; 0 for no elements.

    Args:
        dim: the dimension or dimensions to sum over.
        keepdim: keep them with length 1.
        dtype: the dtype to sum in.

    Example:
        >>> tn.ones(2, 3).sum(dim=1)
        tensor([3., 3.])
    """
    if not isinstance(self, Tensor):
        refuse_others("sum", self=self)
    if dim is None and not keepdim:
        return sum_all.function(self, dtype)
    return sum_dims.function(self, dim, keepdim, dtype)


@operation(node="MeanBackward0", complex=True, order="")
def mean_all(self: Array, /, dtype: DtypeLike = None) -> Array:
    """Return the mean of all elements."""
    if self.dtype is HALF and dtype is None:
        return in_single(mean_all, self)
    kind = _mean_kind(self, dtype)
    return sums(self, None, False, dtype) / kind.type(self.size)


mean_all.grad(self=lambda g, self_shape: expand(g / max(math.prod(self_shape), 1), self_shape))
mean_all.recorded["self"] = (  # in PyTorch's order
    lambda g, self_shape: expand(g, self_shape) / max(math.prod(self_shape), 1),
    ("self_shape",),
)


@operation(node="MeanBackward1", complex=True)
def mean_dims(self: Array, /, dim: Dims, keepdim: bool = False, dtype: DtypeLike = None) -> Array:
    """Return the means over dimensions."""
    if self.dtype is HALF and dtype is None:
        return in_single(mean_dims, self, dim, keepdim)
    kind = _mean_kind(self, dtype)
    axes = axes_of(dim, self.ndim, "mean")
    return sums(self, axes, keepdim, dtype) / kind.type(count_of(self.shape, dim))


mean_dims.grad(
    self=lambda g, self_shape, dim, keepdim: spread(
        g / max(count_of(self_shape, dim), 1), self_shape, dim, keepdim
    )
)
mean_dims.recorded["self"] = (
    lambda g, self_shape, dim, keepdim: (
        spread(g, self_shape, dim, keepdim) / max(count_of(self_shape, dim), 1)
    ),
    ("self_shape", "dim", "keepdim"),
)


@composite(out=True, checks=True)
def mean(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the mean over the given dimensions; all by default. NaN for no elements.

    ``sum(x) / n`` for n elements.

    Args:
        dim: the dimension or dimensions to average over.
        keepdim: keep them with length 1.
        dtype: the dtype to compute in.

    Raises:
        RuntimeError: the tensor is not floating-point.

    Example:
        >>> tn.tensor([1.0, 2.0, 6.0]).mean()
        tensor(3.)
    """
    if dim is None and not keepdim:
        return mean_all.function(self, dtype)
    return mean_dims.function(self, dim, keepdim, dtype)


# ---- ignoring NaN -------------------------------------------------------------------------------


@operation(node="NansumBackward0")
def nansum_dims(self: Array, /, dim: Dims, keepdim: bool = False, dtype: DtypeLike = None) -> Array:
    """Return the sums over dimensions, ignoring NaN."""
    if dtypes.is_floating(self.dtype):
        self = np.where(np.isnan(self), self.dtype.type(0), self)
    return sum_dims.kernel(self, dim, keepdim, dtype)


nansum_dims.grad(
    self=lambda g, self, self_shape, dim, keepdim: (
        spread(g, self_shape, dim, keepdim) * (self == self)
    )
)


@composite(out=True, checks=True)
def nansum(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the sum, ignoring NaN; see ``sum`` for the arguments.

    Example:
        >>> tn.tensor([1.0, float("nan"), 2.0]).nansum()
        tensor(3.)
    """
    return nansum_dims.function(self, dim, keepdim, dtype)


@composite(out=True, checks=True)
def nanmean(
    self: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the mean, ignoring NaN; see ``mean`` for the arguments.

    Raises:
        RuntimeError: the tensor is not floating-point.

    Example:
        >>> tn.tensor([1.0, float("nan"), 2.0]).nanmean()
        tensor(1.5000)
    """
    if not dtypes.is_floating(self._array.dtype):
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{name_of(self._array)}"
        )
    count = wrap(~np.isnan(self._array)).sum(dim, keepdim)
    return nansum(self, dim, keepdim, dtype=dtype) / count


# ---- products -----------------------------------------------------------------------------------
# As in PyTorch, a write to a result before backward is refused, so the formulas name ``result``.


@operation(node="ProdBackward0", autocast="float32", complex=True)
def prod_all(self: Array, /, dtype: DtypeLike = None) -> Array:
    """Return the product of all elements."""
    if self.dtype is HALF and dtype is None:
        return in_single(prod_all, self)
    return products(self, axes_of(None, self.ndim), False, sum_kind(self, dtype))


prod_all.grad(
    self=lambda g, self, self_shape, result: expand(g, self_shape) * _others(self, self_shape, None)
)


@operation(node="ProdBackward1", autocast="float32", complex=True)
def prod_dim(self: Array, /, dim: int, keepdim: bool = False, dtype: DtypeLike = None) -> Array:
    """Return the products over one dimension."""
    axes = axes_of(dim, self.ndim)
    if self.dtype is HALF and dtype is None:
        return in_single(prod_dim, self, dim, keepdim)
    return products(self, axes, keepdim, sum_kind(self, dtype))


prod_dim.grad(
    self=lambda g, self, self_shape, dim, keepdim, result: (
        spread(g, self_shape, dim, keepdim) * _others(self, self_shape, dim)
    )
)


def _others(x: Any, shape: tuple[int, ...], dim: int | None) -> Any:
    """Return the product of the other elements for each element; exact for zeros."""
    if not shape:
        return 1.0
    if dim is None:
        count = math.prod(shape)
        others = _tree(reshape(x, (count,)), count)
        return others if count < 2 else reshape(others, shape)
    axis = axis_of(dim, len(shape))
    others = _tree(x.swapaxes(0, axis), shape[axis])
    return others if shape[axis] < 2 else others.swapaxes(0, axis)


def _tree(x: Any, n: int) -> Any:
    """Return the products of the other slices along the first dimension, of length ``n``.

    Pairs of neighbours are multiplied until one product is left. On the way back, the product
    outside a pair times one half gives the product outside the other half. O(n), no division.
    """
    if n < 2:
        return 1.0
    pairs, single = divmod(n, 2)
    left, right, last = x[0 : 2 * pairs : 2], x[1 : 2 * pairs : 2], x[2 * pairs :]
    outside = _tree(cat([left * right, last], 0) if single else left * right, pairs + single)
    around = outside if n == 2 else outside[:pairs]
    both = stack([around * right, around * left], 1)
    both = reshape(both, (2 * pairs, *both.shape[2:]))
    return cat([both, outside[pairs:]], 0) if single else both


@composite(out=same_dtype(EXPECTED_TEXT, dim=True, inside=True), checks=True)
def prod(
    self: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DtypeLike = None
) -> Tensor:
    """Return the product over a dimension, or of all elements; integers multiply as int64.

    ``x[0] * x[1] * ...``; 1 for no elements.

    Example:
        >>> tn.tensor([2.0, 3.0, 4.0]).prod()
        tensor(24.)
    """
    if dim is None:
        return prod_all.function(self, dtype)
    if not is_whole(dim):
        raise bad_dim("prod", dim, several=False)
    return prod_dim.function(self, dim, keepdim, dtype)


# ---- all and any --------------------------------------------------------------------------------


def _truth(name: str, self: Array, dim: Dims, keepdim: bool, reduce: Any) -> Array:
    kind = self.dtype if self.dtype == np.uint8 else bool
    if isinstance(dim, tuple) and not dim:  # no dimension, unlike in sums
        return self.astype(bool).astype(kind)
    axes = axes_of(dim, self.ndim, name)
    return np.asarray(reduce(self, axis=axes, keepdims=keepdim)).astype(kind, copy=False)


@operation(public=True, out=_BOOLEAN, complex="given")
def all(self: Array, /, dim: Dims = None, keepdim: bool = False) -> Array:
    """Return True where all elements are nonzero, over the given dimensions or all.

    Example:
        >>> tn.tensor([True, False]).all()
        tensor(False)
    """
    return _truth("all", self, dim, keepdim, np.logical_and.reduce)


@operation(public=True, out=_BOOLEAN, complex="given")
def any(self: Array, /, dim: Dims = None, keepdim: bool = False) -> Array:
    """Return True where any element is nonzero, over the given dimensions or all.

    Example:
        >>> tn.tensor([True, False]).any()
        tensor(True)
    """
    return _truth("any", self, dim, keepdim, np.logical_or.reduce)


# ---- what the engine records --------------------------------------------------------------------
# When gradients get a graph.


@operation(node="CopyBackwards", complex=True, order="iterated")
def kept(self: Array, /) -> Array:
    """Return the copy that becomes ``.grad``."""
    return dense_copy(self)


kept.grad(self=lambda g: g)


def sum_to(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum to ``shape``: the inverse of broadcasting."""
    if not shape:
        return sum_all.function(x)
    axes = broadcast_axes(x.shape, shape)
    summed = sum_dims.function(x, axes, True) if axes else x
    return view_as_shape.function(summed, shape) if x.ndim > len(shape) else summed


def _in_dtype(g: Tensor, kind: Any) -> Tensor:
    """Return a gradient in another dtype; of complex numbers for a real tensor, the real parts."""
    if g.is_complex() and kind.kind != "c":
        g = real(g)
    return cast.function(g, kind) if g._array.dtype != kind else g


Recorded.add = staticmethod(add.function)
Recorded.clone = staticmethod(kept.function)
Recorded.sum_to = staticmethod(sum_to)
Recorded.cast = staticmethod(_in_dtype)
