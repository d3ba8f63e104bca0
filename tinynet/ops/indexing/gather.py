"""gather, scatter and their variants: elements along a dimension by index."""

from __future__ import annotations

from operator import setitem
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.graph.views import requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array
from tinynet.kernels.indexing import add_rows, positions, take_along
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import (
    EXPECTED,
    EXPECTED_TEXT,
    name_of,
    refuse_others,
    refuse_outside,
    same_dtype,
    to_long,
)
from tinynet.ops.shaping import reshaping
from tinynet.ops.shaping.views import axis_of, embed, reshape

# ---- shared helpers -----------------------------------------------------------------------------


def _whole_rows(index: Array, shape: tuple[int, ...], axis: int) -> Array | None:
    """Return a vector of the same indices if each, expanded, addresses a whole slice."""
    if axis or index.ndim < 2 or index.shape[1:] != shape[1:]:
        return None
    wide = any(step for step, n in zip(index.strides[1:], shape[1:], strict=True) if n > 1)
    return None if wide else index.reshape(len(index), -1)[:, 0]


def _checked(
    name: str, self: Array, index: Array, dim: int, src: Array | None
) -> tuple[Array, int]:
    """Return the index, at least 1-d, and the axis; refuse unsuitable ones."""
    if index.size and (index.dtype.kind != "i" or index.dtype.itemsize < 4):
        sentence = f"{name}(): Expected dtype int32/int64 for index"
        raise RuntimeError(errors.with_fix(sentence, to_long("index")))
    axis = axis_of(dim, self.ndim)
    whole, given = self.shape or (1,), index.shape or (1,)
    if len(whole) != len(given):
        what = "input" if name == "gather" else "self"
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {what} tensor")
    source = given if src is None else src.shape or (1,)
    if len(source) != len(given):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for d, n in enumerate(given):
        if name == "gather" and d != axis and n > whole[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no "
                f"larger than self {list(self.shape)} apart from dimension {axis}"
            )
        if (d != axis and n > whole[d]) or n > source[d]:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} "
                f"apart from dimension {axis} and to be no larger size than src {list(source)}"
            )
    distinct = index
    if 0 in index.strides:  # expanded
        distinct = index[tuple(slice(None) if step else slice(1) for step in index.strides)]
    refuse_outside(distinct, whole[axis], axis)
    return index.reshape(given), axis


def number_as(value: Any, kind: np.dtype[Any]) -> Any:
    """Convert a number, or an array without dimensions, to a dtype; integer dtypes truncate it."""
    if isinstance(value, np.ndarray) and value.ndim:
        return value.astype(kind)
    value = dtypes.representable(value, kind)
    return kind.type(value) if kind.char in "fd" else np.asarray(value).astype(kind)


# ---- gather and scatter -------------------------------------------------------------------------


@operation(node="GatherBackward0", complex=True)
def gather_along(self: Array, index: Array, /, dim: int) -> Array:
    """Return the elements at ``index`` along a dimension."""
    if index.size == 0:
        return np.empty(index.shape, self.dtype)
    found, axis = _checked("gather", self, index, dim, None)
    rows = _whole_rows(found, self.shape, axis)
    if rows is not None:
        return self.take(rows, 0, mode="wrap")
    return take_along(self.reshape(self.shape or 1), found, axis).reshape(index.shape)


@operation(node="ScatterAddBackward0", complex=True)
def gather_sum(self: Array, index: Array, /, shape: tuple[int, ...], dim: int) -> Array:
    """Add ``self`` to zeros of ``shape`` at the indices: the derivative of gather."""
    if self.dtype is HALF:
        return in_single(gather_sum, self, index, shape, dim)
    whole = np.zeros(shape, self.dtype)
    _scatter(whole, index, dim, self, _add)
    return whole


gather_along.grad(
    self=lambda g, self, index, self_shape, dim: gather_sum(g, index, self_shape, dim)
)
gather_sum.grad(self=lambda g, index, dim: gather_along(g, index, dim))


