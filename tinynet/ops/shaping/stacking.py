"""Stacking, rotating and repeating tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core import layouts
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, method, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import refuse_kinds
from tinynet.ops.indexing.index_select import index_select
from tinynet.ops.shaping import copies, reshaping, views
from tinynet.ops.shaping.joining import cat
from tinynet.ops.shaping.views import axis_of, contiguous_copy

# ---- a minimum number of dimensions -------------------------------------------------------------


def _at_least(name: str, grow: Any) -> Any:
    """Build the public function that applies ``grow`` to one tensor or to several."""

    def function(*tensors: Any) -> Any:
        several = tensors[0] if len(tensors) == 1 else tensors
        if isinstance(several, Tensor):
            return grow(several)
        return tuple(grow(t) for t in several)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Add dimensions of length 1 until the tensor is at least {name[8]}-d.

    Several tensors (as arguments or in one sequence) give a tuple. Takes any shape and dtype.

    Example:
        >>> tn.{name}(tn.tensor(1.0)).dim()
        {name[8]}
    """
    return composite(function, method=False)


def _grow_to_one(t: Tensor) -> Tensor:
    return t if t._array.ndim else reshaping.reshape(t, 1)


def _grow_to_two(t: Tensor) -> Tensor:
    if t._array.ndim == 0:
        return reshaping.reshape(t, (1, 1))
    return t if t._array.ndim > 1 else views.unsqueeze.function(t, 0)


def _grow_to_three(t: Tensor) -> Tensor:
    if t._array.ndim == 0:
        return reshaping.reshape(t, (1, 1, 1))
    return t if t._array.ndim > 2 else views.unsqueeze.function(_grow_to_two(t), -1)


atleast_1d = _at_least("atleast_1d", _grow_to_one)
atleast_2d = _at_least("atleast_2d", _grow_to_two)
atleast_3d = _at_least("atleast_3d", _grow_to_three)

# ---- stacking -----------------------------------------------------------------------------------


