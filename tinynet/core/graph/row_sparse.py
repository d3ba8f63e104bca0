"""Rows: an array with only some nonzero rows, such as the gradient of an embedding.

It can replace a gradient in the engine and in ``Tensor._array``. Addition and the optimizers work
on the rows alone; for everything else, including numpy, it converts itself to a dense array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels import numba as numba_kernels


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
        if numba_kernels.takes(self.values):
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
        found = numba_kernels.tables.unite(index, values, place, once, sums)
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
