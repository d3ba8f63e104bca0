"""PyTorch's signatures for the views of ``views.py``: variadic sizes, optional arguments."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from tinynet import dtypes
from tinynet.core.declaration.operation import composite
from tinynet.core.graph.inplace import run_inplace_view
from tinynet.core.tensors.tensor import Size, Tensor, method
from tinynet.dtypes import DtypeLike
from tinynet.ops.arguments import by_name, hot, is_whole
from tinynet.ops.shaping import strided, views
from tinynet.ops.shaping.views import Ints, axis_of, contiguous_copy, copied, fitted, sizes
from tinynet.ops.shaping.views import reshape as reshaped

# ---- shape --------------------------------------------------------------------------------------


@copied("tn.view_copy(x, (2,))", [1.0, 2.0])
@composite(function=False)
@hot
def view(self: Tensor, *size: Ints | DtypeLike, dtype: DtypeLike = None, **named: Ints) -> Tensor:
    """Return a view with another shape (one size may be -1), or of the bytes in another dtype.

    Args:
        size: the sizes, a sequence of them, or a dtype.
        dtype: the dtype.
        named: the shape as ``size=``.

    Raises:
        RuntimeError: the shape does not fit, or the strides do not allow a view.

    Example:
        >>> tn.arange(6).view(2, -1).shape
        tinynet.Size([2, 3])
    """
    size = by_name("view", "size", named, size) if named else size
    if len(size) == 1 and isinstance(size[0], (dtypes.dtype, type)):
        dtype = size[0]
    if dtype is not None:
        return strided.viewed_as.function(self.detach(), dtypes.as_numpy(dtype))
    return views.view_as_shape.function(self, fitted(size, self._array.size))


@composite(checks=True)
@hot
def reshape(self: Tensor, *shape: Ints, **named: Ints) -> Tensor:
    """Return the tensor with another shape: a view where possible, otherwise a copy.

    Args:
        shape: the sizes, or a sequence of them; one may be -1.
        named: the shape as ``shape=``.

    Raises:
        RuntimeError: the shape does not fit the number of elements.

    Example:
        >>> tn.arange(6).reshape(2, -1)
        tensor([[0, 1, 2],
                [3, 4, 5]])
    """
    shape = by_name("reshape", "shape", named, shape) if named else shape
    return reshaped(self, fitted(shape, self._array.size))


@composite(function=False)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """Return a view with the shape of another tensor.

    Raises:
        RuntimeError: another number of elements, or the strides do not allow a view.

    Example:
        >>> tn.arange(6).view_as(tn.zeros(2, 3)).shape
        tinynet.Size([2, 3])
    """
    return view(self, other.shape)


@composite(function=False)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor with the shape of another one.

    Raises:
        RuntimeError: another number of elements.

    Example:
        >>> tn.arange(6).reshape_as(tn.zeros(2, 3)).shape
        tinynet.Size([2, 3])
    """
    return reshape(self, other.shape)


@composite(checks=True)
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Flatten a range of dimensions into one.

    Raises:
        IndexError: a dimension is out of range.
        RuntimeError: ``start_dim`` comes after ``end_dim``.

    Example:
        >>> tn.ones(2, 3, 4).flatten(1).shape
        tinynet.Size([2, 12])
    """
    old = self._array.shape
    if not old:
        return reshape(self, 1)
    start, end = axis_of(start_dim, len(old)), axis_of(end_dim, len(old))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return self
    return reshape(self, (*old[:start], Size(old[start : end + 1]).numel(), *old[end + 1 :]))


@composite(checks=True)
def ravel(self: Tensor) -> Tensor:
    """Flatten the tensor into one dimension.

    Takes any shape.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).ravel()
        tensor([1, 2, 3, 4])
    """
    flat = reshape(self, -1)
    return flat if flat._array.flags.c_contiguous else contiguous_copy.function(flat)


@composite(checks=True)
def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Split one dimension into several.

    Example:
        >>> tn.zeros(2, 6).unflatten(1, (2, 3)).shape
        tinynet.Size([2, 2, 3])
    """
    old, sizes = self._array.shape, tuple(sizes)
    axis = axis_of(dim, len(old))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    known = math.prod(n for n in sizes if n != -1)
    fits = old[axis] % known == 0 if -1 in sizes and known else old[axis] == known
    if not fits or (-1 in sizes and not known):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({old[axis]}) in the input tensor"
        )
    return reshape(self, (*old[:axis], *fitted(sizes, old[axis]), *old[axis + 1 :]))


