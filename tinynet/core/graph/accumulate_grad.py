"""Leaves of the graph: the gradients that a pass delivers, dense or of rows, and their sum.

``Rows`` can replace a gradient in the engine and in ``Tensor._array``. Addition and the optimizers
work on the rows alone; for everything else, including numpy, it converts itself to a dense array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import errors
from tinynet.core import layouts
from tinynet.core.seams import Recorded
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, counter_of, dense_copy, method, wrap
from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels


class Rows:
    """Rows of an array that is zero elsewhere.

    Args:
        index: ``[n]``, the number of each row; the values of repeated numbers are added.
        values: ``[n, ...]``, the rows.
        count: number of rows of the dense array.

    Attributes:
        coalesced: the numbers are distinct and ascend.
        distinct: the numbers are distinct.
        lazy: an internal optimisation, not a sparse gradient that the user requested: the first
            access converts it to a dense array.
    """

    __slots__ = ("coalesced", "distinct", "index", "lazy", "shape", "values")

    def __init__(
        self, index: Array, values: Array, count: int, coalesced: bool = False, lazy: bool = False
    ):
        self.distinct = coalesced
        self.lazy = lazy
        self.index = index
        self.values = values
        self.shape = (count, *values.shape[1:])
        self.coalesced = coalesced

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type of the elements."""
        kind: np.dtype[Any] = self.values.dtype
        return kind

    @property
    def ndim(self) -> int:
        """Number of dimensions of the dense array."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of the dense array."""
        return int(np.prod(self.shape, dtype=int))

    strides = ()  # it has no dense memory
    base = ()  # ufuncs cannot write to it

    def coalesce(self) -> Rows:
        """Return the rows summed by number, in ascending order; itself if coalesced already."""
        if self.coalesced:
            return self
        order = np.argsort(self.index, kind="stable")
        index = self.index[order]
        new = np.ones(len(index), bool)
        np.not_equal(index[1:], index[:-1], out=new[1:])
        first = np.flatnonzero(new)
        if 2 * len(first) < len(index):
            values = np.add.reduceat(self.values[order], first, axis=0)
        else:  # few repeats: adding them one by one is several times as fast
            values = self.values[order[first]]
            width = values[:1].size
            to = (np.cumsum(new) - 1)[~new][:, None] * width + np.arange(width)
            np.add.at(values.reshape(-1), to.ravel(), self.values[order[~new]].ravel())
        return Rows(index[first], values, self.shape[0], True)

    def unique(self) -> Rows:
        """Return the rows summed by number, in order of first appearance; itself if distinct.

        Repeated rows are added in order of appearance.
        """
        if self.distinct:
            return self
        count = self.shape[0]
        if native_kernels.takes(self.values):
            return self._united()
        first = first_of_each(self.index, count)
        index, values = self.index[first], self.values[first]
        place = np.empty(count, np.intp)
        place[index] = np.arange(len(index))
        again = np.flatnonzero(~first)
        for _ in range(3):  # most rows repeat once or twice: add each repetition in one call
            if not len(again):
                break
            numbers = self.index[again]
            first = first_of_each(numbers, count)
            values[place[numbers[first]]] += self.values[again[first]]
            again = again[~first]
        if len(again):
            width = values[:1].size
            to = place[self.index[again]][:, None] * width + np.arange(width)
            np.add.at(values.reshape(-1), to.ravel(), self.values[again].ravel())
        made = Rows(index, values, count, False, self.lazy)
        made.distinct = True
        return made

    def _united(self) -> Rows:
        """Return the result of ``unique``, by a compiled kernel."""
        index = np.ascontiguousarray(self.index)
        values = np.ascontiguousarray(self.values).reshape(len(index), self.values[:1].size)
        place = np.empty(self.shape[0], np.int32)
        once, sums = np.empty_like(index), np.empty_like(values)
        found = native_kernels.tables.unite(index, values, place, once, sums)
        sums = sums[:found].reshape(found, *self.shape[1:])
        made = Rows(once[:found], sums, self.shape[0], False, self.lazy)
        made.distinct = True
        return made

    def dense(self) -> Array:
        """Return the dense array."""
        dense = np.zeros(self.shape, self.dtype)
        rows = self.unique() if self.lazy else self.coalesce()
        dense[rows.index] = rows.values
        return dense

    def add_to(self, dense: Array) -> None:
        """Add the rows to a dense array, in place."""
        rows = self.unique() if self.lazy else self.coalesce()
        dense[rows.index] += rows.values

    def copy(self, order: str = "C") -> Rows:
        """Return a copy of the values with the same index."""
        return Rows(self.index, self.values.copy(), self.shape[0], self.coalesced, self.lazy)

    def astype(self, dtype: Any, copy: bool = True) -> Rows:
        """Return the rows converted to another dtype."""
        return Rows(self.index, self.values.astype(dtype), self.shape[0], self.coalesced, self.lazy)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Rows):
            if self.lazy != other.lazy:
                return self + other.dense()
            index = np.concatenate([self.index, other.index])
            values = np.concatenate([self.values, other.values])
            return Rows(index, values, self.shape[0], False, self.lazy)
        dense = np.array(other)
        self.add_to(dense)
        return dense

    __radd__ = __add__

    def __imul__(self, factor: Any) -> Rows:
        return self._in_place(np.multiply, (factor,))

    # ---- numpy's protocols ------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.dense() if dtype is None else self.dense().astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.get("out")
        if out is not None and out[0] is self:
            return self._in_place(ufunc, inputs[1:])
        if ufunc is np.add and method == "__call__" and not options and len(inputs) == 2:
            other = inputs[1] if inputs[0] is self else inputs[0]
            if isinstance(other, np.ndarray) and other.shape == self.shape:
                return self + other
        dense = [x.dense() if isinstance(x, Rows) else x for x in inputs]
        return getattr(ufunc, method)(*dense, **options)

    def _in_place(self, ufunc: Any, others: tuple[Any, ...]) -> Rows:
        """Multiply or divide by a number."""
        if ufunc not in (np.multiply, np.true_divide) or any(np.ndim(x) for x in others):
            raise RuntimeError(f"a sparse gradient cannot be changed in place by {ufunc.__name__}")
        ufunc(self.values, *others, out=self.values)
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is not Ellipsis or np.any(value):
            raise RuntimeError("in place, a sparse gradient can only be set to zero as a whole")
        self.index, self.values, self.coalesced = self.index[:0], self.values[:0], True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in Rows.__slots__:
            raise AttributeError(name)
        return getattr(self.dense(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.dense()[key]

    def __len__(self) -> int:
        return int(self.shape[0])


def first_of_each(index: Array, count: int) -> Array:
    """Return a mask of the first occurrences in an array of numbers below ``count``."""
    places = np.arange(len(index))
    first = np.empty(count, places.dtype)
    first[index[::-1]] = places[::-1]  # of several writes the last one stays
    found: Array = first[index] == places
    return found


# ---- sparse gradients ---------------------------------------------------------------------------
# As ``Embedding(sparse=True)`` makes them: a tensor whose array is ``Rows``. ``tinynet/sparse/``
# has its methods; all other operations convert it to a dense tensor first.


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


def layout(t: Tensor) -> layouts.layout:
    """Return the storage layout: all elements (strided) or some rows (sparse_coo).

    Example:
        >>> tn.ones(2).layout
        tinynet.strided
    """
    return layouts.sparse_coo if is_sparse(t) else layouts.strided


method(property(layout), "layout")


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
