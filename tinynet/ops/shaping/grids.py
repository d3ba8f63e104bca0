"""Grids, broadcasting of tensors to each other, and combinations of elements."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Size, Tensor, wrap
from tinynet.ops.arguments import refuse_others
from tinynet.ops.indexing.index_select import select_slices
from tinynet.ops.pointwise.powers import power
from tinynet.ops.shaping import reshaping
from tinynet.ops.shaping.copies import flip_dims
from tinynet.ops.shaping.joining import cat, stack
from tinynet.ops.shaping.stacking import nonempty
from tinynet.ops.shaping.views import expand, reshape, unsqueeze

# ---- grids --------------------------------------------------------------------------------------


@composite(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return coordinate grids: one tensor per vector, all of the same shape.

    Args:
        tensors: vectors or 0-d tensors, as arguments or in one sequence.
        indexing: ``"ij"``: the first vector varies along the first dimension; ``"xy"``: along the
            second.

    Raises:
        RuntimeError: no tensors, a tensor with two or more dimensions, or an unknown ``indexing``.

    Example:
        >>> tn.meshgrid(tn.tensor([1, 2]), tn.tensor([3, 4, 5]), indexing="ij")[1]
        tensor([[3, 4, 5],
                [3, 4, 5]])
    """
    given = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    vectors = nonempty("meshgrid", list(given))
    if indexing is None:
        warnings.warn(
            "tinynet.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument.",
            UserWarning,
            stacklevel=2,
        )
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'tinynet.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for t in vectors:
        if t._array.ndim > 1:
            raise RuntimeError(
                "tinynet.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{t.tolist()}"
            )
        if t._array.dtype != vectors[0]._array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    swapped = indexing == "xy" and len(vectors) > 1
    if swapped:
        vectors[:2] = vectors[1::-1]
    sizes = tuple(t._array.size for t in vectors)
    grids = []
    for i, t in enumerate(vectors):
        line = reshaping.reshape(t, (1,) * i + (-1,) + (1,) * (len(sizes) - i - 1))
        grids.append(reshaping.expand(line, sizes))
    if swapped:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@composite(method=False)
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Broadcast tensors to each other; return views of the common shape.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> [t.shape for t in tn.broadcast_tensors(tn.ones(3), tn.ones(2, 1))]
        [tinynet.Size([2, 3]), tinynet.Size([2, 3])]
    """
    given = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    refuse_others("broadcast_tensors", **{f"tensors[{i}]": t for i, t in enumerate(given)})
    common = _common([t._array.shape for t in given])
    return tuple(t if t._array.shape == common else reshaping.expand(t, common) for t in given)


def _common(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the common shape; raise RuntimeError for the first pair that does not broadcast."""
    found: tuple[int, ...] = ()
    for sizes in shapes:
        count = max(len(found), len(sizes))
        a, b = (1,) * (count - len(found)) + found, (1,) * (count - len(sizes)) + sizes
        for d in reversed(range(count)):
            if a[d] != b[d] and 1 not in (a[d], b[d]):
                raise RuntimeError(
                    f"The size of tensor a ({a[d]}) must match the size of tensor b ({b[d]}) at "
                    f"non-singleton dimension {d}"
                )
        found = tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))
    return found


@composite(method=False)
def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """Return the shape that tensors of these shapes broadcast to.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> tn.broadcast_shapes((2, 1), (3,))
        tinynet.Size([2, 3])
    """
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    found = [1] * max((len(s) for s in given), default=0)
    for i, sizes in enumerate(given):
        for back, n in enumerate(reversed(sizes), 1):
            if n == 1 or n == found[-back]:
                continue
            if found[-back] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at -{back}! Mismatching "
                    f"argument at index {i} had {sizes}; but expected shape should be "
                    f"broadcastable to {found}"
                )
            found[-back] = n
    return Size(found)


# ---- combinations -------------------------------------------------------------------------------


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
