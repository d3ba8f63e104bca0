"""Leaves of the graph: the gradients that a pass delivers, and their sum in ``.grad``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import layouts, printing
from tinynet.core.graph.row_sparse import Rows
from tinynet.core.seams import Recorded
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, counter_of, dense_copy, method, wrap
from tinynet.dtypes import Array, DtypeLike

# ---- sparse gradients ---------------------------------------------------------------------------
# Tensors with sparse gradients, as ``Embedding(sparse=True)`` makes them.
# Such a tensor holds the Rows of ``core/graph/row_sparse.py``. This file has its methods; all
# other operations convert it to a dense tensor first.


_UNCOALESCED = "Cannot get {} on an uncoalesced tensor, please call .coalesce() first"


def is_sparse(t: Tensor) -> bool:
    """Return True for a tensor that stores only some rows.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> table(tn.tensor([2])).sum().backward()
        >>> table.weight.grad.is_sparse, table.weight.is_sparse
        (True, False)
    """
    return isinstance(t._array, Rows)


method(property(is_sparse), "is_sparse")


def sparse(rows: Rows) -> Tensor:
    """Return the sparse tensor of some rows."""
    return wrap(rows)  # type: ignore[arg-type]  # the only tensors whose _array is not an array


def dense_gradient(t: Tensor) -> Tensor | None:
    """Return the gradient of a leaf, converted to a dense one if lazy."""
    grad = t._grad
    if grad is not None:
        array: Any = grad._array
        if array.__class__ is Rows and array.lazy:
            grad._array = array.dense()
    return grad


def rows_of(t: Tensor, what: str = "") -> Rows:
    """Return the rows of a sparse tensor.

    Raises:
        RuntimeError: it is dense.
    """
    array: Any = t._array
    if not isinstance(array, Rows):
        raise RuntimeError(f"{what} expected sparse coordinate tensor layout but got Strided")
    return array


@method
def to_dense(self: Tensor, dtype: DtypeLike = None, *, masked_grad: bool | None = None) -> Tensor:
    """Return the tensor as a dense one; itself if it is dense already.

    Args:
        dtype: the dtype of the result; that of the tensor by default.
        masked_grad: without effect.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> table(tn.tensor([2, 2])).sum().backward()
        >>> table.weight.grad.to_dense()
        tensor([[0.],
                [0.],
                [2.]])
    """
    dense = wrap(rows_of(self).dense()) if is_sparse(self) else self
    return dense if dtype is None else dense.to(dtype)


@method
def coalesce(self: Tensor) -> Tensor:
    """Return a sparse tensor that stores each row once, in ascending order.

    Raises:
        RuntimeError: the tensor is dense.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> table(tn.tensor([2, 2, 0])).sum().backward()
        >>> table.weight.grad.coalesce().values()
        tensor([[1.],
                [2.]])
    """
    return sparse(rows_of(self, "coalesce").coalesce())


@method
def is_coalesced(self: Tensor) -> bool:
    """Return True for a sparse tensor that stores each row once.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> table(tn.tensor([2, 2])).sum().backward()
        >>> table.weight.grad.is_coalesced(), table.weight.grad.coalesce().is_coalesced()
        (False, True)
    """
    return rows_of(self, "is_coalesced").coalesced


@method
def _indices(self: Tensor) -> Tensor:
    """Return the numbers of the rows, ``[1, n]``."""
    return wrap(np.asarray(rows_of(self, "_indices").index, np.int64)[None])


@method
def _values(self: Tensor) -> Tensor:
    """Return the rows, ``[n, ...]``; they share the memory."""
    return wrap(rows_of(self, "_values").values)


@method
def indices(self: Tensor) -> Tensor:
    """Return the numbers of the rows of a coalesced tensor, ``[1, n]``.

    Raises:
        RuntimeError: the tensor is not coalesced, or not sparse.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> table(tn.tensor([2, 2, 0])).sum().backward()
        >>> table.weight.grad.coalesce().indices()
        tensor([[0, 2]])
    """
    if not rows_of(self, "indices").coalesced:
        raise RuntimeError(_UNCOALESCED.format("indices"))
    return _indices(self)


@method
def values(self: Tensor) -> Tensor:
    """Return the rows of a coalesced tensor, ``[n, ...]``.

    Raises:
        RuntimeError: the tensor is not coalesced, or not sparse.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> table(tn.tensor([2, 2])).sum().backward()
        >>> table.weight.grad.coalesce().values()
        tensor([[2.]])
    """
    if not rows_of(self, "values").coalesced:
        raise RuntimeError(_UNCOALESCED.format("values"))
    return _values(self)


@method
def _nnz(self: Tensor) -> int:
    """Return the number of stored rows."""
    return len(rows_of(self, "_nnz").index)


@method
def sparse_dim(self: Tensor) -> int:
    """Return 1 (rows are indexed along the first dimension), or 0 for a dense tensor.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> table(tn.tensor([2])).sum().backward()
        >>> table.weight.grad.sparse_dim(), table.weight.sparse_dim()
        (1, 0)
    """
    return int(is_sparse(self))


@method
def dense_dim(self: Tensor) -> int:
    """Return the number of dimensions of a row, or of a dense tensor.

    Example:
        >>> table = nn.Embedding(3, 1, sparse=True)
        >>> table(tn.tensor([2])).sum().backward()
        >>> table.weight.grad.dense_dim(), table.weight.dense_dim()
        (1, 2)
    """
    return self._array.ndim - int(is_sparse(self))


def layout(t: Tensor) -> layouts.layout:
    """Return the storage layout: all elements (strided) or some rows (sparse_coo).

    Example:
        >>> tn.ones(2).layout
        tinynet.strided
    """
    return layouts.sparse_coo if is_sparse(t) else layouts.strided


method(property(layout), "layout")


@method
def _shown(self: Tensor) -> str:
    """Return what ``repr`` shows for a sparse tensor."""
    lines = [_indented("indices", self._indices()), _indented("values", values := self._values())]
    named = printing.shows_dtype(values._array, dtypes.default_float())
    dtype = f", dtype={values.dtype!r}" if named else ""
    lines.append(f"size={tuple(self.shape)}, nnz={self._nnz()}{dtype}, layout={self.layout})")
    return "tensor(" + (",\n" + " " * 7).join(lines)


def _indented(name: str, t: Tensor) -> str:
    size = "" if t._array.size else f", size={tuple(t.shape)}"
    text = f"{name}=tensor({printing._format_values(t._array)}{size})"
    return text.replace("\n", "\n" + " " * (8 + len(name)))


# ---- leaves --------------------------------------------------------------------------------------


ACCUMULATION = "gradient accumulation"  # of a write to a gradient other than zeros


class Leaf:
    """A leaf that a pass can reach, and its gradient so far.

    Attributes:
        tensor: the leaf.
        left: the number of edges that have not delivered yet.
        gradient: the sum so far; None before the first gradient.
        own: whether the leaf is the only owner of the array ``gradient``.
        hooked: an edge delivered None to a leaf with hooks, which run all the same.
    """

    __slots__ = ("gradient", "hooked", "left", "own", "tensor")

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        self.left = 0
        self.gradient: Any = None
        self.own = self.hooked = False


def _accumulate_rows(leaf: Tensor, grad: Tensor, g: Tensor) -> None:
    """Add two gradients of which at least one is sparse."""
    if not is_sparse(grad):
        rows_of(g).add_to(grad._array)
    elif is_sparse(g):
        grad._array = rows_of(grad) + rows_of(g)
    else:
        leaf._grad = wrap(rows_of(grad) + g._array)
        return
    counter_of(grad).bump(None, ACCUMULATION)


def _laid_out(g: Array, leaf: Array) -> Array:
    """Return a copy of a gradient, in the leaf's memory order if that is not row-major."""
    if type(leaf) is not np.ndarray or leaf.flags.c_contiguous or 0 in leaf.strides:
        return dense_copy(g)
    copy = np.empty_like(leaf, g.dtype)
    copy[...] = g
    return copy


