"""Separable linear maps: one sparse matrix per dimension."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.nn.functional.checks import Ints

_BLOCK = 2**17  # elements of the planes that are mapped together, so that they stay in the cache
_LAST, _OTHER = 45, 28  # inputs per tap up to which a product with the whole matrix is faster
_RUNS, _SLICES = 8, 16  # and per slice that is added: one that is a run of elements, or another
_WHOLE = 1 << 12  # elements of the matrix of all dimensions up to which one product is faster
Slices = Sequence[tuple[slice, slice]]  # outputs, and as many inputs


class LinearMap:
    """A sparse matrix ``[outputs, inputs]`` of one dimension.

    Entries at the same place are added, and zeros are left out: an output depends only on inputs
    with a weight.

    Args:
        shape: the number of outputs and of inputs.
        rows, columns: the places of the entries.
        entries: the entries, in float64; 1 by default.
        kind: the dtype to compute in.
        slices: all places again, if they form few slices, and all entries are 1.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        rows: Array,
        columns: Array,
        entries: Array | None,
        kind: np.dtype[Any],
        slices: Slices = (),
    ):
        self.outputs, self.inputs = shape
        self.slices = slices
        self.kind = kind
        places = np.ravel(rows) * self.inputs + np.ravel(columns)
        places, entry = np.unique(places, return_inverse=True)
        sums = np.bincount(entry, None if entries is None else np.ravel(entries), len(places))
        used = np.flatnonzero(sums)
        self._entries = sums[used].astype(np.float64)
        self._rows, self._columns = np.divmod(places[used], max(self.inputs, 1))
        self._counts = np.bincount(self._rows, minlength=self.outputs)
        self.taps = max(1, int(self._counts.max(initial=0)))
        self.unused = _as_slice(np.flatnonzero(self._counts == 0))

    @cached_property
    def transposed(self) -> LinearMap:
        """The transposed matrix."""
        shape = (self.inputs, self.outputs)
        slices = [(columns, rows) for rows, columns in self.slices]
        return LinearMap(shape, self._columns, self._rows, self._entries, self.kind, slices)

    @classmethod
    def of_slices(cls, shape: tuple[int, int], slices: Slices, kind: np.dtype[Any]) -> LinearMap:
        """Return the map that adds slices of the inputs to slices of the outputs."""
        outputs, inputs = (np.arange(n) for n in shape)
        rows = np.concatenate([outputs[:0], *(outputs[target] for target, _ in slices)])
        columns = np.concatenate([inputs[:0], *(inputs[source] for _, source in slices)])
        return cls(shape, rows, columns, None, kind, slices)

    def is_small(self, last: bool) -> bool:
        """Return whether a product with the whole matrix is faster than one step for each tap."""
        if self.slices:
            each = all(target == slice(0, self.outputs) for target, _ in self.slices)
            are_runs = each and all(source.step == 1 for _, source in self.slices)
            limit = _RUNS if are_runs else _SLICES
            pays = self.taps > (2 if each else 1) and self.inputs <= limit * self.taps
            return self.kind.kind == "f" and pays
        is_selection = self.taps == 1 and self.steps[0][1] is None
        return not is_selection and self.inputs <= (_LAST if last else _OTHER) * self.taps

    @cached_property
    def matrix(self) -> Array:
        """The matrix itself."""
        matrix = np.zeros((self.outputs, self.inputs), self.kind)
        matrix[self._rows, self._columns] = self._entries
        return matrix

    @cached_property
    def steps(self) -> list[tuple[Any, Array | None]]:
        """The inputs of each output, tap by tap, and their weights: None if all are 1.

        An output with fewer taps than others repeats its last one: a weight w becomes w / 2 twice,
        which rounds to the same sum. The outputs in ``unused`` take any input.
        """
        columns = np.zeros((self.taps, self.outputs), np.int64)
        weights = np.ones((self.taps, self.outputs))
        tap = np.arange(len(self._rows)) - np.repeat(
            np.cumsum(self._counts) - self._counts, self._counts
        )
        columns[tap, self._rows], weights[tap, self._rows] = self._columns, self._entries
        for k in range(1, self.taps):
            short = self._counts <= k
            weights[k - 1, short] /= 2
            columns[k, short], weights[k, short] = columns[k - 1, short], weights[k - 1, short]
        return [
            (_as_slice(c), None if (w == 1).all() else w.astype(self.kind))
            for c, w in zip(columns, weights, strict=True)
        ]


def _as_slice(columns: Array) -> Any:
    """Return indices as a slice, which does not copy, if they are evenly spaced."""
    if not len(columns):
        return slice(0)
    step = int(columns[1] - columns[0]) if len(columns) > 1 else 1
    if step < 1 or (np.diff(columns) != step).any():
        return columns
    return slice(int(columns[0]), int(columns[-1]) + 1, step)


