"""Nonzero elements, unique elements, and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core import layouts
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced
from tinynet.dtypes import Array
from tinynet.ops.arguments import (
    EXPECTED,
    name_of,
    no_derivative,
    refuse_kinds,
    refuse_others,
    same_dtype,
)
from tinynet.ops.reduction.sums import Dims, axes_of
from tinynet.ops.shaping.views import axis_of

# ---- nonzero ------------------------------------------------------------------------------------


@composite(
    out=same_dtype(
        "{name}: Expected out tensor to have scalar type {result} but got scalar type{out}"
    ),
    checks=True,
)
def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of the nonzero elements, as rows or as one tensor per dimension.

    Takes any shape and dtype.

    Example:
        >>> tn.tensor([[0, 1], [2, 0]]).nonzero()
        tensor([[0, 1],
                [1, 0]])
    """
    found = np.stack(np.nonzero(np.atleast_1d(self._array)))  # a row for each dimension
    if as_tuple:
        return tuple(map(wrap, found))
    if self._array.ndim == 0:
        return wrap(np.zeros((len(found[0]), 0), np.int64))
    return wrap(found.T)


@composite(out=True, checks=True)
def nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Return the indices of the first ``size`` nonzero elements as rows.

    Args:
        size: the number of rows.
        fill_value: fills the remaining rows.

    Raises:
        RuntimeError: ``size`` is negative.

    Example:
        >>> tn.nonzero_static(tn.tensor([0, 3, 5]), size=3)
        tensor([[ 1],
                [ 2],
                [-1]])
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = np.argwhere(self._array)[:size]
    rows = np.full((size, self._array.ndim), fill_value, np.int64)
    rows[: len(found)] = found
    return wrap(rows)


@composite(checks=True)
def argwhere(self: Tensor) -> Tensor:
    """Return the indices of the nonzero elements as rows.

    Takes any shape and dtype.

    Example:
        >>> tn.argwhere(tn.tensor([0, 3, 5]))
        tensor([[1],
                [2]])
    """
    return nonzero(self)