@composite(out=same_dtype(EXPECTED_TEXT, apart=True))
def gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return the elements at ``index`` along a dimension.

    Args:
        dim: the dimension.
        index: int64 or int32, with as many dimensions as ``self``; the result has its shape.
        sparse_grad: accepted for compatibility; gradients are always dense.

    Raises:
        RuntimeError: an index is out of range, or a shape does not fit.

    Example:
        >>> tn.gather(tn.tensor([[1, 2], [3, 4]]), 1, tn.tensor([[0, 0], [1, 0]]))
        tensor([[1, 1],
                [4, 3]])
    """
    refuse_others("gather", self=self, index=index)
    return gather_along.function(self, index, dim)


@composite(out=EXPECTED)
def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return the elements at ``indices`` along a dimension; the other dimensions broadcast.

    Args:
        indices: int64, as returned by ``argmax`` and ``argsort``; negative ones count from the end.
        dim: the dimension; None flattens the tensor.

    Example:
        >>> x = tn.tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> x.take_along_dim(x.argmax(1, keepdim=True), 1)
        tensor([[3.],
                [4.]])
    """
    refuse_others("take_along_dim", self=self, indices=indices)
    if indices._array.dtype != np.int64:
        raise RuntimeError(
            f"tinynet.take_along_dim(): dtype of indices should be Long but got "
            f"{name_of(indices._array)}"
        )
    if dim is None:
        return gather_along.function(reshaping.reshape(self, -1), reshaping.reshape(indices, -1), 0)
    a, b = self._array.shape, indices._array.shape
    if len(a) != len(b):
        raise RuntimeError(
            "tinynet.take_along_dim(): input and indices should have the same number of "
            f"dimensions, but got {len(a)} dimensions for input, and {len(b)} dimensions for "
            "indices"
        )
    if not a:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    axis = axis_of(dim, len(a))
    try:
        wide = np.broadcast_shapes((*a[:axis], 1, *a[axis + 1 :]), (*b[:axis], 1, *b[axis + 1 :]))
    except ValueError:
        raise errors.not_broadcastable(a, b) from None
    whole = reshaping.expand(self, (*wide[:axis], a[axis], *wide[axis + 1 :]))
    counted = wrap(_counted(indices._array, a[axis]))
    chosen = reshaping.expand(counted, (*wide[:axis], b[axis], *wide[axis + 1 :]))
    return gather_along.function(whole, chosen, dim)


# A copy, as in PyTorch: indices may be written to before backward.
_counted: Any = traced(lambda indices, n: np.where(indices < 0, indices + n, indices))


def scattered(self: Array, index: Array, dim: int, src: Array | None, write: Any) -> Array:
    """Return a copy, changed by ``write(flat copy, positions, part of src)``."""
    whole = np.array(self, order="C")
    _scatter(whole, index, dim, src, write)
    return whole


def _scatter(whole: Array, index: Array, dim: int, src: Array | None, write: Any) -> None:
    if src is not None and src.dtype != whole.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return
    found, axis = _checked("scatter", whole, index, dim, src)
    part = None if src is None else src.reshape(src.shape or (1,))[tuple(map(slice, found.shape))]
    rows = _whole_rows(found, whole.shape, axis) if write is _add else None
    if rows is not None and part is not None:
        add_rows(whole.reshape(len(whole), -1), rows, part.reshape(len(rows), -1))
    else:
        write(whole.reshape(-1), positions(found, whole.shape or (1,), axis), part)


def _add(whole: Array, at: Array, part: Array) -> None:
    np.add.at(whole, at.ravel(), part.ravel())


@operation(node="ScatterBackward0", complex=True)
def scatter_source(self: Array, index: Array, src: Array, /, dim: int) -> Array:
    """Return a copy with the elements of ``src`` at the indices."""
    return scattered(self, index, dim, src, setitem)


@operation(node="ScatterBackward1", complex=True)
def scatter_number(self: Array, index: Array, /, dim: int, value: float) -> Array:
    """Return a copy with a number at the indices."""
    number = number_as(value, self.dtype)
    return scattered(self, index, dim, None, lambda whole, at, _: whole.__setitem__(at, number))


scatter_source.into = lambda whole, index, src, dim: _scatter(whole, index, dim, src, setitem)
scatter_source.grad(
    self=lambda g, index, dim: scatter_number(g, index, dim, 0),
    src=lambda g, index, src_shape, dim: as_source(gather_along(g, index, dim), src_shape),
)
scatter_number.grad(self=lambda g, index, dim: scatter_number(g, index, dim, 0))


@operation(node="ScatterAddBackward0", complex=True)
def scatter_sum(self: Array, index: Array, src: Array, /, dim: int) -> Array:
    """Return a copy with the elements of ``src`` added at the indices."""
    if self.dtype is HALF and src.dtype is HALF:
        return in_single(scatter_sum, self, index, src, dim)
    return scattered(self, index, dim, src, _add)


