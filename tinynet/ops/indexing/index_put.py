"""Writing and reading elements by index tuples (index_put) or flat positions (take, put)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, name_of, refuse_others, same_dtype, to_long, too_few
from tinynet.ops.indexing import getitem
from tinynet.ops.indexing.gather import as_source
from tinynet.ops.indexing.index_select import (
    masked_number,
    masked_select,
    select_slices,
    slices_filled,
)
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.shaping.views import axis_of, embed, expand_to, reshape

# ---- by index tuples ----------------------------------------------------------------------------


@composite(function=True)
def index_put_(
    self: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Write (or add) values at the indices to this tensor and return it."""
    refuse_others("index_put", self=self, values=values)
    found = getitem.as_arrays(indices, self._array.shape)
    return in_place(getitem.index_set, "index_put_", apart=True)(self, values, found, accumulate)


@composite
def index_put(
    self: Tensor, indices: tuple[Tensor, ...], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return a copy with values written (or added) at the indices.

    Raises:
        IndexError: an index is out of range or of an unsupported dtype, or there are too many.
        RuntimeError: the values do not broadcast to the selected elements.

    Example:
        >>> tn.zeros(3).index_put((tn.tensor([0, 2]),), tn.tensor([5.0, 7.0]))
        tensor([5., 0., 7.])
    """
    refuse_others("index_put", self=self, values=values)
    found = getitem.as_arrays(indices, self._array.shape)
    return getitem.index_set.function(self, values, found, accumulate)


# ---- by positions in the flattened tensor -------------------------------------------------------


def _long(name: str, index: Array) -> None:
    if index.dtype != np.int64:
        sentence = f"{name}(): Expected a long tensor for index, but got {name_of(index)}"
        raise RuntimeError(errors.with_fix(sentence, to_long("index")))


def _inside(index: Array, count: int) -> None:
    wrong = index[(index < -count) | (index >= count)]
    if wrong.size:
        raise IndexError(
            f"out of range: tried to access index {wrong.flat[0]} on a tensor of {count} elements."
        )


@operation(
    public=True,
    out=same_dtype(
        "{name}(): self and out expected to have the same dtype, but got self.dtype = {result} "
        "and out.dtype = {out}",
        apart=True,
    ),
    complex=True,
)
def take(self: Array, index: Array, /) -> Array:
    """Return the elements at positions in the flattened tensor, in the shape of ``index``.

    Raises:
        IndexError: a position is outside the tensor.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).take(tn.tensor([0, 3]))
        tensor([1, 4])
    """
    _long("take", index)
    if index.size and not self.size:
        raise IndexError("take(): tried to take from an empty tensor")
    _inside(index, self.size)
    return self.reshape(-1).take(index) if index.size else np.zeros(index.shape, self.dtype)


@operation(node="PutBackward0", complex=True)
def take_sum(self: Array, index: Array, /, shape: tuple[int, ...]) -> Array:
    """Add ``self`` to zeros of ``shape`` at the positions: the derivative of ``take``."""
    whole = np.zeros(shape, self.dtype)
    np.add.at(whole.reshape(-1), index.reshape(-1), self.reshape(-1))
    return whole


take.grad(self=lambda g, self, index, self_shape: take_sum(g, index, self_shape))
take_sum.grad(self=lambda g, index: take(g, index))


@operation(public=True, inplace=True, complex=True, order="preserved")
def put(self: Array, index: Array, source: Array, /, accumulate: bool = False) -> Array:
    """Return a copy with elements of ``source`` written (or added) at flat positions.

    Raises:
        IndexError: a position is outside the tensor, or the numbers of indices and elements differ.
        RuntimeError: the dtypes do not match.

    Example:
        >>> tn.zeros(2, 2).put(tn.tensor([0, 3]), tn.tensor([5.0, 6.0]))
        tensor([[5., 0.],
                [0., 6.]])
    """
    _long("put_", index)
    if self.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{name_of(self)} and source.dtype = {name_of(source)}"
        )
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    _inside(index, self.size)
    whole = np.array(self, order="C")
    if accumulate:
        np.add.at(whole.reshape(-1), index.reshape(-1), source.reshape(-1))
    else:
        whole.reshape(-1)[index.reshape(-1)] = source.reshape(-1)
    return whole


put.grad(
    self=lambda g, index, accumulate: g if accumulate else put(g, index, zeros_for(take(g, index))),
    source=lambda g, index, source, source_shape: reshape(take(g, index), source_shape),
)

# ---- whole slices -------------------------------------------------------------------------------


def _check_copy(self: Array, index: Array, source: Array, axis: int) -> None:
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    _long("index_copy_", index)
    if self.dtype != source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{name_of(self)} and (source) {name_of(source)}"
        )
    count = source.shape[axis] if source.ndim > axis else 1
    if index.size != count:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) "
            f"({count})"
        )
    slices = [" ".join(map(str, s[:axis] + s[axis + 1 :])) for s in (self.shape, source.shape)]
    if self.ndim and slices[0] != slices[1]:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {slices[0]} at dimension {axis} and source slice shape: {slices[1]} at "
            f"dimension {axis}."
        )
    n = self.shape[axis] if self.ndim else 1
    wrong = index[(index < 0) | (index >= n)]
    if wrong.size:
        raise IndexError(
            f"index_copy_(): index {wrong.flat[0]} is out of bounds for dimension {axis} with size "
            f"{n}"
        )


def _copy(whole: Array, index: Array, source: Array, dim: int) -> None:
    axis = axis_of(dim, whole.ndim)
    _check_copy(whole, index, source, axis)
    places = (slice(None),) * axis + (index.reshape(-1),)
    whole.reshape(whole.shape or (1,))[places] = source.reshape(source.shape or (1,))


@operation(node="IndexCopyBackward0", complex=True)
def slices_copied(self: Array, index: Array, source: Array, /, dim: int) -> Array:
    """Return a copy with the slices at ``index`` replaced by those of ``source``."""
    whole = self.copy()
    _copy(whole, index, source, dim)
    return whole


slices_copied.into = _copy
slices_copied.grad(
    self=lambda g, index, dim: slices_filled(g, index, dim, 0),
    source=lambda g, index, source, source_shape, dim: as_source(
        select_slices(g, index, dim), source_shape
    ),
)


@composite(out=EXPECTED, autocast="widest")
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return a copy with the slices at ``index`` replaced by those of ``source``.

    Example:
        >>> tn.zeros(3).index_copy(0, tn.tensor([2, 0]), tn.tensor([5.0, 6.0]))
        tensor([6., 0., 5.])
    """
    refuse_others("index_copy", self=self, index=index, source=source)
    return slices_copied.function(self, index, source, dim)


