"""Parts of a tensor as views: narrow, split, chunk, diagonal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tinynet.core.declaration.operation import public
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.shaping import diagonals, views
from tinynet.ops.shaping.views import axis_of


@public(checks=True)
def narrow(self: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """Return a view of ``length`` slices of a dimension, beginning at ``start``.

    ``start`` may be a 0-d tensor of an integer dtype.

    Example:
        >>> tn.arange(5).narrow(0, 1, 3)
        tensor([1, 2, 3])
    """
    if isinstance(start, Tensor):
        if start._array.ndim or start._array.dtype.kind not in "iu":
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = int(start)
    if self._array.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    axis = axis_of(dim, self._array.ndim)
    n = self._array.shape[axis]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        )
    start = start + n if start < 0 else start
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return views.cut.function(self, axis, slice(start, start + length))


@public(aliases=("unsafe_split",), checks=True)
def split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Split into views of equal size (the last may be smaller) or of the given sizes.

    Example:
        >>> [p.tolist() for p in tn.arange(5).split(2)]
        [[0, 1], [2, 3], [4]]
    """
    n = _length(self, "split", dim)
    axis = axis_of(dim, self._array.ndim)
    if isinstance(split_size, int):
        if split_size < 0:
            raise RuntimeError(
                f"split expects split_size be non-negative, but got split_size={split_size}"
            )
        if split_size == 0 and n:
            raise RuntimeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
            )
        starts = [*range(0, n, split_size or 1), n] if n else [0, 0]
        return views.split_at.function(self, tuple(starts), axis)
    if any(size < 0 for size in split_size):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_size)}"
        )
    if sum(split_size) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={list(split_size)}"
        )
    starts = [0, *itertools.accumulate(split_size)]
    return views.split_in_sizes.function(self, tuple(starts), axis)


def _length(t: Tensor, name: str, dim: int) -> int:
    if t._array.ndim == 0:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    return int(t._array.shape[axis_of(dim, t._array.ndim)])


@public(aliases=("unsafe_chunk",), checks=True)
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split into at most ``chunks`` views of equal size (the last may be smaller).

    Example:
        >>> tn.arange(5).chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """
    _length(self, "chunk", dim)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = _length(self, "chunk", dim)
    if n == 0:
        return split(self, [0] * chunks, dim)
    return split(self, -(-n // chunks), dim)


@public(checks=True)
def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a view of a diagonal.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).diagonal()
        tensor([1, 4])
    """
    n = self._array.ndim
    first, second = axis_of(dim1, n), axis_of(dim2, n)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diagonals.diagonal_view.function(self, offset, first, second)
