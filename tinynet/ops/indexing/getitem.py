"""Indexing and indexed assignment, with PyTorch's rules; index_key.py reads the key."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays, layouts
from tinynet.core.callsite import here
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.graph.inplace import permit, rebase_part, refuse_batch, wrote
from tinynet.core.graph.node import Node
from tinynet.core.graph.views import Chain, make_view, requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.subclasses import SUBCLASSES
from tinynet.core.tensors.tensor import Tensor, method, wrap
from tinynet.core.tensors.version import refuse_inference
from tinynet.core.trace import observers, run_traced
from tinynet.dtypes import Array
from tinynet.kernels.index_sums import add_at
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import name_of
from tinynet.ops.creation.fill import zeros_instead
from tinynet.ops.indexing.keys import Indices, parse
from tinynet.ops.shaping import views


def _numpy_key(indices: Indices) -> tuple[Any, ...]:
    return tuple(slice(None) if i is None else i for i in indices)


def _out_of_bounds(error: IndexError) -> str:
    """Translate numpy's error message to PyTorch's."""
    text = str(error).replace("axis", "dimension")
    empty = text.endswith("with size 0")
    return "index is out of bounds for dimension with size 0" if empty else text


# ---- operations that copy -----------------------------------------------------------------------


@operation(complex=True, order="")
def index(self: Array, /, indices: Indices) -> Array:
    """Return the elements selected by integer arrays or masks."""
    try:
        rows = indices[0] if len(indices) == 1 else None
        if rows is not None and rows.dtype.kind == "i" and self.size:
            found = self.take(rows, 0)  # faster than indexing
        else:
            found = self[_numpy_key(indices)]
        arrays = (self, found, *(i for i in indices if i is not None))
        usual = all(a.flags.c_contiguous for a in arrays)
        return found if usual else layouts.selected(found, self, indices)
    except IndexError as error:
        text = _out_of_bounds(error)
        if "broadcast" in text:
            shapes = ", ".join(str(list(i.shape)) for i in indices if i is not None)
            text = (
                "shape mismatch: indexing tensors could not be broadcast together with shapes "
                + shapes
            )
        raise IndexError(text) from None


@operation(node="IndexPutImplBackward0", complex=True)
def index_sum(self: Array, /, shape: tuple[int, ...], indices: Indices) -> Array:
    """Add ``self`` to zeros of ``shape`` at the indices: the derivative of ``index``."""
    if self.dtype is HALF:
        return in_single(index_sum, self, shape, indices)
    whole = np.zeros(shape, self.dtype)
    if all(i is None or i.dtype == bool for i in indices):
        whole[_numpy_key(indices)] = self  # a mask selects each element once at most
    else:
        add_at(whole, _numpy_key(indices), self)
    return whole


index.frees = frozenset(["indices"])
index.grad(self=lambda g, self_shape, indices: index_sum(g, self_shape, indices))
index_sum.grad(self=lambda g, indices: index(g, indices))


@operation(node="IndexPutBackward0", complex=True, order="preserved")
def cleared(self: Array, /, indices: Indices) -> Array:
    """Return a copy with zeros at the indices."""
    whole = self.copy()
    whole[_numpy_key(indices)] = 0
    return whole


cleared.grad(self=lambda g, indices: cleared(g, indices))


def _put(whole: Array, values: Array, indices: Indices, accumulate: bool) -> None:
    """Write, or add, ``values`` at the indices."""
    other = values.dtype != whole.dtype and not _fills(indices, values)
    key = _numpy_key(indices)
    try:
        if values.ndim and values.ndim > _dims_of(whole, key):
            raise ValueError("as in PyTorch, not even dimensions of length 1")
        if accumulate or other:
            values = np.broadcast_to(values, whole[key].shape)
        if other:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{name_of(whole)} for the destination and {name_of(values)} for the source."
            )
        if accumulate:
            add_at(whole, key, values)
        else:
            whole[key] = values
    except (ValueError, TypeError):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(whole[key].shape)}"
        ) from None
    except IndexError as error:
        raise IndexError(_out_of_bounds(error)) from None


@operation(node="IndexPutBackward0", complex=True, order="preserved")
def index_set(self: Array, values: Array, /, indices: Indices, accumulate: bool) -> Array:
    """Return a copy with ``values`` at the indices."""
    whole = self.copy()
    _put(whole, values, indices, accumulate)
    return whole


def _fills(indices: Indices, values: Array) -> bool:
    """Return whether one number is written by one mask: like ``masked_fill``, for any dtype."""
    used = [i for i in indices if i is not None]
    return len(used) == 1 and used[0].dtype == bool and (values.size == 1 or used[0].ndim == 0)


def _dims_of(whole: Array, key: tuple[Any, ...]) -> int:
    """Return the number of dimensions of ``whole[key]``."""
    found = [i for i in key if isinstance(i, np.ndarray)]
    indexed = sum(i.ndim if i.dtype == bool else 1 for i in found)
    return whole.ndim - indexed + max(1 if i.dtype == bool else i.ndim for i in found)


index_set.into, index_set.frees = _put, frozenset(["indices"])
index_set.grad(
    self=lambda g, indices, accumulate: g if accumulate else cleared(g, indices),
    values=lambda g, indices: index(g, indices),
)


@operation(node="CopyBackwards", complex=True, order="preserved")
def copy(self: Array, src: Array, /) -> Array:
    """Return ``src`` in the shape and dtype of ``self``: the value that ``copy_`` writes."""
    try:
        return np.broadcast_to(src, self.shape).astype(self.dtype)
    except ValueError:
        if src.ndim > self.ndim or any(
            n == 1 != m for n, m in zip(self.shape[::-1], src.shape[::-1], strict=False)
        ):
            raise errors.output_shape(
                self.shape, np.broadcast_shapes(self.shape, src.shape)
            ) from None
        raise errors.not_broadcastable(self.shape, src.shape) from None


copy.assigns = lambda a, src: src if type(src) is type(a) and src.shape == a.shape else None
copy.grad(self=lambda g: zeros_instead(g), src=lambda g: g)

# ---- public functions ---------------------------------------------------------------------------


def getitem(self: Tensor, key: Any) -> Tensor:
    """Return the part selected by ``key``."""
    chain, indices, at_once = parse(key, self._array.shape)
    part = self
    if chain and at_once and _unwatched(self) and not (mode.grad and requires_grad(self)):
        part = wrap(self._array[at_once])
        make_view(self, part, chain, mode.grad)
        return part
    for op, args in chain:
        part = op.function(part, *args)
    if indices:
        return index.function(part, indices)
    return part if chain else views.alias.function(self)


def _unwatched(self: Tensor) -> bool:
    """Return whether one view can stand for several: no observer follows each operation."""
    plain = type(self._array) is np.ndarray and self.__class__ not in SUBCLASSES
    return plain and mode.tracer is None and not observers


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Write to the part selected by ``key``; recorded, even on a leaf (see the seeds)."""
    if not isinstance(value, Tensor):
        value = wrap(_number(value, self))
    if key is False:
        return
    refuse_inference(self._counter)
    refuse_batch(self._array, value._array)
    recorded = (
        mode.grad
        and dtypes.is_inexact(self._array.dtype)
        and (requires_grad(self) or requires_grad(value))
    )
    chain, indices, at_once = parse(key, self._array.shape)
    if recorded:
        permit(self, chain)
    part = self._array
    if at_once and _unwatched(self):
        part = part[at_once]
    else:
        for op, args in chain:
            part = run_traced(op.kernel, part, *args, op=op)
    if indices:
        _set_indices(self, part, chain, indices, value, recorded)
        return
    if value._array.shape != part.shape:
        value = _trimmed(value, part.shape)
    refuse_overlap(part)
    inner = copy.function(wrap(part), value)._edge if recorded and requires_grad(value) else None
    arrays.assign(part, value._array)
    whole = part.size == self._array.size
    name = "tinynet::autograd::CopySlices" if recorded and whole else None
    wrote(self, "__setitem__", name, [value._array])
    if recorded:
        _rebase(self, chain, None if inner is None else inner[0])


