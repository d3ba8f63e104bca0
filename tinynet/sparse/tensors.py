"""Sparse tensors, and their products with dense matrices, as in graph neural networks.

A sparse tensor stores the indices of its entries, its ``Pattern``, and their values: a tensor with
history. Products with dense matrices use only the entries, in forward and backward; all other
operations see the dense array, whose history leads to the values. Gradients of
``Embedding(sparse=True)`` store rows instead (``core/graph/accumulate_grad.py``, ``rows.py``).
"""

from __future__ import annotations

import copy
import functools
import math
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import layouts
from tinynet.core.declaration.operation import operation
from tinynet.core.graph import views
from tinynet.core.graph.accumulate_grad import Rows
from tinynet.core.modes import mode
from tinynet.core.tensors.subclasses import plain
from tinynet.core.tensors.tensor import VIEW, Tensor, counter_of, method, wrap
from tinynet.dtypes import Array, DtypeLike
from tinynet.kernels.indexing import add_computed_rows
from tinynet.ops.creation.constructors import as_tensor, zeros
from tinynet.ops.creation.tensor_types import TensorKind
from tinynet.ops.indexing.index_put import index_put
from tinynet.ops.pointwise.conversion import converted
from tinynet.ops.shaping.views import axis_of


class Pattern:
    """The sparsity pattern of a tensor: the indices of its entries.

    Attributes:
        index: ``[sparse dimensions, entries]``.
        shape: the lengths of the sparse dimensions, which come first; entries have the others.
    """

    def __init__(self, index: Array, shape: tuple[int, ...]):
        self.index, self.shape = index, shape

    @functools.cached_property
    def flat(self) -> Array:
        """The places of the entries among all elements; 0 for a number."""
        if not self.shape:
            return np.zeros(self.index.shape[1], np.int64)
        return np.ravel_multi_index(tuple(self.index), self.shape)

    @functools.cached_property
    def transposed(self) -> Pattern:
        """The pattern of the transposed matrix."""
        return Pattern(self.index[::-1], self.shape[::-1])


@operation(node="SparseAddmmBackward0", complex=True)
def sparse_product(values: Array, dense: Array, /, pattern: Pattern) -> Array:
    """Return the product of a sparse matrix and a dense one."""
    rows, columns = pattern.index
    result = np.zeros((pattern.shape[0], dense.shape[1]), np.result_type(values, dense))
    add_computed_rows(result, rows, lambda at: values[at, None] * dense.take(columns[at], 0))
    return result


sparse_product.grad(
    values=lambda g, dense, pattern: (g[pattern.index[0]] * dense[pattern.index[1]]).sum(1),
    dense=lambda g, values, pattern: sparse_product(values, g, pattern.transposed),
)


@operation(node="ToDenseBackward0", complex=True)
def spread_entries(values: Array, /, pattern: Pattern) -> Array:
    """Return the dense array of the entries of a sparse tensor; those at one place are added."""
    whole = np.zeros((math.prod(pattern.shape), *values.shape[1:]), values.dtype)
    np.add.at(whole, pattern.flat, values)
    return whole.reshape((*pattern.shape, *values.shape[1:]))


@operation(node="SparseMaskBackward0", complex=True)
def entries_at(self: Array, /, pattern: Pattern) -> Array:
    """Return the entries of a dense array at the places of a pattern."""
    return self.reshape((-1, *self.shape[len(pattern.shape) :]))[pattern.flat]


spread_entries.grad(values=lambda g, pattern: entries_at(g, pattern))
entries_at.grad(self=lambda g, pattern: spread_entries(g, pattern))


