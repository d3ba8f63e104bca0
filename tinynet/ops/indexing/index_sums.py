"""Sums by index on arrays: the derivatives of gather, index_select and indexing.

``np.add.at`` is fast on flat arrays only. Adding entire rows is faster still where rows are long:
each round adds one row per index.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels.sums import column_sums

_LONG_ROW = 24  # elements; in shorter rows, the overhead per row dominates
_SUM = 3  # cost of the sum of the rows of one index, in rounds


def add_rows(whole: Array, index: Array, rows: Array) -> None:
    """Add ``rows[i]`` to row ``index[i]`` of ``whole`` in place.

    Args:
        whole: two dimensions, contiguous.
        index: one dimension, integers in range.
        rows: two dimensions, as wide as ``whole``.
    """
    width = whole.shape[1]
    if width >= _LONG_ROW and len(index):
        _add_long_rows(whole, index, rows)
        return
    at = index if width == 1 else (index[:, None] * np.intp(width) + np.arange(width)).reshape(-1)
    np.add.at(whole.reshape(-1), at, rows.reshape(-1))


def _add_long_rows(whole: Array, index: Array, rows: Array) -> None:
    """Do what ``add_rows`` does in rounds; then sum the rows of few indices that repeat often."""
    bits = len(index).bit_length()
    keys = (index.astype(np.int64) << bits) | np.arange(len(index))
    keys.sort()  # numpy sorts numbers faster than it finds their order
    order, first = keys & ((1 << bits) - 1), np.flatnonzero(np.diff(keys >> bits, prepend=-1))
    counts = np.diff(first, append=len(index))
    rank = np.argsort(-counts, kind="stable")  # each round adds to the first sums
    first, counts = first[rank], counts[rank]
    left = len(first) - np.cumsum(np.bincount(counts))  # number of indices after each round
    rounds = int(np.argmin(np.arange(len(left)) + _SUM * left))
    at = index[order[first]]
    sums = whole.take(at, 0)
    for number, count in enumerate(left[:rounds]):
        sums[:count] += rows.take(order[first[:count] + number], 0)
    for i in range(left[rounds]):
        sums[i] += column_sums(rows.take(order[first[i] + rounds : first[i] + counts[i]], 0))
    whole[at] = sums


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
