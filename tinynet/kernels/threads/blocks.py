"""Numpy's passes over arrays, close to the cache.

A pass over a block in the cache takes a quarter of the time of one over memory, and the temporaries
of the next block reuse the memory of the last. On small arrays, calls would cost more than that.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels.threads.sharing import WIDE, each_slice, slices

BLOCK = 1 << 15  # elements: four such arrays fit the cache, and a pass takes longer than its call
LARGE = WIDE  # up to this size, whole arrays fit

_LONG_ROW = 192  # elements: a row's own loop costs less than a copy of its number
_SHORT_LOOP = 2048  # elements: three such buffers fit the first cache, numpy's usual ones do not
_FEW = 1 << 14  # elements up to which another call costs more than it saves
_TINY = 256  # elements up to which that is true of a view, too


@contextlib.contextmanager
def row_by_row(length: int) -> Iterator[None]:
    """Let numpy combine rows of this length with a column faster.

    Numpy repeats the column's numbers in a buffer to make its inner loops as long as that, which
    takes two thirds of the time. Long rows need no buffer, and short ones a small one. Conversions
    between dtypes need the buffer: keep them outside.
    """
    before = np.setbufsize(16 if length >= _LONG_ROW else _SHORT_LOOP)
    try:
        yield
    finally:
        np.setbufsize(before)


def combine_rows(ufunc: np.ufunc, x: Array, vector: Array, out: Array | None) -> Array:
    """Return ``ufunc(x, vector)`` for a row or column, of which numpy copies short ones faster.

    It is written to ``out``, without which numpy takes less time for few numbers.
    """
    if out is not None and x.shape[1] < _LONG_ROW and x.size > _FEW:
        np.copyto(out, vector)
        vector = out
    found: Array = ufunc(x, vector, out)
    return found


def row_blocks(function: Callable[..., object], first: Array, *others: Array, axis: int) -> Array:
    """Return an array that a function writes, along the last axis block of rows by block.

    Args:
        function: called with arrays, the axis, and ``out``; rows do not depend on each other.
        first, others: the arrays, of one shape and dtype.
        axis: the axis of the rows. Unless it is the last, there is one block.
    """
    n = first.shape[-1]
    out = np.empty(first.shape, first.dtype)
    if axis < first.ndim - 1 or out.size <= _TINY:
        function(first, *others, axis, out)
        return out
    rows, arrays = out.reshape(-1, n), [x.reshape(-1, n) for x in (first, *others)]
    if n < _LONG_ROW and out.size <= LARGE:
        function(*arrays, 1, rows)
        return out

    def work(part: slice) -> None:
        function(*(x[part] for x in arrays), 1, rows[part])

    with row_by_row(n):
        each_slice(work, len(rows), max(1, LARGE // n), n)
    return out


def in_blocks(function: Callable[..., Any], arrays: list[Array], step: int) -> Any:
    """Return an array, or tuple of arrays, computed from slices of ``step`` along the first axis.

    Args:
        function: takes slices of the arrays; each of its results is as long as the slices.
        arrays: of one length.
        step: the length of a slice.
    """
    if len(arrays[0]) <= step:
        return function(*arrays)
    first, *parts = slices(len(arrays[0]), step)
    found = function(*(x[first] for x in arrays))
    several = type(found) is tuple
    heads = found if several else (found,)
    made = [np.empty((len(arrays[0]), *head.shape[1:]), head.dtype) for head in heads]
    for whole, head in zip(made, heads, strict=True):
        whole[first] = head
    for part in parts:
        found = function(*(x[part] for x in arrays))
        for whole, block in zip(made, found if several else (found,), strict=True):
            whole[part] = block
    return tuple(made) if several else made[0]


def blockwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate an elementwise function of several passes: large arrays are computed in blocks.

    Tensors, numbers, and arrays that broadcast or are not contiguous are passed on as they are.
    """

    @functools.wraps(function)
    def run(first: Any, *others: Any) -> Any:
        if type(first) is not np.ndarray or first.size <= LARGE:
            return function(first, *others)
        arrays = [x for x in (first, *others) if type(x) is np.ndarray and x.ndim]
        shape = first.shape
        if not all(x.shape == shape and x.flags.c_contiguous for x in arrays):
            return function(first, *others)
        options = [None if type(x) is np.ndarray and x.ndim else x for x in others]

        def part(*blocks: Array) -> Any:
            rest = iter(blocks[1:])
            return function(blocks[0], *(next(rest) if x is None else x for x in options))

        found = in_blocks(part, [x.reshape(-1) for x in arrays], BLOCK)
        if type(found) is tuple:
            return tuple(x.reshape(shape) for x in found)
        return found.reshape(shape)

    return run