class Entries(np.lib.mixins.NDArrayOperatorsMixin):
    """The entries of a sparse tensor, in place of its array; numpy sees the dense array."""

    strides = ()

    def __init__(self, pattern: Pattern, values: Tensor):
        self.pattern, self.values = pattern, values
        self.shape = (*pattern.shape, *values._array.shape[1:])
        self.dtype = values._array.dtype
        self.ndim, self.size = len(self.shape), int(np.prod(self.shape, dtype=int))

    def tensor(self) -> Tensor:
        """Return a sparse tensor with these entries."""
        return _sparse(self.pattern, self.values)

    def rows(self) -> Rows:
        """Return them as rows along the first dimension, the form that optimizers take."""
        index, row = np.unique(self.pattern.index[0], return_inverse=True)
        values = np.zeros((len(index), *self.shape[1:]), self.dtype)
        np.add.at(values, (row, *self.pattern.index[1:]), self.values._array)
        return Rows(index, values, self.shape[0], coalesced=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        whole: Array = spread_entries.kernel(self.values._array, self.pattern)
        return whole if dtype is None else whole.astype(dtype)

    def __array_ufunc__(self, ufunc: Any, how: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(x, Entries) for x in options.get("out") or ()):
            raise self._refused()
        dense = [np.asarray(x) if isinstance(x, Entries) else x for x in inputs]
        return getattr(ufunc, how)(*dense, **options)

    @staticmethod
    def apply_operation(op: Any, args: Any, kwargs: Any) -> Any:
        """Return what an operation computes of dense arrays, as in formulas of derivatives."""
        return op.kernel(*(np.asarray(x) if isinstance(x, Entries) else x for x in args), **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        raise self._refused()

    @staticmethod
    def _refused() -> RuntimeError:
        return RuntimeError(
            "sparse tensors are not written in place. The operation without the underscore gives "
            "a dense tensor; make a sparse one of it with to_sparse()."
        )

    def __len__(self) -> int:
        return int(self.shape[0])


class SparseTensor(Tensor):
    """A sparse tensor, made by ``sparse_coo_tensor``, ``sparse_csr_tensor`` or ``to_sparse``.

    Example:
        >>> adjacency = tn.sparse_coo_tensor([[0, 1, 1], [1, 0, 2]], [1.0, 2.0, 3.0], (2, 3))
        >>> adjacency @ tn.ones(3, 1)
        tensor([[1.],
                [5.]])
    """

    __torch_function__ = classmethod(plain)
    _array: Any
    is_sparse = True
    layout = layouts.sparse_coo

    def to_dense(self, dtype: DtypeLike = None, *, masked_grad: bool | None = None) -> Tensor:
        """Return the dense tensor."""
        whole: Tensor = spread_entries.function(self._array.values, self._array.pattern)
        return whole if dtype is None else converted(whole, dtypes.as_numpy(dtype))

    def coalesce(self) -> Tensor:
        """Return the tensor with unique indices in ascending order; it sums duplicates."""
        pattern = self._array.pattern
        unique, first, inverse = np.unique(pattern.flat, return_index=True, return_inverse=True)
        index = pattern.index[:, first]
        values = self._array.values
        whole = zeros(len(unique), *values.shape[1:], dtype=values.dtype)
        summed = index_put(whole, (wrap(inverse),), values, accumulate=True)
        return _sparse(Pattern(index, pattern.shape), summed)

    def is_coalesced(self) -> bool:
        """Return whether the indices are unique and in ascending order."""
        return bool((np.diff(self._array.pattern.flat) > 0).all())

    def indices(self) -> Tensor:
        """Return the indices of the entries, ``[dimensions, entries]``."""
        return wrap(np.ascontiguousarray(self._array.pattern.index))

    def values(self) -> Tensor:
        """Return the entries, with their history."""
        values: Tensor = self._array.values
        return values

    _indices, _values = indices, values

    def _nnz(self) -> int:
        return self._array.pattern.index.shape[1]

    def sparse_dim(self) -> int:
        """Return the number of dimensions that the indices cover."""
        return len(self._array.pattern.shape)

    def dense_dim(self) -> int:
        """Return the number of dimensions of an entry."""
        return self._array.ndim - self.sparse_dim()

    def t(self) -> Tensor:
        """Return the transposed matrix."""
        sparse, dense = self.sparse_dim(), self.dense_dim()
        if sparse > 2 or dense:
            raise RuntimeError(
                "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
                f"{sparse} sparse and {dense} dense dimensions"
            )
        return _sparse(self._array.pattern.transposed, self._array.values)

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """Return the tensor with two sparse dimensions exchanged."""
        pattern, places = self._array.pattern, [*range(self.sparse_dim())]
        first, second = (axis_of(d, self.dim()) for d in (dim0, dim1))
        if first == second:
            return self
        if max(first, second) >= len(places):
            raise RuntimeError(
                "sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
                f"{len(places)}, d0: {first}, d1: {second}"
            )
        places[first], places[second] = second, first
        shape = tuple(pattern.shape[d] for d in places)
        return _sparse(Pattern(pattern.index[places], shape), self._array.values)

    def unsqueeze(self, dim: int) -> Tensor:
        """Return the tensor with a new dimension of length 1, a sparse one if it is among them."""
        pattern, values, count = self._array.pattern, self._array.values, self.sparse_dim()
        place = axis_of(dim, self.dim() + 1)
        if place > count:
            return _sparse(pattern, values.unsqueeze(place - count + 1))
        shape = (*pattern.shape[:place], 1, *pattern.shape[place:])
        return _sparse(Pattern(np.insert(pattern.index, place, 0, axis=0), shape), values)

    def select(self, dim: int, index: int) -> Tensor:
        """Return the tensor at one index of a dimension; a dense one of the last sparse one."""
        entries, count = self._array, self.sparse_dim()
        axis = axis_of(dim, self.dim())
        length = entries.shape[axis]
        if not -length <= index < length:
            raise IndexError(
                f"select(): index {index} out of range for tensor of size {[*entries.shape]} at "
                f"dimension {axis}"
            )
        if axis >= count:
            return _sparse(entries.pattern, entries.values.select(axis - count + 1, index))
        there = np.flatnonzero(entries.pattern.index[axis] == index % length)
        values = entries.values[wrap(there)]
        if count == 1:
            return values.sum(0)
        shape = entries.pattern.shape[:axis] + entries.pattern.shape[axis + 1 :]
        index_there = np.delete(entries.pattern.index, axis, 0)[:, there]
        return _sparse(Pattern(index_there, shape), values)

    def mm(self, mat2: Tensor) -> Tensor:
        """Return the product with a dense matrix."""
        return mm(self, mat2)

    def matmul(self, other: Tensor) -> Tensor:
        """Return the product with a dense matrix or vector."""
        return mm(self, other) if other.dim() == 2 else mm(self, other.unsqueeze(1)).squeeze(1)

    __matmul__ = matmul

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the tensor in another dtype."""
        return _sparse(self._array.pattern, self._array.values.to(*args, **kwargs))

    def float(self, memory_format: Any = None) -> Tensor:
        """Return the tensor as float32."""
        return self.to(dtypes.float32)

    def double(self, memory_format: Any = None) -> Tensor:
        """Return the tensor as float64."""
        return self.to(dtypes.float64)

    def detach(self) -> Tensor:
        """Return the tensor without history."""
        return _sparse(self._array.pattern, self._array.values.detach())

    data = property(detach, views.set_data, doc="The tensor without history; or new values.")

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """Return a copy with the same history."""
        return _sparse(self._array.pattern, self._array.values.clone())

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) not in memo:
            values = copy.deepcopy(self._array.values, memo)
            memo[id(self)] = _sparse(self._array.pattern, values)
        found: Tensor = memo[id(self)]
        return found

    def __reduce_ex__(self, protocol: Any) -> Any:
        pattern, values = self._array.pattern, self._array.values
        return _rebuilt, (pattern.index, pattern.shape, values.detach(), values.requires_grad)

    def crow_indices(self) -> Tensor:
        """Return the start of each row in the compressed form, and the number of entries."""
        counts = np.bincount(self._array.pattern.index[0], minlength=self._array.shape[0])
        return wrap(np.concatenate([[0], np.cumsum(counts)]))

    def col_indices(self) -> Tensor:
        """Return the columns of the entries, row by row."""
        order = np.argsort(self._array.pattern.index[0], kind="stable")
        return wrap(self._array.pattern.index[1][order])


def _sparse(pattern: Pattern, values: Tensor) -> Tensor:
    entries: Any = Entries(pattern, values)  # in the place of an array
    made = wrap(entries, SparseTensor)
    if mode.grad and views.requires_grad(values):
        # Operations that see the dense array regenerate its history from the values, as of a view.
        made._counter = counter_of(values)
        made._view = views.View(values, ((spread_entries, (pattern,)),), -1, None)
        made._requires_grad = VIEW
    return made


def _rebuilt(index: Array, shape: tuple[int, ...], values: Tensor, requires_grad: bool) -> Tensor:
    """Return the tensor of a pickle."""
    return _sparse(Pattern(index, shape), values.requires_grad_(requires_grad))


def sparse_coo_tensor(
    indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: DtypeLike = None,
    device: Any = None,
    requires_grad: bool = False,
    is_coalesced: bool | None = None,
    check_invariants: bool | None = None,
) -> Tensor:
    """Return a sparse tensor of the given entries.

    Products with dense matrices differentiate to ``values``.

    Args:
        indices: ``[sparse dimensions, entries]``.
        values: ``[entries, ...]``; values with the same indices are added. Their other dimensions
            are the last ones of the tensor, which are dense.
        size: the shape; by default the smallest that fits.
        dtype: by default the values'.
        device: only the CPU.
        requires_grad: record operations on the values.
        is_coalesced, check_invariants: ignored: indices are always checked.

    Raises:
        RuntimeError: an index is outside the shape, or the numbers of entries differ.

    Example:
        >>> tn.sparse_coo_tensor([[0, 1], [1, 0]], [3.0, 4.0]).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    index = np.asarray(as_tensor(indices)._array, np.int64)
    made = as_tensor(values, dtype=dtype, device=device)
    if index.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(index.shape)}")
    count = made.shape[0] if made.dim() else 1
    if not made.dim() or index.shape[1] != count:
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{index.shape[1]}, nnz from values: {count}"
        )
    if requires_grad:
        made = made.detach().requires_grad_()
    return _sparse(Pattern(index, _shape_of(index, tuple(made._array.shape), size)), made)


