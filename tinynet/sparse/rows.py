"""Methods of the gradients of ``Embedding(sparse=True)``, which store rows."""

from __future__ import annotations

import numpy as np

from tinynet import dtypes
from tinynet.core import printing
from tinynet.core.graph.accumulate_grad import is_sparse, rows_of, sparse
from tinynet.core.tensors.tensor import Tensor, method, wrap
from tinynet.dtypes import DtypeLike


def _check_coalesced(t: Tensor, what: str) -> None:
    if not rows_of(t, what).coalesced:
        raise RuntimeError(
            f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
        )


@method
def to_dense(self: Tensor, dtype: DtypeLike = None, *, masked_grad: bool | None = None) -> Tensor:
    """Return the tensor as a dense one; itself if it is dense already.

    Args:
        dtype: the dtype of the result; by default the tensor's.
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
    _check_coalesced(self, "indices")
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
    _check_coalesced(self, "values")
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
