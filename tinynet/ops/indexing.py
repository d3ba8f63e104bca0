"""Indexing and indexed assignment, with PyTorch's rules.

Integers, slices, ``...`` and None make views; boolean masks and integer tensors copy. Unlike numpy,
an integer beside a tensor index counts as a view operation that is applied first.
"""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.callsite import here
from tinynet.core.inplace import permit, rebase_part, run_inplace, wrote
from tinynet.core.modes import mode
from tinynet.core.operation import operation, public
from tinynet.core.overlap import refuse_overlap
from tinynet.core.tensor import Tensor, method, wrap
from tinynet.core.version import refuse_inference
from tinynet.core.views import requires_grad
from tinynet.dtypes import Array
from tinynet.ops import shape
from tinynet.ops.adding import add_at
from tinynet.ops.filling import zeros_instead
from tinynet.ops.half import HALF, in_single

Indices = tuple[Array | None, ...]

# ---- reading a key ------------------------------------------------------------------------------


def _as_index(item: Any) -> Array | None:
    """Return a tensor, array or list of an advanced index as an array; None for anything else."""
    if isinstance(item, Tensor):
        # A copy: what backward uses must not change when the index tensor is written later.
        found = item._array.copy() if mode.grad else item._array
    elif isinstance(item, (np.ndarray, list, range)):
        found = np.asarray(item, dtype=np.int64) if len(item) == 0 else np.asarray(item)
    else:
        return None
    if found.dtype.kind == "f":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if found.dtype == np.uint8:
        warnings.warn(
            "indexing with dtype tinynet.uint8 is now deprecated, please use a dtype tinynet.bool "
            "instead.",
            UserWarning,
            stacklevel=4,
        )
        return found.astype(bool)
    return found


def _used(items: list[Any], ndim: int) -> int:
    """Return how many dimensions of the tensor the items of a key stand for."""
    used = 0
    for item in items:
        if item is None or item is True or item is False or item is Ellipsis:
            continue
        used += 1
        if isinstance(item, slice) or _is_integer(item):
            continue
        index = _as_index(item)
        if index is None:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                f"are valid indices (got {type(item).__name__})"
            )
        if index.dtype == bool:
            used += index.ndim - 1
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