def _shape_of(index: Array, values: tuple[int, ...], size: Any) -> tuple[int, ...]:
    """Return the lengths of the sparse dimensions, of the given size or the smallest that fits."""
    least = tuple(int(n) + 1 for n in index.max(1)) if index.size else (0,) * len(index)
    dense = values[1:]
    shape = (*least, *dense) if size is None else tuple(int(n) for n in size)
    if len(shape) != len(index) + len(dense):
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, "
            f"sparse_dim = {len(index)}, dense_dim = {len(dense)}"
        )
    shape, rest = shape[: len(index)], shape[len(index) :]
    if rest != dense:
        raise RuntimeError(
            f"values has incorrect size, expected {[values[0], *rest]}, got {[*values]}"
        )
    if index.size and (index.min() < 0 or any(a > b for a, b in zip(least, shape, strict=True))):
        raise RuntimeError(
            f"size is inconsistent with indices: {list(least)} exceeds {list(shape)}"
        )
    return shape


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any
) -> Tensor:
    """Return a sparse matrix of the given entries, row by row.

    Args:
        crow_indices: ``[rows + 1]``, the start of each row, and the number of entries.
        col_indices: ``[entries]``, the columns.
        values: ``[entries]``.
        size: the shape; by default the smallest that fits.
        **options: see ``sparse_coo_tensor``.

    Raises:
        RuntimeError: an index is outside the shape, or the numbers of entries differ.

    Example:
        >>> tn.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    starts, columns = (np.asarray(as_tensor(x)._array) for x in (crow_indices, col_indices))
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    shape = (len(starts) - 1, int(columns.max(initial=-1)) + 1) if size is None else size
    return sparse_coo_tensor(wrap(np.stack([rows, columns])), values, shape, **options)


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of a sparse matrix and a dense one, ``mat1 @ mat2``.

    The gradients are ``g @ mat2.T`` at the entries, and ``mat1.T @ g``.

    Args:
        mat1: ``[n, m]``, sparse or dense.
        mat2: ``[m, k]``; a sparse matrix is converted to a dense one.

    Raises:
        RuntimeError: the shapes do not fit.

    Example:
        >>> tn.sparse.mm(tn.eye(2).to_sparse(), tn.tensor([[1.0], [2.0]]))
        tensor([[1.],
                [2.]])
    """
    dense = mat2.to_dense() if isinstance(mat2, SparseTensor) else mat2
    if not isinstance(mat1, SparseTensor):
        return mat1 @ dense
    pattern, values = mat1._array.pattern, mat1._array.values
    if mat1.dense_dim():
        raise RuntimeError(
            "addmm: Argument #2: matrices expected, got "
            f"{mat1.sparse_dim()} sparse and {mat1.dense_dim()} dense dimensions"
        )
    if len(pattern.shape) != 2 or dense.dim() != 2 or pattern.shape[1] != dense.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({'x'.join(map(str, pattern.shape))} and {'x'.join(map(str, dense.shape))})"
        )
    return sparse_product.function(values, dense, pattern)