def _rebase(self: Tensor, chain: Chain, inner: Node | None) -> None:
    """Record the write to the part that a chain of view operations selects."""
    view = self._view
    base, before = (self, ()) if view is None else (view.base, view.steps())
    rebase_part(base, before + chain, inner, here())


def _number(value: Any, target: Tensor) -> Array:
    """Return a number in the dtype of the tensor that it is assigned to."""
    if not isinstance(value, (int, float, complex, np.generic)):
        raise TypeError(
            f"can't assign a {type(value).__name__} to a tinynet.{target.dtype.tensor_name}"
        )
    kind = target._array.dtype
    if isinstance(value, int):
        dtypes.refuse_longer(value)
    return arrays.number(dtypes.representable(value, kind), kind)


def _set_indices(
    self: Tensor, part: Array, chain: Chain, indices: Indices, value: Tensor, recorded: bool
) -> None:
    shape = value._array.shape
    if shape[:1] == (1,):
        ones = next((d for d, n in enumerate(shape) if n != 1), len(shape))
        value = views.reshape(value, shape[ones:])
    if not chain:
        in_place(index_set, "__setitem__", permitted=True)(self, value, indices, False)
        return
    inner = index_set.function(wrap(part), value, indices, False)
    arrays.assign(part, inner._array)
    wrote(self, "__setitem__", None, [value._array])
    if recorded:
        asking = wrap(part).requires_grad_()  # so that it gets a node
        node = index_set.function(asking, value, indices, False)._edge[0]
        _rebase(self, chain, node)


def _trimmed(value: Tensor, target: tuple[int, ...]) -> Tensor:
    """Remove leading dimensions of length 1; refuse values that do not broadcast to ``target``."""
    source = value._array.shape
    extra = len(source) - len(target)
    if extra > 0 and math.prod(source[:extra]) == 1:
        value = views.reshape(value, source[extra:])
        source = source[extra:]
    pairs = zip(reversed(source), reversed(target), strict=False)
    if len(source) > len(target) or any(a not in (1, b) for a, b in pairs):
        views.expand_to.kernel(value._array, target)  # raises
    return value


def delitem(self: Tensor, key: Any) -> None:
    """Refuse to delete a part: the shape of a tensor does not change."""
    raise TypeError("Tensor does not support deleting items")


method(getitem, "__getitem__")
method(delitem, "__delitem__")
method(setitem, "__setitem__")


@composite(names={"other": "src"})
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy the values of another tensor (broadcast, converted) into this one and return it.

    Args:
        src: the source; it gets the gradient of this tensor.

    Raises:
        RuntimeError: the shapes do not broadcast, or the tensor is a leaf that requires grad.

    Example:
        >>> tn.zeros(2).copy_(tn.tensor([1, 2]))
        tensor([1., 2.])
    """
    if not isinstance(src, Tensor):
        raise errors.must_be_tensor("copy_", "other", 1, src)
    if not dtypes.is_inexact(self._array.dtype):
        src = src.detach()
    return in_place(copy, "copy_")(self, src)
