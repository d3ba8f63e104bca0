"""Input layouts of normalisations: ``[samples, groups, channels, places]``, by rows or columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.sums import add_up, column_sums, row_dots, row_sums

PART = 1 << 16  # elements per block


class Blocks(NamedTuple):
    """The partition of an input: ``[samples, groups, channels, places]``.

    Batch norm uses ``[N, C, 1, places]`` with ``shared``, group norm ``[N, G, C / G, places]``,
    layer norm ``[rows, 1, n, 1]``. Instance norm is batch norm of ``[1, N * C, 1, places]``.

    Attributes:
        shared: whether all samples have the same statistics.
    """

    samples: int
    groups: int
    channels: int
    places: int
    shared: bool = False


def wide(x: Array) -> Array:
    """Return ``x``; float16 as float32, since long sums in float16 lose all precision."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


class Rows:
    """An array as rows of places, with one number per channel for each row.

    Threads share the rows, in parts that stay in the cache from one line of a formula to the next.
    """

    def __init__(self, blocks: Blocks):
        self.blocks = blocks
        self.shape = (blocks.samples * blocks.groups * blocks.channels, blocks.places)
        self.small = blocks[:3]
        rows = max(1, PART // max(blocks.places, 1))
        self.parts = threads.slices(self.shape[0], rows)

    def each(self, work: Callable[[slice], object]) -> None:
        """Call a function with each part of the rows."""
        with threads.row_by_row(self.blocks.places):
            for part in self.parts:
                work(part)

    def memory(self) -> Array:
        """Return memory for sums over places, in float64."""
        return np.empty(self.shape[0])

    def total(self, a: Array, part: slice, out: Array) -> None:
        """Write the sums over places of a part."""
        out[part] = row_sums(a[part])

    def dot(self, a: Array, b: Array, part: slice, out: Array) -> None:
        """Write the sums over places of the products of a part."""
        out[part] = row_dots(a[part], b[part])

    def spread(self, a: Array, kind: Any) -> Array:
        """Return numbers per channel in a shape that broadcasts to the rows."""
        column = np.empty(self.small, kind)
        column[...] = a
        return column.reshape(-1, 1)

    def average(self, totals: Array) -> Array:
        """Return averages per group from sums over places, ``[samples or 1, groups, 1]``."""
        samples, _, channels, places, shared = self.blocks
        count = channels * places * (samples if shared else 1)
        axis = (0, 2) if shared else (2,)
        return add_up(totals, axis=axis, keepdims=True) / max(count, 1)


class Columns:
    """An array with one row per sample, for few places, since numpy is slow at short rows.

    For shared statistics only, as sums include the samples. There is only one part.
    """

    def __init__(self, blocks: Blocks):
        self.blocks = blocks
        self.shape = (blocks.samples, blocks.groups * blocks.places)
        self.small = (1, blocks.groups, 1)

    def each(self, work: Callable[[slice], object]) -> None:
        """Call a function with all samples."""
        work(slice(None))

    def memory(self) -> Array:
        """Return memory for sums over samples and places."""
        return np.empty(self.blocks.groups)

    def total(self, a: Array, part: slice, out: Array) -> None:
        """Write the sums over samples and places."""
        out[...] = row_sums(column_sums(a).reshape(self.blocks.groups, -1))

    def dot(self, a: Array, b: Array, part: slice, out: Array) -> None:
        """Write the sums over samples and places of products."""
        self.total(a * b, part, out)

    def spread(self, a: Array, kind: Any) -> Array:
        """Return numbers per channel, one for each column."""
        return np.repeat(a.reshape(-1).astype(kind, copy=False), self.blocks.places)[None]

    def average(self, totals: Array) -> Array:
        """Return averages per group from sums over samples and places, ``[1, groups, 1]``."""
        return totals / max(self.blocks.samples * self.blocks.places, 1)


def layout_of(blocks: Blocks) -> Rows | Columns:
    """Return the faster layout for an array; the limits are measured."""
    if blocks.shared and blocks.places < 96 and blocks.samples > 3:
        return Columns(blocks)
    return Rows(blocks)
