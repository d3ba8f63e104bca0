"""Maxima and minima, and their indices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import (
    EXPECTED,
    EXPECTED_TEXT,
    bad_dim,
    is_whole,
    refuse_others,
    same_dtype,
)
from tinynet.ops.indexing.gather import gather_sum, scatter_source
from tinynet.ops.indexing.index_select import masked_by
from tinynet.ops.pointwise import clamp
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.conversion import converted
from tinynet.ops.reduction.sums import Dims, axes_of, largest, restore, smallest, sum_dims
from tinynet.ops.shaping.views import axis_of, unsqueeze

_MATCHING = same_dtype(
    "Expected the dtype for input and out to match, but got {result} for input's dtype and "
    "{out} for out's dtype."
)

# ---- shared helpers -----------------------------------------------------------------------------


def nonempty(name: str, self: Array, dim: Dims, error: type[Exception] = RuntimeError) -> None:
    """Refuse an extremum of no elements."""
    if self.size:
        return
    if dim is None or (isinstance(dim, tuple) and not dim):
        hint = "" if error is IndexError else " Specify the reduction dim with the 'dim' argument."
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{hint}"
        )
    for axis in axes_of(dim, self.ndim):
        if self.shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


def shared(
    g: Any, self: Any, self_shape: tuple[int, ...], result: Any, dim: Dims, keepdim: bool
) -> Any:
    """Share a gradient equally between the elements that equal the result; NaN where it is NaN."""
    mask = self == restore(result, self_shape, dim, keepdim)
    return restore(g, self_shape, dim, keepdim) / _like(sum_dims(mask, dim, True), g) * mask


def _like(x: Any, g: Any) -> Any:
    """Return ``x`` in the dtype of ``g``."""
    return converted(x, g._array.dtype) if isinstance(x, Tensor) else x.astype(g.dtype)


# ---- values -------------------------------------------------------------------------------------


@operation(public=True, out=_MATCHING)
def amax(self: Array, /, dim: Dims = (), keepdim: bool = False) -> Array:
    """Return the maximum over the given dimensions; all by default.

    Equal maxima share the gradient.

    Example:
        >>> tn.tensor([[1.0, 3.0], [2.0, 0.0]]).amax(dim=1)
        tensor([3., 2.])
    """
    nonempty("amax", self, dim)
    return largest(self, axis=axes_of(dim, self.ndim, "amax", False), keepdims=keepdim)


@operation(public=True, out=_MATCHING)
def amin(self: Array, /, dim: Dims = (), keepdim: bool = False) -> Array:
    """Return the minimum over the given dimensions; all by default.

    Equal minima share the gradient.

    Example:
        >>> tn.tensor([[1.0, 3.0], [2.0, 0.0]]).amin(dim=1)
        tensor([1., 0.])
    """
    nonempty("amin", self, dim)
    return smallest(self, axis=axes_of(dim, self.ndim, "amin", False), keepdims=keepdim)


amax.grad(self=shared)
amin.grad(self=shared)


@operation(node="MaxBackward1")
def max_all(self: Array, /) -> Array:
    """Return the maximum of all elements."""
    nonempty("max", self, None)
    return largest(self, axis=None)


@operation(node="MinBackward1")
def min_all(self: Array, /) -> Array:
    """Return the minimum of all elements."""
    nonempty("min", self, None)
    return smallest(self, axis=None)


def shared_by_all(g: Any, self: Any, self_shape: tuple[int, ...], result: Any) -> Any:
    """Share a gradient equally between all elements that equal the result (NaN equals NaN)."""
    mask = (self == result) | ((self != self) & (result != result))
    share = g / _like(sum_dims(mask, None), g)
    if isinstance(g, Tensor):
        return masked_by.function(g.new_zeros(self_shape), mask, share)
    return where(mask, share, 0.0)


max_all.grad(self=shared_by_all)
min_all.grad(self=shared_by_all)

# ---- values and indices -------------------------------------------------------------------------


class ValuesAndIndices(NamedTuple):
    """The values found, and their indices along the dimension."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"tinynet.return_types.{name}(\nvalues={self[0]!r},\nindices={self[1]!r})"


def pair(name: str) -> type[ValuesAndIndices]:
    """Return the named tuple ``(values, indices)``, named after the operation."""
    return type(name, (ValuesAndIndices,), {"__slots__": (), "__module__": "tinynet.return_types"})


def _along(
    name: str, self: Array, dim: int, keepdim: bool, reduce: Any, find: Any
) -> tuple[Array, Array]:
    axis = axis_of(dim, self.ndim)
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    nonempty(name, self, dim)
    return reduce(self, axis=axis, keepdims=keepdim), find(self, axis=axis, keepdims=keepdim)


def put_back(
    g: Any, self_shape: tuple[int, ...], indices: Any, dim: int, keepdim: bool = True
) -> Any:
    """Return zeros with the gradient at the indices of the values."""
    if self_shape and not keepdim:
        axis = axis_of(dim, len(self_shape))
        g, indices = unsqueeze(g, axis), unsqueeze(indices, axis)
    if isinstance(g, Tensor):
        return scatter_source.function(g.new_zeros(self_shape), indices, g, dim)
    return gather_sum(g, indices, self_shape, dim)


