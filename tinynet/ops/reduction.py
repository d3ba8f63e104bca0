"""Reductions: sums, means, extrema, norms over one, several or all dimensions."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.operation import operation, public
from tinynet.core.tensor import Tensor
from tinynet.ops.arithmetic import where
from tinynet.ops.exponential import abs as absolute
from tinynet.ops.exponential import exp, log, sign, sqrt
from tinynet.ops.shape import expand, reshape, unsqueeze

Array = np.ndarray[Any, Any]
Dims = int | Sequence[int] | None

# ---- what reductions share ----------------------------------------------------------------------


def axes_of(dim: Dims, ndim: int) -> tuple[int, ...]:
    """Return the dimensions to reduce as a tuple of axes; all for None or an empty tuple.

    Raises:
        IndexError: a dimension is out of range.
        RuntimeError: a dimension appears twice.
    """
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return tuple(range(ndim))
    axes = []
    for d in (dim,) if isinstance(dim, int) else dim:
        axes.append(axis_of(d, ndim))
    if len(set(axes)) != len(axes):
        double = next(a for a in axes if axes.count(a) > 1)
        raise RuntimeError(f"dim {double} appears multiple times in the list of dims")
    return tuple(a for a in axes if ndim)


def axis_of(dim: int, ndim: int) -> int:
    """Return a dimension counted from the front; IndexError if out of range."""
    count = ndim or 1
    if not -count <= dim < count:
        raise errors.dim_range(dim, ndim)
    return dim % count


def restore(g: Any, shape: tuple[int, ...], dim: Dims, keepdim: bool) -> Any:
    """Give a reduced gradient its lost dimensions back (of length 1), to broadcast to ``shape``."""
    if keepdim or not shape:
        return g
    kept = list(shape)
    for axis in axes_of(dim, len(shape)):
        kept[axis] = 1
    return reshape(g, tuple(kept))


def spread(g: Any, shape: tuple[int, ...], dim: Dims, keepdim: bool) -> Any:
    """Broadcast a reduced gradient back to ``shape``."""
    return expand(restore(g, shape, dim, keepdim), shape)


def _count(shape: tuple[int, ...], dim: Dims) -> int:
    return math.prod(shape[a] for a in axes_of(dim, len(shape))) if shape else 1


def _reduced_kind(array: Array, dtype: Any) -> Any:
    if dtype is not None:
        return dtypes.as_numpy(dtype)
    return np.dtype(np.int64) if array.dtype.kind != "f" else array.dtype


# ---- sums ---------------------------------------------------------------------------------------


@operation()
def sum(  # noqa: A001
    self: Array, /, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Array:
    """Return the sum over the given dimensions (all unless given); integers sum as int64.

    Args:
        dim: dimension or dimensions to sum over.
        keepdim: keep them with length 1.
        dtype: the dtype to sum in.

    Example:
        >>> tn.ones(2, 3).sum(dim=1)
        tensor([3., 3.])
    """
    return np.add.reduce(
        self, axis=axes_of(dim, self.ndim), keepdims=keepdim, dtype=_reduced_kind(self, dtype)
    )


sum.grad(self=lambda g, self_shape, dim, keepdim: spread(g, self_shape, dim, keepdim))


@operation()
def mean(self: Array, /, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
    """Return the mean over the given dimensions (all unless given).

    Raises:
        RuntimeError: the tensor is not floating-point.

    Example:
        >>> tn.tensor([1.0, 2.0, 6.0]).mean()
        tensor(3.)
    """
    kind = self.dtype if dtype is None else dtypes.as_numpy(dtype)
    if kind.kind != "f":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {dtypes.of(self).scalar_name}"
        )
    total = np.add.reduce(self, axis=axes_of(dim, self.ndim), keepdims=keepdim, dtype=kind)
    return total / kind.type(_count(self.shape, dim))  # type: ignore[no-any-return]


mean.grad(
    self=lambda g, self_shape, dim, keepdim: spread(
        g / _count(self_shape, dim), self_shape, dim, keepdim
    )
)


@operation()
def prod(
    self: Array, /, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None
) -> Array:
    """Return the product over one dimension (all elements unless given)."""
    return np.multiply.reduce(
        self, axis=axes_of(dim, self.ndim), keepdims=keepdim, dtype=_reduced_kind(self, dtype)
    )


prod.grad(
    self=lambda g, self, self_shape, dim, keepdim: restore(g, self_shape, dim, keepdim)
    * _product_of_others(self, self_shape, dim)
)


def _product_of_others(x: Any, shape: tuple[int, ...], dim: int | None) -> Any:
    """Return, for each element, the product of the others: exact where elements are zero."""
    if not shape:
        return x * 0 + 1
    if dim is None:
        return reshape(_product_of_others(reshape(x, (math.prod(shape),)), (math.prod(shape),), 0), shape)
    axis = axis_of(dim, len(shape))
    n = shape[axis]
    last = movedim(x, axis, -1)
    rows = expand(unsqueeze(last, -2), (*shape[:axis], *shape[axis + 1 :], n, n))
    others = where(np_eye(n, x), 1.0, rows)
    return movedim(prod(others, -1), -1, axis)


def np_eye(n: int, like: Any) -> Any:
    """Return the identity as booleans, as an array or tensor like ``like``."""
    eye = np.eye(n, dtype=bool)
    return wrap(eye) if isinstance(like, Tensor) else eye


@operation()
def cumsum(self: Array, /, dim: int, *, dtype: Any = None) -> Array:
    """Return the running sum along a dimension."""
    if self.ndim == 0:
        axis_of(dim, 0)
        return self.astype(_reduced_kind(self, dtype))
    return np.add.accumulate(self, axis=axis_of(dim, self.ndim), dtype=_reduced_kind(self, dtype))


cumsum.grad(self=lambda g, self_shape, dim: flip(cumsum(flip(g, (dim,)), dim), (dim,)) if self_shape else g)

# ---- truth --------------------------------------------------------------------------------------


@operation()
def all(self: Array, /, dim: Dims = None, keepdim: bool = False) -> Array:  # noqa: A001
    """Return True where all elements along the dimensions are nonzero."""
    return np.all(self, axis=axes_of(dim, self.ndim), keepdims=keepdim)


@operation()
def any(self: Array, /, dim: Dims = None, keepdim: bool = False) -> Array:  # noqa: A001
    """Return True where any element along the dimensions is nonzero."""
    return np.any(self, axis=axes_of(dim, self.ndim), keepdims=keepdim)


# ---- extrema ------------------------------------------------------------------------------------


def _nonempty(self: Array, name: str, dim: Dims) -> None:
    if self.size == 0 and dim is None:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )


@operation()
def amax(self: Array, /, dim: Dims = (), keepdim: bool = False) -> Array:
    """Return the maximum over the dimensions; equal maxima share the gradient."""
    return np.maximum.reduce(self, axis=axes_of(dim, self.ndim), keepdims=keepdim)


@operation()
def amin(self: Array, /, dim: Dims = (), keepdim: bool = False) -> Array:
    """Return the minimum over the dimensions; equal minima share the gradient."""
    return np.minimum.reduce(self, axis=axes_of(dim, self.ndim), keepdims=keepdim)


def _shared(
    g: Any, self: Any, self_shape: tuple[int, ...], result: Any, dim: Dims, keepdim: bool
) -> Any:
    """Share the gradient equally between the elements that equal the result."""
    mask = self == restore(result, self_shape, dim, keepdim)
    share = mask / sum(mask, dim, True)
    return restore(g, self_shape, dim, keepdim) * like(share, g)


def like(x: Any, g: Any) -> Any:
    """Return ``x`` in the dtype of ``g``."""
    return x.to(g.dtype) if isinstance(x, Tensor) else x.astype(g.dtype)


amax.grad(self=_shared)
amin.grad(self=_shared)


@operation(node="MaxBackward1", methods=False)
def max_all(self: Array, /) -> Array:
    """Return the maximum of all elements."""
    _nonempty(self, "max", None)
    return np.maximum.reduce(self, axis=None)


@operation(node="MinBackward1", methods=False)
def min_all(self: Array, /) -> Array:
    """Return the minimum of all elements."""
    _nonempty(self, "min", None)
    return np.minimum.reduce(self, axis=None)


max_all.grad(self=lambda g, self, self_shape, result: _shared(g, self, self_shape, result, None, False))
min_all.grad(self=lambda g, self, self_shape, result: _shared(g, self, self_shape, result, None, False))

ValuesAndIndices = {
    name: namedtuple(name, ["values", "indices"], module="tinynet.return_types")  # noqa: PYI024
    for name in ("max", "min")
}


def _extreme(self: Array, argument: Any, dim: int, keepdim: bool) -> tuple[Array, Array]:
    if self.ndim == 0:
        axis_of(dim, 0)
        return self.copy(), np.zeros((), np.int64)
    axis = axis_of(dim, self.ndim)
    indices = np.expand_dims(np.asarray(argument(self, axis=axis)), axis)
    values = np.take_along_axis(self, indices, axis)
    if not keepdim:
        values, indices = np.squeeze(values, axis), np.squeeze(indices, axis)
    return values, indices


@operation(
    outputs=("values", "indices"), node="MaxBackward0", result=ValuesAndIndices["max"], methods=False
)
def max_dim(self: Array, /, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """Return the maxima along a dimension, and where they stand."""
    return _extreme(self, np.argmax, dim, keepdim)


@operation(
    outputs=("values", "indices"), node="MinBackward0", result=ValuesAndIndices["min"], methods=False
)
def min_dim(self: Array, /, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """Return the minima along a dimension, and where they stand."""
    return _extreme(self, np.argmin, dim, keepdim)


def _at_indices(
    g: Any, self_shape: tuple[int, ...], indices: Any, dim: int, keepdim: bool
) -> Any:
    """Put the gradient where the extrema stood."""
    if not self_shape:
        return g
    if not keepdim:
        g, indices = unsqueeze(g, axis_of(dim, len(self_shape))), unsqueeze(indices, axis_of(dim, len(self_shape)))
    return scatter(zeros(self_shape, g), indices, g, dim=dim)


max_dim.grad(self=_at_indices)
min_dim.grad(self=_at_indices)
