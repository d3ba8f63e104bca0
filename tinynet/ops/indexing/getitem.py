"""Indexing and indexed assignment, with PyTorch's rules.

Integers, slices, ``...`` and None make views; boolean masks and integer tensors copy. Unlike in
numpy, an integer next to a tensor index is a view operation, applied first.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays, layouts
from tinynet.core.arrays import converted, copied
from tinynet.core.callsite import here, warn
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
from tinynet.errors import with_fix
from tinynet.kernels.indexing import add_at
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import name_of, refuse_other_elements, to_long
from tinynet.ops.creation.fill import zeros_instead
from tinynet.ops.shaping import views

# ---- keys ---------------------------------------------------------------------------------------
# Their parts that make views, and those that copy.


_EITHER = {item: np.array([item]) for item in (False, True)}
Indices = tuple[Array | None, ...]
_WHOLE = slice(None)
_PLAIN = frozenset([int, type(None)])
_INDEX_DTYPES = {np.dtype(kind) for kind in (np.int64, np.int32, np.uint8, np.bool_)}


def _means_tuple(key: Any) -> bool:
    """Return whether a list is read as a tuple, as in old numpy: it holds more than numbers."""
    if not isinstance(key, list) or len(key) >= 32:
        return False
    parts = (Tensor, slice, Sequence, np.ndarray, type(None), type(...))
    if not any(isinstance(item, parts) for item in key):
        return False
    warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
        "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
        "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error "
        "or a different result"
    )
    return True


def _item(item: Any) -> Any:
    """Return an item of a key as None, a bool, ``...``, a slice, an integer or an index array."""
    if item is None or item is True or item is False or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return _slice(item)
    if _is_integer(item):
        return int(item)
    return _index_array(item)


def _index_array(item: Any) -> Array:
    """Return an index tensor, array or sequence as an array of int64 or bool."""
    if isinstance(item, Tensor):
        # A copy: later writes to the index tensor must not affect backward.
        found = copied(item._array) if mode.grad else item._array
    elif isinstance(item, (np.ndarray, list, tuple, range)):
        found = np.asarray(item)
        if found.dtype.kind in "iufc" and found.dtype not in _INDEX_DTYPES:
            found = found.astype(np.int64)  # fractions are cut off
        if mode.tracer is not None and _is_constant(item):
            found.flags.writeable = False
    else:
        sentence = (
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
            f"are valid indices (got {type(item).__name__})"
        )
        fix = "convert it: `x[int(i)]`, or divide with `//` to get an integer"
        raise IndexError(with_fix(sentence, fix) if isinstance(item, float) else sentence)
    if found.dtype not in _INDEX_DTYPES:
        sentence = "tensors used as indices must be long, int, byte or bool tensors"
        raise IndexError(with_fix(sentence, to_long("index")))
    if found.dtype == np.uint8:
        warn(
            "indexing with dtype tinynet.uint8 is now deprecated, please use a dtype tinynet.bool "
            "instead."
        )
        return converted(found, np.dtype(bool))
    return found


def _is_constant(item: Any) -> bool:
    """Return whether an index is one or several Python numbers."""
    if isinstance(item, (list, tuple)):
        return all(map(_is_constant, item))
    return isinstance(item, (int, range))


def _used(items: list[Any], ndim: int) -> int:
    """Return the number of tensor dimensions that the items of a key consume."""
    used = 0
    for item in items:
        if item is None or item is True or item is False or item is Ellipsis:
            continue
        used += item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1
    if used <= ndim:
        return used
    if ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    if any(isinstance(item, slice) for item in items):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    raise IndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
        "C++ to convert a 0-dim tensor to a number"
    )


def parse(key: Any, dims: tuple[int, ...]) -> tuple[Chain, Indices, tuple[Any, ...] | None]:
    """Split a key into view operations and the advanced indices on their result.

    The third part is numpy's key for the view operations at once; None if there is none.

    Raises:
        IndexError: too many indices, one out of range, or one of an unsupported type.
    """
    if type(key) is int and dims and -dims[0] <= key < dims[0]:  # the common case
        return ((views.select, (0, key)),), (), (key, ...)
    if type(key) is slice and dims and (part := _slice(key)) != _WHOLE:
        return ((views.cut, (0, part)),), (), (part,)
    keys = key if isinstance(key, tuple) or _means_tuple(key) else (key,)
    items = [item if item.__class__ is int else _item(item) for item in keys]
    chain, indices = _steps(items, dims)
    if indices or None in items:  # numpy's stride of a new dimension is 0
        return chain, indices, None
    return chain, (), tuple(items) if ... in items else (*items, ...)  # never a number


def _steps(items: list[Any], dims: tuple[int, ...]) -> tuple[Chain, Indices]:
    used = _used(items, len(dims))
    chain: list[tuple[Any, tuple[Any, ...]]] = []
    indices: list[Array | None] = []
    axis = 0  # of the view so far
    left = list(dims)  # sizes of the dimensions not yet consumed
    for item in items:
        if item is Ellipsis:
            skipped = len(dims) - used
            axis += skipped
            indices += [None] * skipped
            del left[:skipped]
        elif item is None or item is True or item is False:
            chain.append((views.unsqueeze, (axis,)))
            indices.append(None if item is None else _EITHER[item])
            axis += 1
        elif isinstance(item, slice):
            if item != _WHOLE:
                chain.append((views.cut, (axis, item)))
            indices.append(None)
            axis += 1
            del left[:1]
        elif isinstance(item, int):
            n = left.pop(0)
            if not -n <= item < n:
                raise _outside(item, len(dims) - len(left) - 1, n)
            chain.append((views.select, (axis, item)))
        else:
            indices.append(item)
            consumed = _consumed(item, left, dims, axis)
            axis += consumed
            del left[:consumed]
    while indices and indices[-1] is None:
        indices.pop()
    return tuple(chain), tuple(indices)


def as_arrays(indices: Sequence[Tensor], dims: tuple[int, ...]) -> Indices:
    """Return the indices of ``index_put`` as arrays, in order from the first dimension.

    Raises:
        TypeError: an index is not a tensor.
        IndexError: too many indices, or a mask whose shape differs from its dimensions.
    """
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            "index_put(): argument 'indices' (position 1) must be tuple of Tensors, not "
            f"{type(indices).__name__}"
        )
    found, left = [], list(dims)
    refuse_other_elements(0, indices)
    for index in indices:
        found.append(_index_array(index))
        del left[: _consumed(found[-1], left, dims, len(dims) - len(left))]
    used = sum(index.ndim if index.dtype == bool else 1 for index in found)
    if used > len(dims):
        raise IndexError(f"too many indices for tensor of dimension {len(dims)} (got {used})")
    return tuple(found)


def _outside(number: int, dim: int, n: int) -> IndexError:
    return IndexError(f"index {number} is out of bounds for dimension {dim} with size {n}")


def _is_integer(item: Any) -> bool:
    if isinstance(item, Tensor):
        array = item._array
        return array.ndim == 0 and array.dtype.kind == "i" and type(array) is np.ndarray
    if isinstance(item, np.ndarray):
        return item.ndim == 0 and item.dtype.kind in "if"
    return isinstance(item, (int, np.integer))


def _slice(item: slice) -> slice:
    start, stop, step = item.start, item.stop, item.step
    if not {start.__class__, stop.__class__, step.__class__} <= _PLAIN:
        start, stop, step = (None if x is None else _to_int(x) for x in (start, stop, step))
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step is not None and step < 0:
        raise ValueError("step must be greater than zero")
    return slice(start, stop, step if step != 1 else None)


def _to_int(x: Any) -> int:
    try:
        return operator.index(x)
    except TypeError:
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None


def _consumed(index: Array, left: list[int], dims: tuple[int, ...], axis: int) -> int:
    """Return the number of dimensions of an advanced index; a mask must match their sizes."""
    if index.dtype != bool:
        return 1
    for i, (m, n) in enumerate(zip(index.shape, left, strict=False)):
        if m != n:
            raise IndexError(
                f"The shape of the mask {list(index.shape)} at index {i} does not match the shape "
                f"of the indexed tensor {list(dims)} at index {axis + i}"
            )
    return index.ndim


# ---- reading and writing ------------------------------------------------------------------------


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