@operation(outputs=("values", "indices"), node="MaxBackward0", result=pair("max"))
def max_dim(self: Array, /, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """Return the maxima along a dimension, and the index of the first of each."""
    return _along("max", self, dim, keepdim, largest, np.argmax)


@operation(outputs=("values", "indices"), node="MinBackward0", result=pair("min"))
def min_dim(self: Array, /, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """Return the minima along a dimension, and the index of the first of each."""
    return _along("min", self, dim, keepdim, smallest, np.argmin)


max_dim.grad(self=put_back)
min_dim.grad(self=put_back)


def _face(name: str, everything: Any, along: Any, pairwise: Any) -> Any:
    """Build the public function max or min, which has three forms."""

    def function(self: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        refuse_others(name, self=self)
        second = dim if other is None else other
        if keepdim.__class__ is not bool and isinstance(keepdim, Tensor):
            kinds = ", ".join(type(x).__name__ for x in (self, dim, keepdim))
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got ({kinds}), but "
                "expected one of:\n  Tensor input\n  Tensor input, int dim, bool keepdim\n  Tensor "
                "input, Tensor other"
            )
        if isinstance(second, Tensor):
            return pairwise.function(self, second)
        if second is None and not keepdim:
            return everything.function(self)
        if not isinstance(second, (int, np.integer)):
            raise bad_dim(name, second, several=False)
        return along.function(self, second, keepdim)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return the {name}imum of all elements, of a dimension, or of two tensors.

    ``x.{name}()`` is a 0-d tensor; equal elements share its gradient. ``x.{name}(dim)`` is a named
    tuple ``(values, indices)``; the gradient goes to the first of equal elements.
    ``x.{name}(other)`` is the elementwise {name}imum of two tensors.

    Raises:
        RuntimeError, IndexError: there are no elements.

    Example:
        >>> values, indices = tn.tensor([[1.0, 3.0], [2.0, 0.0]]).{name}(dim=1)
        >>> values
        {"tensor([3., 2.])" if name == "max" else "tensor([1., 0.])"}
    """
    return composite(function, out=same_dtype(EXPECTED_TEXT, EXPECTED_TEXT))


max = _face("max", max_all, max_dim, clamp.maximum)
min = _face("min", min_all, min_dim, clamp.minimum)

# ---- both extrema -------------------------------------------------------------------------------


class MinAndMax(NamedTuple):
    """The minimum and the maximum."""

    min: Tensor
    max: Tensor

    def __repr__(self) -> str:
        return f"tinynet.return_types.aminmax(\nmin={self[0]!r},\nmax={self[1]!r})"


@operation(outputs=("min", "max"), differentiable=2, result=MinAndMax)
def aminmax(self: Array, /, dim: int | None, keepdim: bool) -> tuple[Array, Array]:
    """Return the minima and maxima."""
    if dim is None and self.size == 0:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity."
        )
    axes = axes_of(dim, self.ndim)
    if self.size == 0 and any(self.shape[a] == 0 for a in axes):
        raise IndexError(f"aminmax: Expected reduction dim {axes[0]} to have non-zero size.")
    return smallest(self, axis=axes, keepdims=keepdim), largest(self, axis=axes, keepdims=keepdim)


aminmax.grad(
    self=lambda g, self, self_shape, min, max, dim, keepdim: (
        shared(g[0], self, self_shape, min, dim, keepdim)
        + shared(g[1], self, self_shape, max, dim, keepdim)
    )
)


def _aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> MinAndMax:
    """Return the minimum and the maximum of all elements or along a dimension.

    Equal elements share the gradient.

    Example:
        >>> tn.tensor([3.0, 1.0, 2.0]).aminmax().max
        tensor(3.)
    """
    refuse_others("aminmax", self=self)
    found: MinAndMax = aminmax.function(self, dim, keepdim)
    return found


_aminmax.__name__ = _aminmax.__qualname__ = "aminmax"
composite(_aminmax, out=EXPECTED)

# ---- indices ------------------------------------------------------------------------------------


def _index_of(name: str, self: Array, dim: int | None, keepdim: bool, find: Any) -> Array:
    if dim is not None and not is_whole(dim):
        raise bad_dim(name, dim, several=False, overloaded=False)
    if self.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input")
    if dim is not None and self.ndim == 0:
        axis_of(dim, 0)
        return np.zeros((), np.int64)
    axis = None if dim is None else axis_of(dim, self.ndim)
    nonempty(name, self, dim, IndexError)
    return find(self, axis=axis, keepdims=keepdim)


@operation(public=True, out=EXPECTED)
def argmax(self: Array, /, dim: int | None = None, keepdim: bool = False) -> Array:
    """Return the index of the first maximum, along a dimension or in the flattened tensor.

    Example:
        >>> tn.tensor([[1.0, 3.0], [2.0, 0.0]]).argmax(dim=1)
        tensor([1, 0])
    """
    return _index_of("argmax", self, dim, keepdim, np.ndarray.argmax)


@operation(public=True, out=EXPECTED)
def argmin(self: Array, /, dim: int | None = None, keepdim: bool = False) -> Array:
    """Return the index of the first minimum, along a dimension or in the flattened tensor.

    Example:
        >>> tn.tensor([[1.0, 3.0], [2.0, 0.0]]).argmin(dim=1)
        tensor([0, 1])
    """
    return _index_of("argmin", self, dim, keepdim, np.ndarray.argmin)