def parse(key: Any, dims: tuple[int, ...]) -> tuple[list[tuple[Any, tuple[Any, ...]]], Indices]:
    """Split a key into view operations, and the advanced indices on what they leave.

    Raises:
        IndexError: too many indices, one out of range, or of a wrong type.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    used = _used(items, len(dims))
    chain: list[tuple[Any, tuple[Any, ...]]] = []
    indices: list[Array | None] = []
    axis = 0  # in the view made so far
    left = list(dims)  # lengths of the dimensions not yet consumed
    for item in items:
        if item is Ellipsis:
            skipped = len(dims) - used
            axis += skipped
            indices += [None] * skipped
            del left[:skipped]
        elif item is None or item is True or item is False:
            chain.append((shape.unsqueeze, (axis,)))
            indices.append(None if item is None else np.array([item]))
            axis += 1
        elif isinstance(item, slice):
            part = _slice(item)
            if part != slice(None):
                chain.append((shape.cut, (axis, part)))
            indices.append(None)
            axis += 1
            del left[:1]
        elif _is_integer(item):
            number, n = int(item), left.pop(0)
            if not -n <= number < n:
                raise _out_of_bounds(number, len(dims) - len(left) - 1, n)
            chain.append((shape.select, (axis, number)))
        else:
            index = _as_index(item)
            assert index is not None
            indices.append(index)
            consumed = _consumed(index, left, dims, axis)
            axis += consumed
            del left[:consumed]
    while indices and indices[-1] is None:
        indices.pop()
    return chain, tuple(indices)


def _out_of_bounds(number: int, dim: int, n: int) -> IndexError:
    return IndexError(f"index {number} is out of bounds for dimension {dim} with size {n}")


def _is_integer(item: Any) -> bool:
    if isinstance(item, Tensor):
        return item._array.ndim == 0 and item._array.dtype.kind in "iu"
    return isinstance(item, (int, np.integer))


def _slice(item: slice) -> slice:
    start, stop, step = (
        None if x is None else _whole(x) for x in (item.start, item.stop, item.step)
    )
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step is not None and step < 0:
        raise ValueError("step must be greater than zero")
    return slice(start, stop, step if step != 1 else None)


def _whole(x: Any) -> int:
    try:
        return operator.index(x)
    except TypeError:
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None


def _consumed(index: Array, left: list[int], dims: tuple[int, ...], axis: int) -> int:
    """Return how many dimensions an advanced index stands for; a mask must have their lengths."""
    if index.dtype != bool:
        return 1
    for i, (m, n) in enumerate(zip(index.shape, left, strict=False)):
        if m != n:
            raise IndexError(
                f"The shape of the mask {list(index.shape)} at index {i} does not match the shape "
                f"of the indexed tensor {list(dims)} at index {axis + i}"
            )
    return index.ndim


def _numpy_key(indices: Indices) -> tuple[Any, ...]:
    return tuple(slice(None) if i is None else i for i in indices)


# ---- the copying operations ---------------------------------------------------------------------


@operation(methods=False, frees=("indices",))
def index(self: Array, /, indices: Indices) -> Array:
    """Return the elements that integer arrays or masks choose."""
    try:
        rows = indices[0] if len(indices) == 1 else None
        if rows is not None and rows.dtype.kind == "i" and self.size:
            return self.take(rows, 0)  # faster than indexing
        return self[_numpy_key(indices)]
    except IndexError as error:
        text = str(error).replace("axis", "dimension")
        if "broadcast" in text:
            shapes = ", ".join(str(list(i.shape)) for i in indices if i is not None)
            text = (
                "shape mismatch: indexing tensors could not be broadcast together with shapes "
                + shapes
            )
        raise IndexError(text) from None


@operation(methods=False)
def index_sum(self: Array, /, shape: tuple[int, ...], indices: Indices) -> Array:
    """Return zeros of ``shape`` with ``self`` added at the indices: the derivative of ``index``."""
    if self.dtype is HALF:
        return in_single(index_sum, self, shape, indices)
    whole = np.zeros(shape, self.dtype)
    if all(i is None or i.dtype == bool for i in indices):
        whole[_numpy_key(indices)] = self  # a mask chooses no element twice
    else:
        add_at(whole, _numpy_key(indices), self)
    return whole


index.grad(self=lambda g, self_shape, indices: index_sum(g, self_shape, indices))
index_sum.grad(self=lambda g, indices: index(g, indices))


@operation(methods=False)
def cleared(self: Array, /, indices: Indices) -> Array:
    """Return a copy with zeros at the indices."""
    whole = self.copy()
    whole[_numpy_key(indices)] = 0
    return whole


cleared.grad(self=lambda g, indices: cleared(g, indices))


@operation(methods=False, node="IndexPutBackward0", frees=("indices",))
def index_set(self: Array, values: Array, /, indices: Indices, accumulate: bool) -> Array:
    """Return a copy with ``values`` at the indices."""
    whole = self.copy()
    key = _numpy_key(indices)
    try:
        if accumulate:
            whole = np.ascontiguousarray(whole)
            add_at(whole, key, np.broadcast_to(values.astype(self.dtype), whole[key].shape))
        else:
            whole[key] = _squeezed(values, whole, key)
    except (ValueError, TypeError):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
            f"indexing result of shape {list(self[key].shape)}"
        ) from None
    except IndexError as error:
        raise IndexError(str(error).replace("axis", "dimension")) from None
    return whole


def _squeezed(values: Array, whole: Array, key: tuple[Any, ...]) -> Array:
    """Drop leading dimensions of length 1, which numpy does not for masks."""
    while (
        values.ndim > 1
        and values.shape[0] == 1
        and any(isinstance(i, np.ndarray) and i.dtype == bool for i in key)
    ):
        values = values[0]
    return values


index_set.grad(
    self=lambda g, indices, accumulate: g if accumulate else cleared(g, indices),
    values=lambda g, indices: index(g, indices),
)


@operation(node="CopyBackwards", methods=False)
def copy(self: Array, src: Array, /) -> Array:
    """Return ``src`` in the shape and dtype of ``self``: what ``copy_`` writes."""
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


copy.grad(self=lambda g: zeros_instead(g), src=lambda g: g)

# ---- the public faces ---------------------------------------------------------------------------


def getitem(self: Tensor, key: Any) -> Tensor:
    """Return the part that ``key`` names."""
    if type(key) is int and self._array.ndim and -len(self) <= key < len(self):  # the usual ones
        return shape.select.function(self, 0, key)
    chain, indices = parse(key, self._array.shape)
    part = self
    for op, args in chain:
        part = op.function(part, *args)
    if indices:
        return index.function(part, indices)
    return part if chain else shape.alias.function(self)


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Write to the part that ``key`` names; recorded, also on a leaf (see the seeds)."""
    if not isinstance(value, Tensor):
        if not isinstance(value, (int, float, np.generic)):
            raise TypeError(
                f"can't assign a {type(value).__name__} to a tinynet.{self.dtype.tensor_name}"
            )
        value = wrap(np.asarray(value, self._array.dtype))
    refuse_inference(self._counter)
    recorded = (
        mode.grad
        and self._array.dtype.kind == "f"
        and (requires_grad(self) or requires_grad(value))
    )
    chain, indices = parse(key, self._array.shape)
    if recorded:
        permit(self, chain)
    part = self._array
    for op, args in chain:
        part = op.kernel(part, *args)
    if indices:
        _set_indices(self, part, chain, indices, value, recorded)
        return
    value = _trimmed(value, part.shape)
    refuse_overlap(part)
    inner = copy.function(wrap(part), value)._edge if recorded and requires_grad(value) else None
    part[...] = value._array
    whole = part.size == self._array.size
    name = "tinynet::autograd::CopySlices" if recorded and whole else None
    wrote(self, "__setitem__", name, [value._array])
    if recorded:
        base, before = self, ()
        if self._view is not None:
            base, before = self._view.base, self._view.steps()
        rebase_part(base, (*before, *chain), None if inner is None else inner[0], here())


