"""Joining tensors: cat and stack."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import layouts
from tinynet.core.arrays import converted
from tinynet.core.declaration.operation import sequence
from tinynet.core.declaration.out_argument import OutRules
from tinynet.core.tensors.tensor import Tensor, public_function
from tinynet.dtypes import Array
from tinynet.ops.arguments import refuse_other_elements


def _arrays(name: str) -> Any:
    def arrays(tensors: Sequence[Tensor]) -> tuple[list[Array], bool]:
        """Return the arrays of tensors in one dtype, and whether one may require grad."""
        if not isinstance(tensors, (list, tuple)):
            given = type(tensors).__name__
            raise TypeError(
                f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {given}"
            )
        if not tensors:
            word = "non-empty list of Tensors" if name == "cat" else "a non-empty TensorList"
            raise (ValueError if name == "cat" else RuntimeError)(
                f"tinynet.cat(): expected a {word}" if name == "cat" else f"stack expects {word}"
            )
        found, some, kinds = [], False, set()
        try:
            for t in tensors:
                found.append(t._array)
                some = some or t._requires_grad
                kinds.add(t._array.dtype)
        except AttributeError:
            refuse_other_elements(0, tensors)
            raise
        if len(kinds) > 1:
            kind = dtypes.result_type(found)
            found = [converted(a, kind) for a in found]
        return found, some

    return arrays


def _axis(dim: int, ndim: int) -> int:
    if not -ndim <= dim < ndim:
        raise errors.dim_range(dim, ndim)
    return dim % ndim


def _fitting(tensors: list[Array], dim: int) -> tuple[list[Array], int]:
    """Return the arrays to join, without empty vectors, and the axis; refuse what does not fit."""
    for i, a in enumerate(tensors):
        if a.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    parts = [a for a in tensors if a.shape != (0,)] or tensors[:1]
    ndim = parts[0].ndim
    axis = _axis(dim, ndim)
    for i, a in enumerate(tensors):
        if a.shape == (0,):
            continue
        if a.ndim != ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {ndim} and {a.ndim}"
            )
        for d in range(ndim):
            if d != axis and a.shape[d] != parts[0].shape[d]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size "
                    f"{parts[0].shape[d]} but got size {a.shape[d]} for tensor number {i} in the "
                    "list."
                )
    return parts, axis


_APART = OutRules(apart=True)


@sequence(order="", autocast="widest", aliases=("concat", "concatenate"), out=_APART)
def cat(tensors: list[Array], /, dim: int = 0) -> Array:
    """Join tensors along an existing dimension.

    Example:
        >>> tn.cat([tn.ones(2), tn.zeros(1)])
        tensor([1., 1., 0.])
    """
    dim = operator.index(dim)
    try:
        joined = np.concatenate(tensors, dim)
    except ValueError:  # they do not fit, or some are empty vectors
        joined = np.concatenate(*_fitting(tensors, dim))
    return layouts.of_parts(joined, tensors)


def _parts(g: Any, shapes: tuple[tuple[int, ...], ...], dim: int) -> tuple[Any, ...]:
    ndim = max(len(s) for s in shapes)
    axis, start, parts = dim % ndim, 0, []
    for shape in shapes:
        if shape == (0,) and ndim > 1:
            parts.append(g[(slice(0, 0),) * ndim].reshape(0))
            continue
        parts.append(g[(slice(None),) * axis + (slice(start, start + shape[axis]),)])
        start += shape[axis]
    return tuple(parts)


cat.grad(tensors=lambda g, tensors_shapes, dim: _parts(g, tensors_shapes, dim))


@sequence(order="", autocast="widest", out=_APART)
def stack(tensors: list[Array], /, dim: int = 0) -> Array:
    """Join tensors along a new dimension.

    Example:
        >>> tn.stack([tn.tensor(1.0), tn.tensor(2.0)])
        tensor([1., 2.])
    """
    for i, a in enumerate(tensors):
        if a.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} "
                f"at entry 0 and {list(a.shape)} at entry {i}"
            )
    axis, shape = _axis(dim, tensors[0].ndim + 1), tensors[0].shape
    if axis == 0 and shape and all(a.flags.c_contiguous for a in tensors):
        return np.concatenate(tensors).reshape(len(tensors), *shape)  # numpy's stack takes longer
    joined = np.stack(tensors, axis)
    return layouts.of_parts(joined, [np.expand_dims(a, axis) for a in tensors])


def _layers(g: Any, shapes: tuple[tuple[int, ...], ...], dim: int) -> tuple[Any, ...]:
    axis = dim % (len(shapes[0]) + 1)
    return tuple(g[(slice(None),) * axis + (i, ...)] for i in range(len(shapes)))


stack.grad(tensors=lambda g, tensors_shapes, dim: _layers(g, tensors_shapes, dim))


for _op in (cat, stack):
    _op.function.arrays = _arrays(_op.name)
    public_function(_op.function)

# ---- adjacent slices ----------------------------------------------------------------------------


def _around(parts: Sequence[Any], axis: int) -> Any:
    """Return the array that these slices make up as a view, or None."""
    whole = parts[0].base if parts[0].__class__ is np.ndarray else None
    if whole.__class__ is not np.ndarray or any(p.base is not whole for p in parts):
        return None
    before: tuple[Any, ...] = (slice(None),) * axis
    if whole.shape != (*parts[0].shape[:axis], len(parts), *parts[0].shape[axis:]):
        return None
    pairs = ((p, whole[(*before, i, ...)]) for i, p in enumerate(parts))
    same = all(p.__array_interface__ == q.__array_interface__ for p, q in pairs)
    return whole[...] if same else None


def together(parts: Sequence[Any], axis: int) -> Any:
    """Stack tensors; without a copy if they are slices of one array that a kernel has written."""
    whole = _around(parts, axis)
    return stack(parts, axis) if whole is None else whole
