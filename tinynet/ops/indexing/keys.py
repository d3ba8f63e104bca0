"""Parsing of index keys, ``x[key]``: the parts that make views and those that copy.

Integers, slices, ``...`` and None make views; boolean masks and integer tensors copy. Unlike in
numpy, an integer next to a tensor index is a view operation, applied first.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.arrays import converted, copied
from tinynet.core.callsite import warn
from tinynet.core.graph.views import Chain
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.errors import with_fix
from tinynet.ops.arguments import refuse_other_elements, to_long
from tinynet.ops.shaping import views

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
                raise _out_of_bounds(item, len(dims) - len(left) - 1, n)
            chain.append((views.select, (axis, item)))
        else:
            indices.append(item)
            consumed = _consumed(item, left, dims, axis)
            axis += consumed
            del left[:consumed]
    while indices and indices[-1] is None:
        indices.pop()
    return tuple(chain), tuple(indices)


def arrays(indices: Sequence[Tensor], dims: tuple[int, ...]) -> Indices:
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


def _out_of_bounds(number: int, dim: int, n: int) -> IndexError:
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