def _set_indices(
    self: Tensor, part: Array, chain: Any, indices: Indices, value: Tensor, recorded: bool
) -> None:
    if not chain:
        run_inplace(
            index_set, self, (value, indices, False), {}, what="__setitem__", permitted=True
        )
        return
    inner = index_set.function(wrap(part), value, indices, False)
    part[...] = inner._array
    wrote(self, "__setitem__", None, [value._array])
    if recorded:
        asking = wrap(part).requires_grad_()  # so that a node is made for it
        node = index_set.function(asking, value, indices, False)._edge[0]
        base, before = self, ()
        if self._view is not None:
            base, before = self._view.base, self._view.steps()
        rebase_part(base, (*before, *chain), node, here())


def _trimmed(value: Tensor, target: tuple[int, ...]) -> Tensor:
    """Drop leading dimensions of length 1; refuse what does not broadcast to ``target``."""
    source = value._array.shape
    extra = len(source) - len(target)
    if extra > 0 and math.prod(source[:extra]) == 1:
        value = shape.reshape(value, source[extra:])
        source = source[extra:]
    for back in range(1, len(source) + 1):
        n = target[-back] if back <= len(target) else None
        if n is None or (source[-back] != 1 and source[-back] != n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size "
                f"({source[-back]}) at non-singleton dimension {len(target) - back}.  Target "
                f"sizes: {list(target)}.  Tensor sizes: {list(source)}"
                if n is not None
                else f"expand(tinynet.{value.dtype.tensor_name}{{{list(source)}}}, "
                f"size={list(target)}): the number of sizes provided ({len(target)}) must be "
                f"greater or equal to the number of dimensions in the tensor ({len(source)})"
            )
    return value


method(getitem, "__getitem__")
method(setitem, "__setitem__")


@public
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Write the values of another tensor (broadcast, cast) to this one and return it.

    Args:
        src: what is written; its gradient is that of this tensor.

    Raises:
        RuntimeError: the shapes do not broadcast; the tensor is a leaf that requires grad.

    Example:
        >>> tn.zeros(2).copy_(tn.tensor([1, 2]))
        tensor([1., 2.])
    """
    if not isinstance(src, Tensor):
        raise errors.must_be_tensor("copy_", "other", 1, src)
    return run_inplace(copy, self, (src,), {}, what="copy_")
