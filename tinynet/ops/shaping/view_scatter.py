"""Copies in which a view is replaced: ``select_scatter`` and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.core import layouts
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, refuse_others
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.shaping import diagonals, views
from tinynet.ops.shaping.flipping import clone
from tinynet.ops.shaping.strided import as_strided
from tinynet.ops.shaping.views import axis_of


def _replaced(self: Array, src: Array, index: Any) -> Array:
    """Return a copy with ``src`` in the part given by ``index``, a key or a function."""
    whole = self.copy()
    part = index(whole) if callable(index) else whole[index]
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}"
        )
    part[...] = src
    return whole


@operation(public=True, complex=True, order="in_memory")
def select_scatter(self: Array, src: Array, /, dim: int, index: int) -> Array:
    """Return a copy with one slice replaced by ``src``.

    Example:
        >>> tn.zeros(2, 2).select_scatter(tn.ones(2), 0, 1)
        tensor([[0., 0.],
                [1., 1.]])
    """
    return _replaced(self, src, lambda whole: views.select.kernel(whole, dim, index))


select_scatter.grad(
    self=lambda g, dim, index: select_scatter(
        g, zeros_for(views.select(g, dim, index)), dim, index
    ),
    src=lambda g, dim, index: views.select(g, dim, index),
)


@operation(public=True, out=EXPECTED, complex=True, order="in_memory")
def slice_scatter(
    self: Array,
    src: Array,
    /,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """Return a copy with a range of one dimension replaced by ``src``.

    Args:
        src: the replacement: of the tensor's shape, except for the length of the range.
        dim: the dimension of the range.
        start, end, step: the range, as in ``x[start:end:step]``.

    Example:
        >>> tn.zeros(4).slice_scatter(tn.ones(2), 0, 1, 3)
        tensor([0., 1., 1., 0.])
    """
    axis = axis_of(dim, self.ndim)
    return _replaced(self, src, (slice(None),) * axis + (slice(start, end, step),))


def _range(g: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    return views.cut(g, axis_of(dim, len(g.shape)), slice(start, end, step))


slice_scatter.grad(
    self=lambda g, dim, start, end, step: slice_scatter(
        g, zeros_for(_range(g, dim, start, end, step)), dim, start, end, step
    ),
    src=lambda g, dim, start, end, step: _range(g, dim, start, end, step),
)


@operation(public=True, complex=True, order="in_memory")
def diagonal_scatter(
    self: Array, src: Array, /, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    """Return a copy with a diagonal replaced by ``src``.

    Example:
        >>> tn.zeros(2, 2).diagonal_scatter(tn.ones(2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    return _replaced(
        self, src, lambda whole: diagonals.diagonal_view.kernel(whole, offset, dim1, dim2)
    )


diagonal_scatter.grad(
    self=lambda g, offset, dim1, dim2: diagonal_scatter(
        g, zeros_for(diagonals.diagonal(g, offset, dim1, dim2)), offset, dim1, dim2
    ),
    src=lambda g, offset, dim1, dim2: diagonals.diagonal(g, offset, dim1, dim2),
)


_in_memory = traced(layouts.in_memory)


@composite(out=True)
def as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a copy with the elements of ``as_strided`` replaced by ``src``.

    Args:
        src: the replacement, of shape ``size``.
        size, stride, storage_offset: as in ``as_strided``.

    Raises:
        RuntimeError: ``src`` has another shape, or an element would lie outside the memory.

    Example:
        >>> tn.zeros(4).as_strided_scatter(tn.ones(2), (2,), (2,), 1)
        tensor([0., 1., 0., 1.])
    """
    refuse_others("as_strided_scatter", self=self, src=src)
    whole = clone.function(self)
    whole._array = _in_memory(whole._array, self._array)
    part = as_strided(whole, size, stride, storage_offset)
    if part._array.shape != src._array.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(part._array.shape)}"
        )
    part.copy_(src)
    return whole