@composite
def index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Write slices of ``source`` at ``index``, and return the tensor."""
    refuse_others("index_copy_", self=self, index=index, source=source)
    return in_place(slices_copied, "index_copy_", apart=True)(self, index, source, dim)


# ---- where a mask is True -----------------------------------------------------------------------


@operation(public=True, complex=True)
def masked_scatter(self: Array, mask: Array, source: Array, /) -> Array:
    """Return a copy with the elements of ``source``, in order, where the mask is True.

    Raises:
        RuntimeError: ``source`` has too few elements; the mask is not boolean; dtypes differ.

    Example:
        >>> tn.zeros(3).masked_scatter(tn.tensor([True, False, True]), tn.tensor([5.0, 6.0]))
        tensor([5., 0., 6.])
    """
    if self.dtype != source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{name_of(self)} and {name_of(source)}"
        )
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {name_of(mask)}"
        )
    try:
        shape = np.broadcast_shapes(self.shape, mask.shape)
    except ValueError:
        raise errors.not_broadcastable(mask.shape, self.shape) from None
    whole = np.broadcast_to(self, shape).copy()
    wide = np.broadcast_to(mask, shape)
    count = np.count_nonzero(wide)
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    whole[wide] = source.reshape(-1)[:count]
    return whole


def _first_of(g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """Return the selected elements as the first of ``shape``, with zeros after them."""
    chosen = masked_select(g, mask)
    return reshape(embed(chosen, (int(np.prod(shape)),), (slice(0, chosen.shape[0]),)), shape)


masked_scatter.grad(
    self=lambda g, mask: masked_number(g, mask, 0),
    source=lambda g, mask, source_shape: _first_of(g, mask, source_shape),
)


@composite
def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Write the elements of ``source``, in order, where the mask is True; return the tensor."""
    refuse_others("masked_scatter_", self=self, mask=mask, source=source)
    if mask.ndim > self.ndim:
        raise too_few(f"CPU{name_of(mask._array)}Type", mask._array.shape, self._array.shape)
    wide = expand_to.function(mask, self._array.shape)
    return in_place(masked_scatter, "masked_scatter_")(self, wide, source)
