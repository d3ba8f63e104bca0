"""Copies: flipped, rolled, repeated, triangular, contiguous; those in which a view is replaced."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core import layouts
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.kernels.indexing import triangle
from tinynet.ops.arguments import EXPECTED, is_whole, refuse_others
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.shaping import diagonals, views
from tinynet.ops.shaping.strided import as_strided
from tinynet.ops.shaping.views import Ints, axis_of, contiguous_copy, reshape, sizes


@operation(node="FlipBackward0", complex=True, order="preserved")
def flip_dims(self: Array, /, dims: tuple[int, ...]) -> Array:
    """Reverse the order along the dimensions."""
    axes = [axis_of(d, self.ndim) for d in dims]
    double = next((a for a in axes if axes.count(a) > 1), None)
    if double is not None:
        raise RuntimeError(f"dim {double} appears multiple times in the list of dims")
    return np.flip(self, tuple(a for a in axes if self.ndim)).copy()


flip_dims.grad(self=lambda g, dims: flip_dims(g, dims))


@operation(node="RollBackward0", complex=True)
def roll_dims(self: Array, /, shifts: tuple[int, ...], dims: tuple[int, ...] | None) -> Array:
    """Roll along the dimensions; for None, along the flattened tensor."""
    if dims and not self.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    axes = None if dims is None else tuple(axis_of(d, self.ndim) for d in dims)
    return np.roll(self, shifts if axes else shifts[0], axes)


roll_dims.grad(self=lambda g, shifts, dims: roll_dims(g, tuple(-s for s in shifts), dims))


@operation(node="RepeatBackward0", complex=True)
def repeat_dims(self: Array, /, repeats: tuple[int, ...]) -> Array:
    """Repeat along each dimension."""
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    if any(n < 0 for n in repeats):
        shape = [1] * (len(repeats) - self.ndim) + list(self.shape)
        result = [n * r for n, r in zip(shape, repeats, strict=True)]
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(result)}: {result}"
        )
    return np.tile(self, repeats)


repeat_dims.grad(self=lambda g, self_shape, repeats: _unrepeat(g, self_shape, repeats))


def _unrepeat(g: Any, shape: tuple[int, ...], repeats: tuple[int, ...]) -> Any:
    shape = (1,) * (len(repeats) - len(shape)) + shape
    pairs = reshape(g, tuple(n for pair in zip(repeats, shape, strict=True) for n in pair))
    return pairs.sum(tuple(range(0, 2 * len(shape), 2)))  # both arrays and tensors have ``sum``


@operation(public=True, inplace=True, out=EXPECTED, complex=True)
def tril(self: Array, /, diagonal: int = 0) -> Array:
    """Return the part on and below a diagonal, with zeros elsewhere.

    Raises:
        RuntimeError: fewer than two dimensions.

    Example:
        >>> tn.ones(2, 2).tril()
        tensor([[1., 0.],
                [1., 1.]])
    """
    if self.ndim < 2:
        raise RuntimeError("tril: input tensor must have at least 2 dimensions")
    return triangle(self, operator.index(diagonal), lower=True)


tril.grad(self=lambda g, diagonal: tril(g, diagonal))


@operation(public=True, inplace=True, out=EXPECTED, complex=True)
def triu(self: Array, /, diagonal: int = 0) -> Array:
    """Return the part on and above a diagonal, with zeros elsewhere.

    Raises:
        RuntimeError: fewer than two dimensions.

    Example:
        >>> tn.ones(2, 2).triu()
        tensor([[1., 1.],
                [0., 1.]])
    """
    if self.ndim < 2:
        raise RuntimeError("triu: input tensor must have at least 2 dimensions")
    return triangle(self, operator.index(diagonal), lower=False)


triu.grad(self=lambda g, diagonal: triu(g, diagonal))


@operation(public=True, complex=True, order="")
def clone(self: Array, /, *, memory_format: Any = None) -> Array:
    """Return a copy with the same autograd history.

    Takes any shape and dtype.

    Example:
        >>> a = tn.tensor([1.0, 2.0])
        >>> b = a.clone()
        >>> b[0] = 9
        >>> a
        tensor([1., 2.])
    """
    return layouts.like(self.copy(), self, memory_format)


clone.grad(self=lambda g: g)


@composite(function=False)
def contiguous(
    self: Tensor, memory_format: layouts.memory_format = layouts.contiguous_format
) -> Tensor:
    """Return the tensor itself if it is contiguous, otherwise a contiguous copy.

    Takes any shape; ``channels_last`` takes four dimensions, ``channels_last_3d`` five.

    Raises:
        RuntimeError: the format requires another number of dimensions.

    Example:
        >>> x = tn.zeros(2, 3).t()
        >>> x.is_contiguous(), x.contiguous().is_contiguous()
        (False, True)
    """
    if layouts.has_memory_format(self._array, memory_format):
        return self
    return contiguous_copy.function(self, memory_format)


# ---- flipped, rolled, repeated ------------------------------------------------------------------


@composite
def flip(self: Tensor, *dims: Ints) -> Tensor:
    """Reverse the order of the elements along the dimensions, in a copy.

    Raises:
        TypeError: no dimension is given.
        IndexError: a dimension is out of range.
        RuntimeError: a dimension appears twice.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).flip(0)
        tensor([[3, 4],
                [1, 2]])
    """
    if not dims:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    return flip_dims.function(self, sizes(dims))


@composite
def roll(self: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Return a copy with the elements rolled along dimensions: those past the end come first.

    Raises:
        IndexError: a dimension is out of range.
        RuntimeError: the numbers of shifts and dimensions differ.

    Example:
        >>> tn.arange(4).roll(1)
        tensor([3, 0, 1, 2])
    """
    moves = (int(shifts),) if is_whole(shifts) else tuple(shifts)
    if not moves:
        raise RuntimeError("`shifts` required")
    axes = None if dims is None else (dims,) if is_whole(dims) else tuple(dims) or None
    if axes is not None and len(axes) != len(moves):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(axes)}"
        )
    return roll_dims.function(self, moves, axes)