def nonempty(name: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors as a list; refuse an empty one, and a tensor outside a list."""
    if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(tensors)


@composite(method=False, out=True)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors horizontally: along the second dimension, vectors along the first.

    Raises:
        RuntimeError: no tensors, or incompatible sizes.

    Example:
        >>> tn.hstack([tn.ones(2), tn.zeros(1)])
        tensor([1., 1., 0.])
    """
    grown = [_grow_to_one(t) for t in nonempty("hstack", tensors)]
    return cat.function(grown, 0 if grown[0]._array.ndim == 1 else 1)


@composite(method=False, out=True)
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors vertically: along the first dimension, vectors as rows.

    Raises:
        RuntimeError: no tensors, or incompatible sizes.

    Example:
        >>> tn.vstack([tn.ones(2), tn.zeros(2)])
        tensor([[1., 1.],
                [0., 0.]])
    """
    return cat.function([_grow_to_two(t) for t in nonempty("vstack", tensors)], 0)


@composite(method=False, out=True)
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors in depth: along the third dimension.

    Raises:
        RuntimeError: no tensors, or incompatible sizes.

    Example:
        >>> tn.dstack([tn.ones(2), tn.zeros(2)]).shape
        tinynet.Size([1, 2, 2])
    """
    return cat.function([_grow_to_three(t) for t in nonempty("dstack", tensors)], 2)


@composite(method=False, out=True)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors horizontally, vectors as columns.

    Raises:
        RuntimeError: no tensors, or incompatible sizes.

    Example:
        >>> tn.column_stack([tn.ones(2), tn.zeros(2)])
        tensor([[1., 0.],
                [1., 0.]])
    """
    grown = [
        t if t._array.ndim > 1 else reshaping.reshape(t, (t._array.size, 1))
        for t in nonempty("column_stack", tensors)
    ]
    return hstack(grown)


@composite(method=False, out=True)
def row_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors vertically: another name of ``vstack``.

    Raises:
        RuntimeError: no tensors, or incompatible sizes.

    Example:
        >>> tn.row_stack([tn.tensor([1, 2]), tn.tensor([3, 4])])
        tensor([[1, 2],
                [3, 4]])
    """
    return vstack(nonempty("row_stack", tensors))


# ---- rotating -----------------------------------------------------------------------------------


@composite(checks=True)
def fliplr(self: Tensor) -> Tensor:
    """Reverse the order along the second dimension (left to right), in a copy.

    Raises:
        RuntimeError: fewer than two dimensions.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).fliplr()
        tensor([[2, 1],
                [4, 3]])
    """
    if self._array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return copies.flip_dims.function(self, (1,))


@composite(checks=True)
def flipud(self: Tensor) -> Tensor:
    """Reverse the order along the first dimension (upside down), in a copy.

    Raises:
        RuntimeError: the tensor has no dimension.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).flipud()
        tensor([[3, 4],
                [1, 2]])
    """
    if self._array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return copies.flip_dims.function(self, (0,))


@operation(public=True, complex=True, order="")
def rot90(self: Array, /, k: int = 1, dims: Sequence[int] = (0, 1)) -> Array:
    """Rotate ``k`` times by 90 degrees in the plane of two dimensions, in a copy.

    The rotation goes from the first towards the second dimension.

    Raises:
        IndexError: a dimension is out of range.
        RuntimeError: not two different dimensions.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).rot90()
        tensor([[2, 4],
                [1, 3]])
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == self.ndim:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    axes = tuple(axis_of(d, self.ndim) for d in dims)
    turns = k % 4
    flipped = np.flip(self, (axes[1:], axes, axes[:1])[turns - 1]) if turns else self
    made = layouts.preserved(flipped.copy(), self)
    return made.swapaxes(*axes) if turns % 2 else made


rot90.grad(self=lambda g, k, dims: rot90(g, -k, dims))

# ---- repeating ----------------------------------------------------------------------------------


def _indices(counts: Array, output_size: int | None) -> Tensor:
    """Repeat 0, 1, 2, ... by the given counts."""
    if counts.dtype not in (np.int64, np.int32):
        refuse_kinds("repeat_interleave", counts.dtype.kind, counts)
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and counts.sum() != output_size:
        raise RuntimeError("allocated size does not match required size")
    return wrap(np.repeat(np.arange(counts.size), counts))


@composite(checks=True)
def repeat_interleave(
    self: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Repeat each element, or each slice along a dimension.

    ``repeat_interleave(counts)`` alone repeats 0, 1, 2, ... by the given counts.

    Args:
        repeats: the number of repeats, one for all or one each.
        dim: the dimension; None flattens the tensor.
        output_size: the expected length of the result, which is checked.

    Example:
        >>> tn.tensor([1, 2]).repeat_interleave(2)
        tensor([1, 1, 2, 2])
    """
    if repeats is None:
        return _indices(self._array, output_size)
    if dim is None:
        self, dim = reshaping.reshape(self, -1), 0
    axis = axis_of(dim, self._array.ndim)
    n = self._array.shape[axis]
    if isinstance(repeats, (int, np.integer)):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        old = self._array.shape
        wide = views.unsqueeze.function(self, axis + 1)
        wide = views.expand(wide, (*old[: axis + 1], repeats, *old[axis + 1 :]))
        dense = contiguous_copy.function(wide)
        return views.view_as_shape.function(dense, (*old[:axis], n * repeats, *old[axis + 1 :]))
    counts = repeats._array
    if counts.size == 1:
        counts = np.broadcast_to(counts.reshape(()), (n,))
    elif counts.ndim == 1 and counts.size != n:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({axis}) = {n}"
        )
    return index_select(self, axis, _indices(counts, output_size))


method(views.transpose.function, "swapdims")


@composite
def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return a view with two dimensions swapped: numpy's name of ``transpose``.

    Example:
        >>> tn.zeros(2, 3).swapaxes(axis0=0, axis1=1).shape
        tinynet.Size([3, 2])
    """
    return views.transpose.function(self, axis0, axis1)