class SeparableMap:
    """A map of the last dimensions of arrays.

    Args:
        sizes: the sizes of these dimensions.
        maps: the map of each dimension; None leaves it unchanged.
    """

    def __init__(self, sizes: Ints, maps: Sequence[LinearMap | None]):
        self.sizes, self.maps = sizes, maps
        self.shape = tuple(n if m is None else m.outputs for n, m in zip(sizes, maps, strict=True))
        steps = [(d, m) for d, m in enumerate(maps) if m is not None]
        # Shrink from the first dimension, then grow from the last, where taps cost the most.
        shrinking = [step for step in steps if step[1].outputs < step[1].inputs]
        self._steps = shrinking + [step for step in reversed(steps) if step not in shrinking]
        self._small = {d for d, m in steps if m.is_small(last=d == len(maps) - 1)}
        self._together = max(1, _BLOCK // max(1, math.prod(sizes), math.prod(self.shape)))

    @cached_property
    def transposed(self) -> SeparableMap:
        """The transposed map."""
        return SeparableMap(self.shape, [m and m.transposed for m in self.maps])

    @cached_property
    def _whole(self) -> Array | None:
        """The matrix of all dimensions, ``[inputs, outputs]``, if a product with it is faster."""
        maps = [(n, m) for n, m in zip(self.sizes, self.maps, strict=True)]
        if not 0 < math.prod(self.sizes) * math.prod(self.shape) <= _WHOLE:
            return None
        matrices = [np.eye(n) if m is None else m.matrix for n, m in maps]
        kinds = {m.kind for m in self.maps if m is not None}
        if not all(kind.kind == "f" for kind in kinds):
            return None
        whole = functools.reduce(np.kron, matrices).T
        return np.ascontiguousarray(whole, *kinds)

    def __call__(self, x: Array) -> Array:
        """Return the map of an array.

        A product with a whole matrix also multiplies other inputs, by 0. If that is not 0 because
        one is infinite or NaN, the block of planes is mapped tap by tap.
        """
        lead = x.shape[: x.ndim - len(self.sizes)]
        planes = x.reshape(math.prod(lead), *self.sizes)
        if self._whole is not None and x.dtype == self._whole.dtype:
            made = np.dot(planes.reshape(len(planes), len(self._whole)), self._whole)
            if np.isfinite(made).all():
                return made.reshape(*lead, *self.shape)
        result = np.empty((*lead, *self.shape), x.dtype)
        results = result.reshape(len(planes), *self.shape)
        kind = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype
        for start in range(0, len(planes), self._together):
            block = planes[start : start + self._together].astype(kind, copy=False)
            out = results[start : start + self._together]
            target = out if kind == x.dtype else np.empty(out.shape, kind)
            if not self._map(block, self._small, target):
                self._map(block, set(), target)
            if target is not out:
                out[...] = target
        return result

    def _map(self, x: Array, by_product: set[int], out: Array) -> bool:
        """Map a block of planes; return False if a product may have spread an infinity or NaN."""
        source = x
        for d, one in self._steps:
            source, last = x, d == self._steps[-1][0]
            target = out if last else _empty(x, d + 1, one.outputs)
            by_taps = _by_slices if one.slices else _by_taps
            (_by_product if d in by_product else by_taps)(x, d + 1, one, target)
            x = target
        if not self._steps:
            out[...] = x
        # One in the input of the last step would be in its output, too: the smaller one shows it.
        smaller = source if source.size < out.size else out
        return not by_product or bool(np.isfinite(smaller).all())


def _empty(x: Array, axis: int, count: int) -> Array:
    return np.empty((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)


def _by_product(x: Array, axis: int, one: LinearMap, out: Array) -> None:
    if axis == x.ndim - 1:
        rows = x.reshape(math.prod(x.shape[:-1]), one.inputs)
        np.dot(rows, one.matrix.T, out=out.reshape(len(rows), one.outputs))
        return
    before, after = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    blocks = x.reshape(before, one.inputs, after)
    np.matmul(one.matrix, blocks, out=out.reshape(before, one.outputs, after))


def _by_slices(x: Array, axis: int, one: LinearMap, out: Array) -> None:
    at: tuple[Any, ...] = (slice(None),) * axis
    parts = [(out[(*at, target)], x[(*at, source)]) for target, source in one.slices]
    if one.taps == 1:  # no output is in two slices
        out[(*at, one.unused)] = 0
        for target, part in parts:
            target[...] = part
        return
    if all(target.shape == out.shape for target, _ in parts[:2]):
        np.add(parts[0][1], parts[1][1], out=out)
        parts = parts[2:]
    else:
        out[...] = 0
    for target, part in parts:
        target += part


def _by_taps(x: Array, axis: int, one: LinearMap, out: Array) -> None:
    at: tuple[Any, ...] = (slice(None),) * axis
    broadcast = (-1, *(1,) * (x.ndim - 1 - axis))
    part = np.empty_like(out) if one.taps > 1 else None
    target: Any = out
    for columns, weights in one.steps:
        source = x[(*at, columns)] if isinstance(columns, slice) else None
        if source is None:  # "clip" writes to the target without a buffer
            source = np.take(x, columns, axis, out=target, mode="clip")
        if weights is not None:
            source = np.multiply(source, weights.reshape(broadcast), out=target)
        if target is not out:
            out += source
        elif source is not out:
            out[...] = source
        target = part
    out[(*at, one.unused)] = 0
