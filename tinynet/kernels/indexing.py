"""Elements of arrays by place: along an axis by index, and in the triangles of matrices.

Taking and putting is several times as fast as with numpy's functions for small arrays. Sums by
index are the derivatives of gather, index_select and indexing. ``np.add.at`` is fast on arrays of
one dimension only. So short rows are added column by column, few long rows as elements of the
flattened array, and many in rounds: each adds one row per index.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels.sums import add_up, column_sums
from tinynet.kernels.threads import LARGE, slices

_OFFSETS_KEPT = 4096  # elements: larger offsets are computed at each call

# ---- positions ----------------------------------------------------------------------------------


def _offsets(given: tuple[int, ...], shape: tuple[int, ...], axis: int) -> Array:
    """Return where the slices along an axis begin in the flattened array, of length 1 there."""
    found: Any = np.zeros((), np.int64)
    step = 1  # stride of dimension d
    for d in reversed(range(len(shape))):
        if d != axis:
            part = np.arange(given[d]) * step
            found = found + part.reshape(-1, *(1,) * (len(shape) - d - 1))
        elif d == len(shape) - 1:
            found = found.reshape(1)
        step *= shape[d]
    found.flags.writeable = False
    return found


_offsets_of_steps = functools.lru_cache(maxsize=64)(_offsets)  # training has the same at each step


def positions(index: Array, shape: tuple[int, ...], axis: int) -> Array:
    """Return the positions of the indices along one axis in the flattened array of ``shape``."""
    given = index.shape
    if len(given) == 1:
        return index
    step = math.prod(shape[axis + 1 :])
    of = _offsets_of_steps if index.size <= _OFFSETS_KEPT else _offsets
    found: Array = (index if step == 1 else index * step) + of(given, shape, axis)
    return found


# ---- taking and putting -------------------------------------------------------------------------


def take_along(x: Array, index: Array, axis: int) -> Array:
    """Return the elements at ``index`` along an axis, as ``np.take_along_axis`` does.

    Args:
        x: any shape, at least one dimension.
        index: of the shape of ``x`` except along the axis; from 0 to the length of the axis.
        axis: an axis, not negative.
    """
    # All indices are in range, and "wrap" is the fastest mode.
    found: Array = x.take(positions(index, x.shape, axis), mode="wrap")
    return found


def put_along(x: Array, index: Array, axis: int, values: Any) -> None:
    """Write ``values`` at ``index`` along an axis of a contiguous array in place."""
    x.reshape(-1)[positions(index, x.shape, axis)] = values


# ---- sums by index ------------------------------------------------------------------------------

_SHORT_ROW = 16  # elements: longer rows leave the cache between one column and the next
_FEW = 16384  # elements: rounds of fewer take longer than their elements one by one
_SUM = 3  # cost of the sum of the rows of one index, in rounds


def add_rows(whole: Array, index: Array, rows: Array) -> None:
    """Add ``rows[i]`` to row ``index[i]`` of ``whole`` in place.

    Args:
        whole: two dimensions, contiguous.
        index: one dimension, integers in range.
        rows: two dimensions, as wide as ``whole``.
    """
    width = whole.shape[1]
    if not len(index) or not width:
        return
    if width > _SHORT_ROW:
        _add_long_rows(whole, index, _taker(rows))
        return
    whole, rows = _in_pairs(whole, rows)
    for column, added in zip(whole.T, rows.T, strict=True):
        np.add.at(column, index, added)


def _taker(rows: Array) -> Callable[[Any], Array]:
    # All indices are in range, and "wrap" is the fastest mode.
    return lambda at: rows if isinstance(at, slice) else rows.take(at, 0, mode="wrap")


_PAIRS = {"f": np.complex64, "d": np.complex128}  # whose addition adds two numbers at once


def _in_pairs(whole: Array, rows: Array) -> tuple[Array, Array]:
    """Return both arrays as complex numbers, of half as many columns, where that is possible."""
    pair = _PAIRS.get(whole.dtype.char)
    if pair is None or whole.shape[1] % 2 or rows.dtype != whole.dtype:
        return whole, rows
    return whole.view(pair), np.ascontiguousarray(rows).view(pair)


def add_computed_rows(whole: Array, index: Array, rows_at: Callable[[Any], Array]) -> None:
    """Do what ``add_rows`` does with rows that a function computes from their places."""
    if whole.shape[1] > _SHORT_ROW and len(index):
        _add_long_rows(whole, index, rows_at)
    else:
        add_rows(whole, index, rows_at(slice(None)))


def _add_long_rows(whole: Array, index: Array, rows_at: Callable[[Any], Array]) -> None:
    """Add rows in rounds; then sum the rows of few indices that repeat often."""
    if len(index) * whole.shape[1] <= _FEW:
        whole, rows = _in_pairs(whole, rows_at(slice(None)))
        at = index[:, None] * whole.shape[1] + np.arange(whole.shape[1])
        np.add.at(whole.reshape(-1), at.reshape(-1), rows.reshape(-1))
        return
    numbers, order = _sorted(index)
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    counts, rank = _sorted(-np.diff(first, append=len(index)))
    first, counts = first[rank], -counts  # each round adds to the first sums
    left = len(first) - np.cumsum(np.bincount(counts))  # number of indices after each round
    rounds = int(np.argmin(np.arange(len(left)) + _SUM * left))
    at = index[order[first]]
    sums = whole.take(at, 0)
    for number, count in enumerate(left[:rounds]):
        sums[:count] += rows_at(order[first[:count] + number])
    for i in range(left[rounds]):
        sums[i] += _sum(rows_at(order[first[i] + rounds : first[i] + counts[i]]))
    whole[at] = sums


def _sum(rows: Array) -> Array:
    """Return the sums of ``[..., rows, n]`` over rows, in the dtype of the rows."""
    return column_sums(rows) if rows.dtype.kind == "f" else add_up(rows, -2, rows.dtype)


def _sorted(numbers: Array) -> tuple[Array, Array]:
    """Return integers sorted, and their stable order: numpy sorts several times as fast as that."""
    bits = len(numbers).bit_length()
    keys = (numbers.astype(np.int64) << bits) | np.arange(len(numbers))
    keys.sort()
    return keys >> bits, keys & ((1 << bits) - 1)


def bag_sums(table: Array, index: Array, starts: Array, factors: Array | None = None) -> Array:
    """Return the sums of the rows of a table at each bag of indices, ``[bags, width]``.

    Bags of one size make a block, which one product sums.

    Args:
        table: ``[rows, width]``.
        index: the indices of one bag after the other, in range.
        starts: where each bag begins.
        factors: a factor for each index.
    """
    sizes = np.diff(starts, append=len(index))
    found = np.zeros((len(starts), table.shape[1]), table.dtype)
    for size in np.unique(sizes[sizes > 0]).tolist():
        bags = np.flatnonzero(sizes == size)
        for part in slices(len(bags), max(LARGE // (size * max(table.shape[1], 1)), 1)):
            at = starts[bags[part], None] + np.arange(size)
            rows = table.take(index[at], 0, mode="wrap")
            if factors is not None:
                rows *= factors[at, None]
            found[bags[part]] = _sum(rows)
    return found


def add_slices(whole: Array, axis: int, index: Array, slices: Array) -> None:
    """Add slice i of ``slices`` along an axis to slice ``index[i]`` of a contiguous ``whole``."""
    add_at(whole, (*(slice(None),) * axis, index), slices.reshape(slices.shape or (1,)))


def add_at(whole: Array, key: tuple[Any, ...], values: Array) -> None:
    """Add ``values`` to ``whole[key]``, which has their shape; indices may repeat.

    Args:
        whole: contiguous.
        key: integer arrays, masks, and ``slice(None)`` for dimensions that are kept.
        values: the values to add.
    """
    if values.size == 0:
        return
    if not key:
        whole += values
        return
    if len(key) == 1 and isinstance(key[0], np.ndarray) and key[0].dtype != bool:
        index = from_the_front(key[0].reshape(-1), len(whole))
        add_rows(whole.reshape(len(whole), -1), index, values.reshape(len(index), -1))
        return
    axes, arrays = _as_integers(whole.shape, key)
    arrays = list(np.broadcast_arrays(*arrays))
    first = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    places = range(arrays[0].ndim)
    values = np.moveaxis(values, [first + i for i in places], list(places))
    arrays = [from_the_front(x, whole.shape[axis]) for axis, x in zip(axes, arrays, strict=True)]
    at: Any = np.intp(0)
    if axes == list(range(len(axes))):
        for axis, index in zip(axes, arrays, strict=True):
            at = at * whole.shape[axis] + index
        rows = int(np.prod([whole.shape[a] for a in axes]))
        add_rows(whole.reshape(rows, -1), at.ravel(), values.reshape(at.size, -1))
        return
    steps = [s // whole.itemsize for s in whole.strides]
    for axis, index in zip(axes, arrays, strict=True):
        at = at + index * steps[axis]
    for d in sorted({*range(whole.ndim)} - {*axes}):
        at = at[..., None] + np.arange(whole.shape[d]) * steps[d]
    np.add.at(whole.reshape(-1), at.reshape(-1), values.reshape(-1))


def from_the_front(index: Array, n: int) -> Array:
    """Return indices without negative ones, which count from the end."""
    return index if not index.size or index.min() >= 0 else np.where(index < 0, index + n, index)


def _as_integers(shape: tuple[int, ...], key: tuple[Any, ...]) -> tuple[list[int], list[Array]]:
    """Return the indexed axes and an integer array for each; masks become indices."""
    axes: list[int] = []
    arrays: list[Array] = []
    axis = 0
    for item in key:
        if isinstance(item, slice):
            axis += 1
            continue
        found = item.nonzero() if item.dtype == bool else (item,)
        axes += range(axis, axis + len(found))
        arrays += found
        axis += len(found)
    return axes, arrays


# ---- triangles ----------------------------------------------------------------------------------

_MASK_KEPT = 1 << 16  # elements: larger masks are not worth their memory


@functools.lru_cache(maxsize=16)
def _mask(n: int, m: int, diagonal: int, lower: bool, size: int) -> Array:
    """Return integers of ``size`` bytes: -1, whose bits are all set, in the triangle, else 0."""
    below = np.tri(n, m, diagonal if lower else diagonal - 1, dtype=bool)
    found = np.negative(below if lower else ~below, dtype=f"i{size}")
    found.flags.writeable = False
    return found


def triangle(x: Array, diagonal: int, lower: bool) -> Array:
    """Return ``np.tril(x, diagonal)``, or ``np.triu``, of matrices ``[..., n, m]``."""
    n, m = x.shape[-2:]
    if x.itemsize > 8 or n * m > _MASK_KEPT:
        return np.tril(x, diagonal) if lower else np.triu(x, diagonal)
    mask = _mask(n, m, diagonal, lower, x.itemsize)
    return np.bitwise_and(x.view(mask.dtype), mask, order="C").view(x.dtype)