@copied("tn.squeeze_copy(x)", [1.0, 2.0])
@composite
def squeeze(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return a view without dimensions of length 1: all of them, or those given.

    Example:
        >>> tn.zeros(2, 1, 3).squeeze().shape
        tinynet.Size([2, 3])
    """
    if dim is None:
        return views.squeeze_all.function(self)
    given: Any = dim
    if is_whole(given):
        return views.squeeze_dim.function(self, given)
    return views.squeeze_dims.function(self, tuple(given))


@copied("tn.expand_copy(x, (2, 2))", [[1.0, 2.0], [1.0, 2.0]])
@composite(function=False)
@hot
def expand(self: Tensor, *size: Ints, implicit: bool = False, **named: Ints) -> Tensor:
    """Return a view in which dimensions of length 1 repeat; -1 keeps a size.

    Args:
        size: the sizes, or a sequence of them.
        implicit: without effect.
        named: the shape as ``size=``.

    Raises:
        RuntimeError: too few dimensions, or another size for a dimension that is not 1.

    Example:
        >>> tn.ones(2, 1).expand(-1, 3).shape
        tinynet.Size([2, 3])
    """
    size = by_name("expand", "size", named, size) if named else size
    return views.expand_to.function(self, sizes(size))


@composite(function=False)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Return a view expanded to the shape of another tensor.

    Raises:
        RuntimeError: too few dimensions, or another size for a dimension that is not 1.

    Example:
        >>> tn.tensor([1, 2]).expand_as(tn.zeros(3, 2)).shape
        tinynet.Size([3, 2])
    """
    return views.expand_to.function(self, other._array.shape)


@composite
def broadcast_to(self: Tensor, size: Sequence[int]) -> Tensor:
    """Return a view broadcast to a shape.

    Raises:
        RuntimeError: too few dimensions, or another size for a dimension that is not 1.

    Example:
        >>> tn.tensor([1, 2]).broadcast_to((2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return views.expand_to.function(self, tuple(size))


# ---- order of dimensions ------------------------------------------------------------------------


@copied("tn.permute_copy(x, (1, 0))", [[1.0], [2.0]])
@composite
def permute(self: Tensor, *dims: Ints) -> Tensor:
    """Return a view with the dimensions in another order.

    Raises:
        RuntimeError: a dimension is missing or appears twice.
        IndexError: a dimension is out of range.

    Example:
        >>> tn.zeros(2, 3, 4).permute(2, 0, 1).shape
        tinynet.Size([4, 2, 3])
    """
    return views.permute_dims.function(self, sizes(dims))


@composite(aliases=("moveaxis",), checks=True)
def movedim(self: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Return a view with one or more dimensions moved to other positions.

    Args:
        source: the dimension or dimensions to move.
        destination: their new positions.

    Raises:
        RuntimeError: the numbers of dimensions differ, or one appears twice.

    Example:
        >>> tn.ones(2, 3, 4).movedim((0, 1), (2, 0)).shape
        tinynet.Size([3, 4, 2])
    """
    n = self._array.ndim
    pairs: Any = source, destination
    given = [[int(d)] if is_whole(d) else list(d) for d in pairs]
    if len(given[0]) != len(given[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given[0]} dims) should contain "
            f"the same number of dims as destination ({given[1]} dims)"
        )
    places = [[axis_of(d, n) for d in dims] for dims in given]
    for name, dims, axes in zip(("source", "destination"), given, places, strict=True):
        if len(set(axes)) < len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({dims})")
    if n == 0:
        return views.alias.function(self)
    order: list[int] = [d for d in range(n) if d not in places[0]]
    for to, axis in sorted(zip(places[1], places[0], strict=True)):
        order.insert(to, axis)
    return views.permute_dims.function(self, tuple(order))


def _reversed(self: Tensor) -> Tensor:
    """The tensor with its dimensions in reverse order.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).T
        tensor([[1, 3],
                [2, 4]])
    """
    if self._array.ndim == 0:
        warnings.warn(
            "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.",
            UserWarning,
            stacklevel=2,
        )
    elif self._array.ndim != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*tinynet.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return views.permute_dims.function(self, tuple(reversed(range(self._array.ndim))))


def _matrix_transposed(self: Tensor) -> Tensor:
    """The tensor with its last two dimensions swapped.

    Raises:
        RuntimeError: the tensor has fewer than two dimensions.

    Example:
        >>> tn.ones(5, 2, 3).mT.shape
        tinynet.Size([5, 3, 2])
    """
    if self._array.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{self._array.ndim}-D tensor."
        )
    return views.transpose.function(self, -2, -1)


method(property(_reversed), "T")
method(property(_matrix_transposed), "mT")

# ---- in place: the tensor becomes the view ------------------------------------------------------


@composite
def squeeze_(self: Tensor, dim: int | Ints | None = None) -> Tensor:
    """Remove dimensions of length 1 from this tensor and return it."""
    back = views.view_as_shape, (self._array.shape,)
    removed = [i for i, n in enumerate(self._array.shape) if n == 1]
    if isinstance(dim, int) and dim in (*removed, *(i - self._array.ndim for i in removed)):
        back = views.unsqueeze, (dim,)
    if dim is None:
        return run_inplace_view(views.squeezed, self, (), "squeeze_", back)
    drop = views.squeezed_dim if isinstance(dim, int) else views.squeeze_dims
    return run_inplace_view(drop, self, (dim,), "squeeze_", back)


@composite
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """Add a dimension of length 1 to this tensor and return it."""
    back = views.squeezed_dim, (dim,)
    return run_inplace_view(views.unsqueeze, self, (dim,), "unsqueeze_", back)


@composite
def t_(self: Tensor) -> Tensor:
    """Transpose this matrix and return it."""
    return run_inplace_view(views.t, self, (), "t_", (views.t, ()))


@composite(names={"axis0": "dim0", "axis1": "dim1"})
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Swap two dimensions of this tensor and return it."""
    dims = (dim0, dim1)
    return run_inplace_view(views.transpose, self, dims, "transpose_", (views.transpose, dims))


method(transpose_, "swapaxes_")
