"""Combinations of elements: cartesian_prod, combinations, vander."""

from __future__ import annotations

import itertools

import numpy as np

from tinynet import errors
from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.ops.arguments import refuse_others
from tinynet.ops.indexing.index_select import select_slices
from tinynet.ops.pointwise.powers import power
from tinynet.ops.shaping.flipping import flip_dims
from tinynet.ops.shaping.joining import cat, stack
from tinynet.ops.shaping.views import expand, reshape, unsqueeze


def _vector(t: Tensor) -> None:
    if t._array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._array.shape)}")


@composite(method=False)
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return the Cartesian product of vectors, one combination per row.

    Args:
        tensors: vectors of one dtype; a single one is returned unchanged.

    Raises:
        RuntimeError: not vectors, or their dtypes differ.

    Example:
        >>> tn.cartesian_prod(tn.tensor([1, 2]), tn.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    for t in tensors:
        refuse_others("cartesian_prod", tensors=t)
        _vector(t)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len({t._array.dtype for t in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if len(tensors) == 1:
        return tensors[0]
    grid = tuple(t._array.size for t in tensors)
    columns = []
    for i, t in enumerate(tensors):
        shape = tuple(n if i == j else 1 for j, n in enumerate(grid))
        columns.append(reshape(expand(reshape(t, shape), grid), (-1,)))
    return stack.function(columns, 1)


@composite(method=False, checks=True)
@errors.allocating
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all combinations of ``r`` elements of a vector, one per row.

    Args:
        input: a vector.
        r: the number of elements to choose.
        with_replacement: whether an element may be chosen more than once.

    Raises:
        RuntimeError: not a vector, or ``r`` is negative.

    Example:
        >>> tn.combinations(tn.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """
    _vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.empty(0, input._array.dtype))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input._array.size), r)), np.int64).reshape(-1, r)
    columns = [select_slices.function(input, wrap(column), 0) for column in rows.T]
    return stack.function(columns, 1)


def powers_of(x: Tensor, count: int) -> Tensor:
    """Return the powers 0 to ``count`` - 1 of each element, along a new last dimension."""
    kind = x._array.dtype
    ones = wrap(np.ones((*x._array.shape, min(count, 1)), kind))
    if count < 2:
        return ones
    exponents = wrap(np.arange(1, count).astype(kind))
    return cat.function([ones, power.function(unsqueeze.function(x, -1), exponents)], -1)


@composite(method=False)
@errors.allocating
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the Vandermonde matrix of a vector, whose columns are powers of its elements.

    Args:
        x: a vector of length n.
        N: the number of columns; n by default.
        increasing: order the powers from 0 upwards instead of downwards to 0.

    Raises:
        RuntimeError: not a vector, or ``N`` is negative.

    Example:
        >>> tn.vander(tn.tensor([1, 2, 3]), increasing=True)
        tensor([[1, 1, 1],
                [1, 2, 4],
                [1, 3, 9]])
    """
    refuse_others("vander", x=x)
    if x._array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    powers = powers_of(x, x._array.size if N is None else N)
    return powers if increasing else flip_dims.function(powers, (1,))