@method
def to_sparse(self: Tensor, sparse_dim: int | None = None, *, layout: Any = None) -> Tensor:
    """Return a sparse tensor with the nonzero entries.

    Args:
        sparse_dim: the number of sparse dimensions, the first ones; all by default. An entry has
            the others.
        layout: accepted, without effect.

    Raises:
        RuntimeError: ``sparse_dim`` is no number of sparse dimensions.

    Example:
        >>> tn.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse().values()
        tensor([2.])
    """
    if isinstance(self, SparseTensor):
        return self
    count = self.ndim if sparse_dim is None else sparse_dim
    _check_sparse_dim(count, self.ndim)
    shape, dense = tuple(self._array.shape[:count]), self._array.shape[count:]
    entries = self.reshape(math.prod(shape), *dense)
    full = (entries._array != 0).any(axis=tuple(range(1, entries.ndim)))
    flat = np.flatnonzero(full)
    index = np.array(np.unravel_index(flat, shape)) if self.ndim else flat[None][:0]
    return _sparse(Pattern(index, shape), entries[wrap(flat)])


def _check_sparse_dim(count: int, ndim: int) -> None:
    if not 0 <= count <= ndim:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{ndim}] range, but {count} is "
            "given"
        )
    if ndim and not count:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")


method(to_sparse, "to_sparse_coo")
method(to_sparse, "to_sparse_csr")


class _SparseKind(TensorKind):
    """The metaclass of the types of sparse tensors."""

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, SparseTensor) and instance.dtype is self.dtype


def _of_entries(dtype: dtypes.dtype) -> Any:
    def make(cls: Any, indices: Any, values: Any, size: Any = None) -> Tensor:
        return sparse_coo_tensor(indices, values, size, dtype=dtype)

    doc = f"Return a sparse {dtype.name} tensor of indices, values and a size."
    return _SparseKind(dtype.tensor_name, (), {"__new__": make, "__doc__": doc, "dtype": dtype})


FloatTensor = _of_entries(dtypes.float32)
DoubleTensor = _of_entries(dtypes.float64)
LongTensor = _of_entries(dtypes.int64)
IntTensor = _of_entries(dtypes.int32)
