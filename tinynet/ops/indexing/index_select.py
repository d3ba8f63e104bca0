"""Reading and writing entire slices by index, and elements by mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels.indexing import add_slices
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import (
    EXPECTED,
    c_name,
    name_of,
    refuse_others,
    refuse_outside,
    same_dtype,
    to_long,
)
from tinynet.ops.indexing.gather import as_source, number_as
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.shaping.views import axis_of

_APART = same_dtype("{name}(): self and result must have the same scalar type", apart=True)

# ---- slices -------------------------------------------------------------------------------------


@operation(node="IndexSelectBackward0", complex=True)
def select_slices(self: Array, index: Array, /, dim: int) -> Array:
    """Return the slices at ``index`` along a dimension."""
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        sentence = "index_select(): Expected dtype int32 or int64 for index"
        raise RuntimeError(errors.with_fix(sentence, to_long("index")))
    axis = axis_of(dim, self.ndim)
    if self.ndim == 0 and index.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    n = self.shape[axis] if self.ndim else 1
    if index.size and (index.min() < 0 or index.max() >= n):
        if self.ndim < 2:
            raise IndexError("index out of range in self")
        wrong = index[(index < 0) | (index >= n)].flat[0]
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={n}")
    if self.ndim == 0:
        return self.copy()
    return self.take(index.reshape(-1), axis, mode="wrap")  # in range: the fastest mode


@operation(node="IndexAddBackward0", complex=True)
def select_sum(self: Array, index: Array, /, shape: tuple[int, ...], dim: int) -> Array:
    """Add slices to zeros of ``shape``: the derivative of index_select."""
    if self.dtype is HALF:
        return in_single(select_sum, self, index, shape, dim)
    whole = np.zeros(shape, self.dtype)
    rows = index.reshape(-1)
    add_slices(whole.reshape(shape or (1,)), axis_of(dim, len(shape)), rows, self)
    return whole


select_slices.grad(self=lambda g, index, self_shape, dim: select_sum(g, index, self_shape, dim))
select_sum.grad(self=lambda g, index, dim: select_slices(g, index, dim))


@composite(out=_APART)
def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices at a vector of indices along a dimension, as a copy.

    Raises:
        RuntimeError: an index is out of range.

    Example:
        >>> tn.tensor([[1, 2], [3, 4], [5, 6]]).index_select(0, tn.tensor([2, 0]))
        tensor([[5, 6],
                [1, 2]])
    """
    refuse_others("index_select", self=self, index=index)
    return select_slices.function(self, index, dim)


def check_index(name: str, self: Array, index: Array, source: Array) -> None:
    """Refuse an index that is not a vector of integers, and a source of another dtype."""
    if index.ndim > 1:
        raise IndexError(
            f"{name}: Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{name_of(index)} and size: {list(index.shape)}"
        )
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError(
            f"{name}: Expected dtype int32/int64 for index but got: {name_of(index)}"
        )
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"{name}: self ({name_of(self)}) and source ({name_of(source)}) must have the same "
            "scalar type"
        )


def check_slices(
    name: str, self: Array, index: Array, source: Array, axis: int, same_rank: bool
) -> None:
    """Refuse a source whose slices do not fit in number or shape."""
    count = source.shape[axis] if source.ndim > axis else 1
    if index.size != count:
        raise RuntimeError(
            f"{name}: Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {axis}"
        )
    shapes = [s[:axis] + s[axis + 1 :] for s in (self.shape, source.shape)]
    if shapes[0] != shapes[1] or (same_rank and self.ndim != source.ndim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(self.shape)} source.shape = {list(source.shape)}"
        )


def _check_source(self: Array, index: Array, source: Array, dim: int) -> int:
    """Return the axis of index_add; refuse unsuitable sources."""
    axis = axis_of(dim, self.ndim)
    check_index("index_add_()", self, index, source)
    if axis >= max(source.ndim, 1):
        raise RuntimeError(
            f"index_add_(): Indexing dim {axis} is out of bounds of the source tensor with dim "
            f"{source.ndim}"
        )
    check_slices("index_add_()", self, index, source, axis, same_rank=True)
    try:
        refuse_outside(index, self.shape[axis] if self.ndim else 1, axis)
    except RuntimeError:
        if self.ndim > 1:
            raise
        raise IndexError("index out of range in self") from None
    return axis


