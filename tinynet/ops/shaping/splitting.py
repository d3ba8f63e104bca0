"""Parts of a tensor as views: narrow, split, chunk, diagonal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.arguments import also_named, is_whole, name_of, same_dtype, whole
from tinynet.ops.shaping import diagonals, views
from tinynet.ops.shaping.views import SEVERAL, axis_of, copied

Sections = int | Sequence[int] | Tensor

SECTIONS = dict.fromkeys(
    ("indices", "sections", "tensor_indices_or_sections"), "indices_or_sections"
)


@copied(
    "tn.narrow_copy(x, 1, 0, 1)",
    [[1.0]],
    out=same_dtype("Expected self.dtype() == output.dtype() to be true, but got false."),
    method=True,
)
@composite(checks=True)
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


@copied("tn.split_copy(x, 1)[0]", [[1.0, 2.0]], out=True)
@composite(
    aliases=("unsafe_split",),
    checks=True,
    names={"tensor": "input", "split_size_or_sections": "split_size"},
)
def split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Split into views of equal size (the last may be smaller) or of the given sizes.

    Example:
        >>> [p.tolist() for p in tn.arange(5).split(2)]
        [[0, 1], [2, 3], [4]]
    """
    axis, n = _dimension(self, "split", dim)
    given: Any = split_size
    if is_whole(given):
        size = int(given)
        if size < 0:
            raise RuntimeError(
                f"split expects split_size be non-negative, but got split_size={size}"
            )
        if size == 0 and n:
            raise RuntimeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
            )
        return views.split_at.function(self, (*range(0, n, size), n) if n else (0, 0), axis)
    sizes: list[int] = list(given)
    if any(size < 0 for size in sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={sizes}"
        )
    if sum(sizes) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={sizes}"
        )
    return views.split_in_sizes.function(self, (0, *itertools.accumulate(sizes)), axis)


def _dimension(t: Tensor, name: str, dim: int) -> tuple[int, int]:
    """Return a dimension, counted from the front, and its length."""
    shape = t._array.shape
    if not shape:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    axis = axis_of(dim, len(shape))
    return axis, shape[axis]


@composite(aliases=("unsafe_chunk",), checks=True)
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split into at most ``chunks`` views of equal size (the last may be smaller).

    Example:
        >>> tn.arange(5).chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """
    axis, n = _dimension(self, "chunk", dim)
    chunks = whole("chunks", chunks)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if n == 0:
        return split(self, [0] * chunks, dim)
    return views.split_at.function(self, (*range(0, n, -(-n // chunks)), n), axis)


@copied("tn.diagonal_copy(x)", [1.0])
@composite(checks=True)
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


def _cut_at(self: Tensor, places: Sequence[int], axis: int) -> tuple[Tensor, ...]:
    ends: list[int | None] = [0, *places, None]
    return tuple(views.cut.function(self, axis, slice(a, b)) for a, b in itertools.pairwise(ends))


def _as_numbers(sections: Sections) -> int | Sequence[int]:
    if not isinstance(sections, Tensor):
        return sections
    if sections._array.dtype != np.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{name_of(sections._array)}"
        )
    if sections._array.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {sections._array.ndim} dims"
        )
    found: int | list[int] = sections.tolist()
    return found


@composite(checks=True, names=SECTIONS)
def tensor_split(self: Tensor, indices_or_sections: Sections, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a dimension into views of nearly equal size, or at the given indices.

    Example:
        >>> [p.tolist() for p in tn.arange(5).tensor_split(2)]
        [[0, 1, 2], [3, 4]]
        >>> [p.tolist() for p in tn.arange(5).tensor_split((1, 3))]
        [[0], [1, 2], [3, 4]]
    """
    if self._array.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    axis = axis_of(dim, self._array.ndim)
    sections = _as_numbers(indices_or_sections)
    if not isinstance(sections, (int, np.integer)):
        return _cut_at(self, list(sections), axis)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    size, longer = divmod(self._array.shape[axis], sections)
    lengths = [size + (i < longer) for i in range(sections)]
    return _cut_at(self, list(itertools.accumulate(lengths))[:-1], axis)


def _equal_parts(name: str, least: int, axis: int) -> Any:
    @also_named(**SECTIONS)
    def function(self: Tensor, indices_or_sections: Sections) -> tuple[Tensor, ...]:
        n = self._array.ndim
        if n < least:
            raise RuntimeError(
                f"tinynet.{name} requires a tensor with at least {least} dimension, but got a "
                f"tensor with {n} dimensions!"
            )
        where = 0 if name == "hsplit" and n == 1 else axis
        size = self._array.shape[where]
        if isinstance(indices_or_sections, (int, np.integer)) and (
            indices_or_sections == 0 or size % indices_or_sections
        ):
            raise RuntimeError(
                f"tinynet.{name} attempted to split along dimension {where}, but the size of the "
                f"dimension {size} is not divisible by the split_size {indices_or_sections}!"
            )
        return tensor_split(self, indices_or_sections, where)

    function.__name__ = function.__qualname__ = name
    half = ", ".join(str(2 if dim == axis else 4) for dim in range(3))
    function.__doc__ = f"""Split into views of equal size, or at the given indices.

    The tensor is split along dimension {axis}{" (0 of a vector)" if name == "hsplit" else ""}.

    Raises:
        RuntimeError: the size is not divisible.

    Example:
        >>> tn.zeros(4, 4, 4).{name}(2)[0].shape
        tinynet.Size([{half}])
    """
    return composite(function, checks=True)


hsplit = _equal_parts("hsplit", 1, 1)
vsplit = _equal_parts("vsplit", 2, 0)
dsplit = _equal_parts("dsplit", 3, 2)


@copied("tn.split_with_sizes_copy(x, [1])[0]", [[1.0, 2.0]], out=SEVERAL)
@composite(aliases=("unsafe_split_with_sizes",))
def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Split a dimension into views of the given sizes.

    Example:
        >>> tn.arange(5).split_with_sizes([2, 3])
        (tensor([0, 1]), tensor([2, 3, 4]))
    """
    return split(self, list(split_sizes), dim)