@composite(method=False)
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Convert positions in a flattened tensor to indices along each dimension of a shape.

    Raises:
        TypeError: the indices are not integers.

    Example:
        >>> tn.unravel_index(tn.tensor([3, 5]), (2, 3))
        (tensor([1, 1]), tensor([0, 2]))
    """
    refuse_others("unravel_index", indices=indices)
    if indices._array.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    found: list[Array] = []
    rest = indices._array.astype(np.int64)
    for n in reversed(sizes):
        found.insert(0, rest % n)
        rest = rest // n
    if not found:
        return ()
    whole = layouts.iterated(np.stack(found, -1), indices._array[..., None])
    return tuple(wrap(whole[..., i]) for i in range(len(sizes)))


# ---- counts -------------------------------------------------------------------------------------


@operation(public=True, complex="given")
def count_nonzero(self: Array, /, dim: Dims = None) -> Array:
    """Count the nonzero elements over the given dimensions; all by default.

    Example:
        >>> tn.tensor([[0, 1], [2, 3]]).count_nonzero(dim=0)
        tensor([1, 2])
    """
    return np.asarray(np.count_nonzero(self, axes_of(dim, self.ndim, "count_nonzero")), np.int64)


_bincount = errors.allocating(np.bincount)


@composite(checks=True)
def bincount(self: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count the occurrences of 0, 1, 2, ... in a vector of integers.

    Args:
        weights: the weight of each occurrence; the sums are floating-point.
        minlength: the minimum number of counts.

    Raises:
        RuntimeError: not a vector, negative numbers, or weights of another shape.

    Example:
        >>> tn.bincount(tn.tensor([1, 1, 3]))
        tensor([0, 2, 0, 1])
    """
    numbers = self._array
    refuse_kinds("bincount", "fb", numbers)
    if numbers.ndim != 1 or (numbers.size and numbers.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is None:
        return wrap(_bincount(numbers.astype(np.int64), minlength=minlength))
    if weights._array.shape != numbers.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    found = _bincount(numbers.astype(np.int64), weights._array, minlength)
    single = weights._array.dtype == np.float32
    return wrap(found.astype(np.float32) if single else found)


# ---- unique -------------------------------------------------------------------------------------


def _chosen(name: str, node: str) -> Any:
    """Declare an operation that returns elements chosen from a tensor; it has no derivative."""

    def chosen(self: Array, /, values: Array) -> Array:
        """Return the values that were found in ``self``."""
        return values

    chosen.__name__ = f"{name}_values"
    declare = operation(node=node, order="")
    return declare(chosen).grad(self=no_derivative(name)).function


_unique2 = _chosen("_unique2", "Unique2Backward0")
_unique_dim = _chosen("unique_dim", "UniqueDimBackward0")
_consecutive = _chosen("unique_consecutive", "UniqueConsecutiveBackward0")


def _results(values: Tensor, inverse: Array | None, counts: Array | None) -> Any:
    further = [wrap(a) for a in (inverse, counts) if a is not None]
    return (values, *further) if further else values


def _slices(name: str, self: Tensor, dim: int) -> tuple[Array, int]:
    """Return the slices along a dimension as rows, and the axis."""
    array = self._array
    axis = axis_of(dim, array.ndim)
    if array.size == 0 and any(n == 0 for d, n in enumerate(array.shape) if d != axis):
        raise RuntimeError(
            f"There are 0 sized dimensions, and they aren't selected, so {name} cannot be applied"
        )
    rows = np.moveaxis(np.atleast_1d(array), axis, 0)
    return rows.reshape(len(rows), -1 if rows.size else math.prod(rows.shape[1:])), axis


def _kept(array: Array, chosen: Array, axis: int) -> Array:
    """Return slices along an axis in PyTorch's order: that axis is the slowest."""
    rows = np.ascontiguousarray(np.moveaxis(array, axis, 0)[chosen])
    return np.moveaxis(rows, 0, axis)


def _starts(rows: Array) -> Array:
    """Return True where a row differs from the one before it."""
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(1)
    return new


@composite(checks=True)
def unique(
    self: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the unique elements, sorted, or the unique slices along a dimension.

    Args:
        sorted: accepted for compatibility; the result is always sorted.
        return_inverse: also return the position of each element in the result.
        return_counts: also return the number of occurrences.
        dim: compare slices along this dimension instead of elements.

    Example:
        >>> tn.unique(tn.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
    """
    array = self._array
    if dim is None:
        rows, axis = array.reshape(-1, 1), 0
        order = np.argsort(rows[:, 0], kind="stable")
    else:
        rows, axis = _slices("unique", self, dim)
        order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    new = _starts(rows[order])
    chosen = order[new]
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.cumsum(new) - 1
    values = array.reshape(-1)[chosen] if dim is None else _kept(array, chosen, axis)
    return _results(
        (_unique2 if dim is None else _unique_dim)(self, values),
        (inverse.reshape(array.shape) if dim is None else inverse) if return_inverse else None,
        np.diff(np.append(np.flatnonzero(new), len(new))) if return_counts else None,
    )


@composite(checks=True)
def unique_consecutive(
    self: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Replace runs of equal elements, or of equal slices along a dimension, by one of them.

    See ``unique`` for the arguments.

    Example:
        >>> tn.unique_consecutive(tn.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
    """
    array = self._array
    rows, axis = (array.reshape(-1, 1), 0) if dim is None else _slices("unique", self, dim)
    new = _starts(rows)
    inverse = np.cumsum(new) - 1
    values = array.reshape(-1)[new] if dim is None else _kept(array, new, axis)
    return _results(
        _consecutive(self, values),
        (inverse.reshape(array.shape) if dim is None else inverse) if return_inverse else None,
        np.diff(np.append(np.flatnonzero(new), len(new))) if return_counts else None,
    )


# ---- membership ---------------------------------------------------------------------------------


@composite(
    method=False, out=EXPECTED, names={"element": "elements", "test_element": "test_elements"}
)
def isin(
    elements: Tensor | float,
    test_elements: Tensor | float,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Return True for the elements that are in ``test_elements``; either may be a number.

    Args:
        elements: the elements to look up.
        test_elements: the elements to compare with.
        assume_unique: whether both are free of duplicates; accepted for compatibility.
        invert: return False for these elements and True for the others.

    Example:
        >>> tn.isin(tn.tensor([1, 2, 3]), tn.tensor([3, 1]))
        tensor([ True, False,  True])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin() received an invalid combination of arguments: two numbers")
    inside, among = (
        x._array if isinstance(x, Tensor) else np.asarray(x) for x in (elements, test_elements)
    )
    for array in (inside, among):
        if array.dtype.kind == "b":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {name_of(array)}")
    return wrap(run_traced(_are_in, inside, among, invert))


def _are_in(inside: Array, among: Array, invert: bool) -> Array:
    return np.asarray(np.isin(inside, among, invert=invert))