def add_to(grad: Tensor, g: Array) -> Tensor:
    """Add an array to a dense gradient, in place, and return the gradient."""
    total = grad._array
    refuse_overlap(total)
    is_rest = total.size and total.item(0)  # else zero_grad may have filled it
    try:
        np.add(total, g, out=total, casting="same_kind")
    except ValueError:  # x.data was replaced by another shape
        raise errors.not_written(total.shape, g.shape) from None
    counter_of(grad).bump(None, ACCUMULATION if is_rest else "gradient on zeros")
    return grad


def accumulate(leaf: Tensor, g: Tensor | None, own: bool, recorded: bool) -> None:
    """Add ``g`` to ``leaf.grad``, as in PyTorch in place unless the pass is recorded."""
    grad = dense_gradient(leaf)
    if not leaf._requires_grad or g is None:
        pass  # requires_grad was switched off, or no gradient arrived
    elif grad is None:
        if recorded:
            leaf._grad = Recorded.clone(g)
        elif own:
            leaf._grad = g
        else:
            leaf._grad = wrap(_laid_out(g._array, leaf._array))
    elif recorded:
        leaf._grad = Recorded.add(grad, g)
    elif is_sparse(grad) or is_sparse(g):
        _accumulate_rows(leaf, grad, g)
    else:
        add_to(grad, g._array)
    if leaf._hooks is not None:
        for hook in [*leaf._hooks.accumulated.values()]:
            if hook(leaf) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