@composite(function=False)
def repeat(self: Tensor, *repeats: Ints) -> Tensor:
    """Repeat the tensor along each dimension, in a copy.

    Raises:
        RuntimeError: fewer repeats than dimensions, or a negative one.

    Example:
        >>> tn.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """
    return repeat_dims.function(self, sizes(repeats))


@composite(checks=True)
def tile(self: Tensor, *dims: Ints) -> Tensor:
    """Repeat the tensor along each dimension, in a copy; missing repeats are 1.

    Raises:
        RuntimeError: a number of repeats is negative.

    Example:
        >>> tn.tensor([1, 2]).tile(2)
        tensor([1, 2, 1, 2])
    """
    counts = sizes(dims)
    return repeat(self, (1,) * (self._array.ndim - len(counts)) + counts)


# ---- a view replaced ----------------------------------------------------------------------------
# ``select_scatter`` and the like.


def _replaced(self: Array, src: Array, index: Any) -> Array:
    """Return a copy with ``src`` in the part given by ``index``, a key or a function."""
    whole = self.copy()
    part = index(whole) if callable(index) else whole[index]
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}"
        )
    part[...] = src
    return whole


@operation(public=True, complex=True, order="in_memory")
def select_scatter(self: Array, src: Array, /, dim: int, index: int) -> Array:
    """Return a copy with one slice replaced by ``src``.

    Example:
        >>> tn.zeros(2, 2).select_scatter(tn.ones(2), 0, 1)
        tensor([[0., 0.],
                [1., 1.]])
    """
    return _replaced(self, src, lambda whole: views.select.kernel(whole, dim, index))


select_scatter.grad(
    self=lambda g, dim, index: select_scatter(
        g, zeros_for(views.select(g, dim, index)), dim, index
    ),
    src=lambda g, dim, index: views.select(g, dim, index),
)


@operation(public=True, out=EXPECTED, complex=True, order="in_memory")
def slice_scatter(
    self: Array,
    src: Array,
    /,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """Return a copy with a range of one dimension replaced by ``src``.

    Args:
        src: the replacement: of the tensor's shape, except for the length of the range.
        dim: the dimension of the range.
        start, end, step: the range, as in ``x[start:end:step]``.

    Example:
        >>> tn.zeros(4).slice_scatter(tn.ones(2), 0, 1, 3)
        tensor([0., 1., 1., 0.])
    """
    axis = axis_of(dim, self.ndim)
    return _replaced(self, src, (slice(None),) * axis + (slice(start, end, step),))


def _range(g: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    return views.cut(g, axis_of(dim, len(g.shape)), slice(start, end, step))


slice_scatter.grad(
    self=lambda g, dim, start, end, step: slice_scatter(
        g, zeros_for(_range(g, dim, start, end, step)), dim, start, end, step
    ),
    src=lambda g, dim, start, end, step: _range(g, dim, start, end, step),
)


@operation(public=True, complex=True, order="in_memory")
def diagonal_scatter(
    self: Array, src: Array, /, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    """Return a copy with a diagonal replaced by ``src``.

    Example:
        >>> tn.zeros(2, 2).diagonal_scatter(tn.ones(2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    return _replaced(
        self, src, lambda whole: diagonals.diagonal_view.kernel(whole, offset, dim1, dim2)
    )


diagonal_scatter.grad(
    self=lambda g, offset, dim1, dim2: diagonal_scatter(
        g, zeros_for(diagonals.diagonal(g, offset, dim1, dim2)), offset, dim1, dim2
    ),
    src=lambda g, offset, dim1, dim2: diagonals.diagonal(g, offset, dim1, dim2),
)


_in_memory = traced(layouts.in_memory)


@composite(out=True)
def as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a copy with the elements of ``as_strided`` replaced by ``src``.

    Args:
        src: the replacement, of shape ``size``.
        size, stride, storage_offset: as in ``as_strided``.

    Raises:
        RuntimeError: ``src`` has another shape, or an element would lie outside the memory.

    Example:
        >>> tn.zeros(4).as_strided_scatter(tn.ones(2), (2,), (2,), 1)
        tensor([0., 1., 0., 1.])
    """
    refuse_others("as_strided_scatter", self=self, src=src)
    whole = clone.function(self)
    whole._array = _in_memory(whole._array, self._array)
    part = as_strided(whole, size, stride, storage_offset)
    if part._array.shape != src._array.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(part._array.shape)}"
        )
    part.copy_(src)
    return whole