scatter_sum.into = lambda whole, index, src, dim: _scatter(whole, index, dim, src, _add)
scatter_sum.grad(
    self=lambda g: g,
    src=lambda g, index, src_shape, dim: as_source(gather_along(g, index, dim), src_shape),
)


def as_source(g: Any, shape: tuple[int, ...]) -> Any:
    """Pad a gradient with zeros where ``src`` is larger than the index."""
    if g.shape == shape:
        return g
    if 0 in g.shape:
        return embed(reshape(g, (0, *shape[1:])), shape, (slice(0, 0),)) if shape else None
    if not shape:
        return reshape(g, ())
    g = reshape(g, tuple(g.shape) or (1,))
    return embed(g, shape, tuple(slice(n) for n in g.shape))


@operation(complex=True)
def scatter_product(self: Array, index: Array, src: Array, /, dim: int) -> Array:
    """Return a copy with the elements at the indices multiplied by those of ``src``."""
    return scattered(
        self,
        index,
        dim,
        src,
        lambda whole, at, part: np.multiply.at(whole, at.ravel(), part.ravel()),
    )


def _meant(
    name: str, self: Tensor, index: Any, src: Any, value: Any, reduce: str | None
) -> tuple[Any, Any]:
    """Return the operation for the arguments of scatter, and its source."""
    given = src if value is None else value
    if given is None or not isinstance(index, Tensor) or isinstance(given, (list, tuple, str)):
        raise TypeError(
            f"{name}() received an invalid combination of arguments. It takes (int dim, Tensor "
            "index, Tensor src) or (int dim, Tensor index, Number value)"
        )
    refuse_others(name, self=self)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if value is not None and isinstance(value, Tensor):
        given = value.item()
    if isinstance(given, Tensor):
        source = given
    elif reduce is None:
        return scatter_number, given
    else:
        source = wrap(arrays.full(index._array.shape, given, self._array.dtype))
    if reduce == "multiply" and mode.grad and (requires_grad(self) or requires_grad(source)):
        raise NotImplementedError(
            "the derivative for 'scatter' with reduce='multiply' is not implemented. "
            "Multiply by a tensor of ones with the factors scattered into it, or use no_grad()."
        )
    return {None: scatter_source, "add": scatter_sum, "multiply": scatter_product}[reduce], source


@composite(out=EXPECTED)
def scatter(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | float | None = None,
    *,
    value: float | None = None,
    reduce: str | None = None,
) -> Tensor:
    """Return a copy with elements written at ``index`` along a dimension.

    Args:
        dim: the dimension.
        index: int64 or int32, with as many dimensions as ``self``.
        src: a tensor of the same dtype, at least as large as ``index``; or a number.
        value: another name of ``src`` for numbers.
        reduce: ``"add"`` or ``"multiply"`` instead of replacing.

    Raises:
        RuntimeError: an index is out of range, or a shape or dtype does not fit.

    Example:
        >>> tn.zeros(2, 3).scatter(1, tn.tensor([[2], [0]]), 1.0)
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
    """
    op, source = _meant("scatter", self, index, src, value, reduce)
    if op is scatter_number:
        return op.function(self, index, dim, source)
    return op.function(self, index, source, dim)


@composite
def scatter_(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | float | None = None,
    *,
    value: float | None = None,
    reduce: str | None = None,
) -> Tensor:
    """Write elements at ``index`` along a dimension, and return the tensor."""
    op, source = _meant("scatter_", self, index, src, value, reduce)
    args = (index, dim, source) if op is scatter_number else (index, source, dim)
    return in_place(op, "scatter_", apart=True)(self, *args)


@composite(out=EXPECTED)
def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy with elements of ``src`` added at ``index`` along a dimension.

    Example:
        >>> tn.zeros(3).scatter_add(0, tn.tensor([0, 2, 2]), tn.ones(3))
        tensor([1., 0., 2.])
    """
    refuse_others("scatter_add", self=self, index=index, src=src)
    return scatter_sum.function(self, index, src, dim)


@composite
def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Add elements of ``src`` at ``index`` along a dimension, and return the tensor."""
    refuse_others("scatter_add_", self=self, index=index, src=src)
    return in_place(scatter_sum, "scatter_add_", apart=True)(self, index, src, dim)