@operation(node="IndexAddBackward0", complex=True)
def slices_added(self: Array, index: Array, source: Array, /, dim: int, alpha: float) -> Array:
    """Return a copy with the slices of ``source``, times ``alpha``, added at the indices."""
    if self.dtype is HALF and source.dtype is HALF:
        return in_single(slices_added, self, index, source, dim, number_as(alpha, HALF))
    whole = np.array(self, order="C")
    _add(whole, index, source, dim, alpha)
    return whole


def _add(whole: Array, index: Array, source: Array, dim: int, alpha: float) -> None:
    axis = _check_source(whole, index, source, dim)
    added = source if alpha == 1 else source * number_as(alpha, source.dtype)
    add_slices(whole.reshape(whole.shape or (1,)), axis, index.reshape(-1), added)


slices_added.into = _add
slices_added.grad(
    self=lambda g: g,
    source=lambda g, index, source, source_shape, dim, alpha: (
        as_source(select_slices(g, index, dim), source_shape) * alpha
    ),
)


@composite(out=EXPECTED)
def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Return a copy with the slices of ``source``, times ``alpha``, added at ``index``.

    Raises:
        RuntimeError: an index is out of range, or a shape or dtype does not fit.

    Example:
        >>> tn.zeros(3).index_add(0, tn.tensor([0, 2, 2]), tn.ones(3))
        tensor([1., 0., 2.])
    """
    refuse_others("index_add", self=self, index=index, source=source)
    return slices_added.function(self, index, source, dim, alpha)


@composite
def index_add_(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
) -> Tensor:
    """Add the slices of ``source``, times ``alpha``, at ``index``; return the tensor."""
    refuse_others("index_add_", self=self, index=index, source=source)
    return in_place(slices_added, "index_add_", apart=True)(self, index, source, dim, alpha)


def _fill(whole: Array, index: Array, dim: int, value: Any) -> None:
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if np.iscomplexobj(value) and whole.dtype.kind != "c":
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    axis = axis_of(dim, whole.ndim)
    n = whole.shape[axis] if whole.ndim else 1
    if index.size and (index.min() < -n or index.max() >= n):
        wrong = index[(index < -n) | (index >= n)].flat[0]
        raise IndexError(f"index {wrong} is out of bounds for dimension {axis} with size {n}")
    places = (slice(None),) * axis + (index.reshape(-1),)
    whole.reshape(whole.shape or (1,))[places] = number_as(value, whole.dtype)


@operation(node="IndexFillBackward0", complex=True, order="preserved")
def slices_filled(self: Array, index: Array, /, dim: int, value: float) -> Array:
    """Return a copy with the slices at ``index`` filled with a number."""
    whole = self.copy()
    _fill(whole, index, dim, value)
    return whole


slices_filled.into = _fill
slices_filled.grad(self=lambda g, index, dim: slices_filled(g, index, dim, 0))


@operation(node="IndexFillBackward1", complex=True, order="preserved")
def slices_filled_by(self: Array, index: Array, value: Array, /, dim: int) -> Array:
    """Return a copy with the slices at ``index`` filled with the value of a 0-d tensor."""
    if value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return slices_filled.kernel(self, index, dim, value)


slices_filled_by.grad(
    self=lambda g, index, dim: slices_filled(g, index, dim, 0),
    value=lambda g, index, dim: g - slices_filled(g, index, dim, 0),
)


@composite
def index_fill(self: Tensor, dim: int, index: Tensor, value: Tensor | float) -> Tensor:
    """Return a copy with the slices at ``index`` filled with a number or 0-d tensor.

    Example:
        >>> tn.ones(3).index_fill(0, tn.tensor([1]), 5)
        tensor([1., 5., 1.])
    """
    refuse_others("index_fill", self=self, index=index)
    if isinstance(value, Tensor):
        return slices_filled_by.function(self, index, value, dim)
    return slices_filled.function(self, index, dim, value)


@composite
def index_fill_(self: Tensor, dim: int, index: Tensor, value: Tensor | float) -> Tensor:
    """Fill the slices at ``index`` with a number or 0-d tensor, and return the tensor."""
    refuse_others("index_fill_", self=self, index=index)
    if isinstance(value, Tensor):
        return in_place(slices_filled_by, "index_fill_", apart=True)(self, index, value, dim)
    return in_place(slices_filled, "index_fill_", apart=True)(self, index, dim, value)


# ---- masks --------------------------------------------------------------------------------------


def _masked(self: Array, mask: Array, value: Any) -> Array:
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {c_name(mask)}"
        )
    try:
        return np.where(mask, number_as(value, self.dtype), self)
    except ValueError:
        raise errors.not_broadcastable(mask.shape, self.shape) from None


@operation(node="MaskedFillBackward0", complex=True, order="in_rows")
def masked_number(self: Array, mask: Array, /, value: float) -> Array:
    """Return a copy with a number where the mask is True."""
    return _masked(self, mask, value)


masked_number.grad(self=lambda g, mask: masked_number(g, mask, 0))


def without(g: Any, mask: Any) -> Any:
    """Return a gradient with zeros where the mask is True."""
    return masked_number.function(g, mask, 0) if isinstance(g, Tensor) else where(mask, 0.0, g)


@operation(node="MaskedFillBackward1", complex=True, order="in_rows")
def masked_by(self: Array, mask: Array, value: Array, /) -> Array:
    """Return a copy with the value of a 0-d tensor where the mask is True."""
    if value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return _masked(self, mask, value)


masked_by.grad(
    self=lambda g, mask: masked_number(g, mask, 0),
    value=lambda g, mask: where(mask, g, 0.0),
)


def _fills(name: str, self: Any, mask: Any, value: Any) -> Any:
    """Return the operation for the arguments of masked_fill."""
    refuse_others(name, self=self, mask=mask)
    if isinstance(value, Tensor):
        return masked_by
    if not isinstance(value, (int, float, complex, np.generic)):
        raise TypeError(
            f"{name}(): argument 'value' must be Number or a 0-d Tensor, not {type(value).__name__}"
        )
    return masked_number


@composite
def masked_fill(self: Tensor, mask: Tensor, value: Tensor | float) -> Tensor:
    """Return a copy filled with a number or 0-d tensor where the mask (broadcast) is True.

    Raises:
        RuntimeError: the mask is not boolean, or the shapes do not broadcast.

    Example:
        >>> tn.ones(3).masked_fill(tn.tensor([True, False, True]), 7)
        tensor([7., 1., 7.])
    """
    return _fills("masked_fill", self, mask, value).function(self, mask, value)


@composite
def masked_fill_(self: Tensor, mask: Tensor, value: Tensor | float) -> Tensor:
    """Fill with a number or 0-d tensor where the mask (broadcast) is True; return the tensor."""
    op = _fills("masked_fill_", self, mask, value)
    return in_place(op, "masked_fill_")(self, mask, value)


@operation(public=True, out=_APART, complex=True)
def masked_select(self: Array, mask: Array, /) -> Array:
    """Return the elements where the mask is True, in one dimension; both inputs broadcast.

    Raises:
        RuntimeError: the mask is not boolean, or the shapes do not broadcast.

    Example:
        >>> x = tn.tensor([1.0, -2.0, 3.0])
        >>> x.masked_select(x > 0)
        tensor([1., 3.])
    """
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    try:
        wide, chosen = np.broadcast_arrays(self, mask)
    except ValueError:
        raise errors.not_broadcastable(mask.shape, self.shape) from None
    return wide[chosen]


@operation(node="MaskedScatterBackward0", complex=True)
def masked_spread(self: Array, mask: Array, /, shape: tuple[int, ...]) -> Array:
    """Return zeros of ``shape`` with the elements of ``self`` where the mask is True."""
    whole = np.zeros(shape, self.dtype)
    whole[np.broadcast_to(mask, shape)] = self
    return whole


masked_select.grad(
    self=lambda g, self, mask, self_shape: masked_spread(
        g, mask, np.broadcast_shapes(self_shape, mask.shape)
    )
)
masked_spread.grad(self=lambda g, mask: masked_select(g, mask))
