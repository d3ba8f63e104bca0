"""Accurate sums of arrays over axes, remainders of float32 numbers, and sums of exponentials.

BLAS sums blocks of at most some hundred numbers. The error of a sum of n numbers grows with n if
they are added one after the other, but with log n if partial sums are added (Higham, "The accuracy
of floating point summation", 1993). numpy sums pairwise only along the contiguous axis. A product
with ones is several times faster and uses all SIMD lanes; long rows are split into blocks whose
sums are added in float64.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.dtypes import FLOATING, Array
from tinynet.kernels.threads import blockwise

add_up: Callable[..., Array] = np.add.reduce  # numpy's types know no ``keepdims: bool``
multiply_up: Callable[..., Array] = np.multiply.reduce

_MANY = 2**12  # size from which a product with ones is faster
_LONG, _PART = 2048, 256  # length from which rows are split, and the length of a block
_DOTS = 1024  # block length for dot products, which BLAS adds in four times as many lanes
_CACHED = 2**14  # elements of which some float64 copies fit in the cache
_SHORT = 24  # rows up to this length are too short for a BLAS call each
_FEW, _TALL, _WIDE = 128, 32, 256  # number of rows that is not split; rows and columns of a block


def sum_kind(array: Array, dtype: Any) -> Any:
    """Return the dtype to sum in: as given, else int64 for integers and booleans."""
    if dtype is not None:
        return dtypes.as_numpy(dtype)
    return array.dtype if dtypes.is_inexact(array.dtype) else np.dtype(np.int64)


def ones(count: int, kind: np.dtype[Any]) -> Array:
    """Return a vector of ones, for sums by products. Callers must not write to it."""
    return _kept_ones(count, kind) if count <= _MANY else np.ones(count, kind)


@functools.lru_cache(maxsize=64)  # a layer needs the same vector in each call
def _kept_ones(count: int, kind: np.dtype[Any]) -> Array:
    made = np.ones(count, kind)
    made.flags.writeable = False
    return made


@functools.lru_cache(maxsize=256)
def numbers(kind: np.dtype[Any], *values: float) -> tuple[Array, ...]:
    """Return numbers as arrays, since numpy takes twice as long to convert Python's."""
    return tuple(np.array(value, kind) for value in values)


def sums(x: Array, axes: tuple[int, ...] | None, keepdim: bool, dtype: Any = None) -> Array:
    """Return sums over axes (None: all) in a dtype (None: that of `sum_kind`)."""
    if dtype is not None or x.dtype.kind not in FLOATING:
        return add_up(x, axis=axes, keepdims=keepdim, dtype=sum_kind(x, dtype))
    if x.dtype.itemsize == 2:
        return np.asarray(sums(x.astype(np.float32), axes, keepdim)).astype(x.dtype)
    if x.size <= 2 * _FEW:
        return add_up(x, axis=axes, keepdims=keepdim)
    if axes == (0,) and x.ndim == 2 and x.shape[1] > 1 and x.flags.c_contiguous:
        found = column_sums(x)
        return found[None] if keepdim else found
    axes = tuple(range(x.ndim)) if axes is None else axes
    if x.size < _MANY and _are_few(x.shape, axes):
        return add_up(x, axis=axes, keepdims=keepdim)
    if x.flags.c_contiguous:
        found = _contiguous_sums(x, axes)
    elif 0 in x.strides:  # expanded: a copy could be far larger than what is there
        return add_up(x, axis=axes, keepdims=keepdim)
    else:
        order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
        moved = np.ascontiguousarray(
            x.transpose(order)
        )  # in the order of memory: most often a view
        found = _contiguous_sums(moved, tuple(order.index(axis) for axis in axes))
        found = found.transpose([order.index(axis) for axis in range(x.ndim)])
    if keepdim:
        return found
    kept = found.reshape([n for axis, n in enumerate(x.shape) if axis not in axes])
    return kept if kept.ndim else kept[()]


def _are_few(shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Return whether numpy adds only few numbers in sequence: the last axis is pairwise."""
    return math.prod(shape[axis] for axis in axes if axis < len(shape) - 1) <= _FEW


def _contiguous_sums(x: Array, axes: tuple[int, ...]) -> Array:
    """Return sums of a contiguous array with its axes kept; adjacent axes are summed together."""
    left = set(axes)
    while left:
        first = last = max(left)
        while first in left:
            left.remove(first)
            first -= 1
        before, many = math.prod(x.shape[: first + 1]), math.prod(x.shape[first + 1 : last + 1])
        after = math.prod(x.shape[last + 1 :])
        shape = x.shape[: first + 1] + (1,) * (last - first) + x.shape[last + 1 :]
        if after == 1:
            x = row_sums(x.reshape(before, many)).astype(x.dtype, copy=False).reshape(shape)
        else:
            x = column_sums(x.reshape(before, many, after)).reshape(shape)
    return x


def row_sums(x: Array) -> Array:
    """Return the sums of the rows of ``[rows, n]``, in float64 if rows are split."""
    n = x.shape[1]
    if n == 1:
        return x[:, 0].copy()
    length = _part(n)
    if length == n:
        return x.dot(_kept_ones(n, x.dtype))  # two calls in Python less, which few rows notice
    if length:  # one product is faster than one for each row
        parts = np.dot(x.reshape(-1, length), ones(length, x.dtype)).reshape(len(x), -1)
        return np.dot(parts.astype(np.float64, copy=False), ones(n // length, np.dtype(np.float64)))
    whole = n // _PART * _PART
    parts = np.matmul(x[:, :whole].reshape(len(x), -1, _PART), ones(_PART, x.dtype))
    total = add_up(parts, axis=1, dtype=np.float64)
    total += np.dot(x[:, whole:], ones(n - whole, x.dtype))
    return total


@functools.lru_cache(maxsize=1024)
def _part(n: int) -> int:
    """Return the length of equal parts of a row: n itself if that is short; 0 if there is none."""
    if n < 2 * _PART:
        return n
    length = next((k for k in range(_PART, _PART // 4, -1) if n % k == 0), 0)
    return length or (n if n < _LONG else 0)


def row_dots(a: Array, b: Array) -> Array:
    """Return dot products of the rows ``[rows, n]`` with other rows, or with one vector ``[n]``."""
    n = a.shape[1]
    if n == 1:
        return a[:, 0] * b[..., 0]
    if b.ndim == 1 and n < _LONG:
        return np.dot(a, b)
    if n < _SHORT and len(a) > _FEW:
        return np.einsum("ij,ij->i", a, b)
    if n < 2 * _LONG:
        return np.vecdot(a, b)
    whole = n // _DOTS * _DOTS
    one, other = (x[..., :whole].reshape(*x.shape[:-1], -1, _DOTS) for x in (a, b))
    total = add_up(np.vecdot(one, other), axis=1, dtype=np.float64)
    if whole < n:
        total += np.vecdot(a[:, whole:], b[..., whole:])
    return total.astype(a.dtype, copy=False)


def rows_of(x: Array, axes: tuple[int, ...]) -> Array:
    """Return ``[rows, n]``: what each sum over axes meets, a view where that is possible."""
    kept = x.ndim - len(axes)
    last = tuple(range(kept, x.ndim))
    x = x if axes == last else np.moveaxis(x, axes, last)
    return x.reshape(math.prod(x.shape[:kept]), math.prod(x.shape[kept:]))


def square_sums(x: Array, axes: tuple[int, ...], keepdim: bool) -> Array:
    """Return the sums of squared sizes over axes."""
    kept = x.ndim - len(axes)
    if x.dtype.kind == "f" and x.flags.c_contiguous and axes == tuple(range(kept, x.ndim)):
        rows = rows_of(x, axes)
        return row_dots(rows, rows).reshape(x.shape[:kept] + (1,) * len(axes) * keepdim)
    return sums(np.square(np.abs(x) if x.dtype.kind == "c" else x), axes, keepdim)


def moments(rows: Array) -> tuple[Array, Array]:
    """Return the means of ``[rows, n]``, and the sums of squared distances from them, in float64.

    Parts that fit in the cache are combined as in Chan, Golub and LeVeque, "Updating formulae and a
    pairwise algorithm for computing sample variances" (1979).
    """
    count, n = rows.shape
    if n > _CACHED:
        parts = [moments(rows[:, i : i + _CACHED]) for i in range(0, n, _CACHED)]
        sizes = np.minimum(n - np.arange(0, n, _CACHED), _CACHED)
        means = np.stack([mean for mean, _ in parts])
        center = np.dot(sizes, means) / n
        apart = np.dot(sizes, np.square(np.abs(means - center)))
        return center, add_up([total for _, total in parts], axis=0) + apart
    if count * n > _CACHED:
        step = max(_CACHED // n, 1)
        blocks = (moments(rows[i : i + step]) for i in range(0, count, step))
        means, totals = map(np.concatenate, zip(*blocks, strict=True))
        return means, totals
    wide = rows.astype(np.complex128 if rows.dtype.kind == "c" else np.float64)
    every = ones(n, wide.dtype)
    means = wide.dot(every) / np.float64(n)
    wide -= means[:, None]
    rest = wide.dot(every)  # zero except for the rounding of the mean
    totals = np.vecdot(wide, wide).real - (rest * rest.conj()).real / max(n, 1)
    return means, np.maximum(totals, 0)


def products(x: Array, axes: tuple[int, ...], keepdim: bool, kind: np.dtype[Any]) -> Array:
    """Return products over axes in a dtype.

    Halves of long rows are multiplied: numpy goes along a row number by number.
    """
    kept = x.ndim - len(axes)
    shape = x.shape[:kept] + (1,) * len(axes) * keepdim
    if x.size < 4 * _MANY or not x.flags.c_contiguous or axes != tuple(range(kept, x.ndim)):
        return multiply_up(x, axis=axes, keepdims=keepdim, dtype=kind)
    rows = rows_of(x, axes).astype(kind, copy=False)
    while (n := rows.shape[1]) > _SHORT:
        half = n // 2
        halves = rows[:, :half] * rows[:, half : 2 * half]
        if n % 2:
            halves[:, 0] *= rows[:, -1]
        rows = halves
    return multiply_up(rows, axis=1).reshape(shape)


def column_sums(x: Array) -> Array:
    """Return the sums of columns, ``[..., n]`` of ``[..., rows, n]``.

    Several adjacent short rows are treated as a long one.
    """
    *before, rows, n = x.shape
    if rows <= _FEW:
        return np.matmul(ones(rows, x.dtype), x)
    if rows <= 2 * _FEW:
        return column_sums(x[..., :_FEW, :]) + column_sums(x[..., _FEW:, :])
    side_by_side = min(max(_WIDE // n, 1), rows // _TALL)
    whole = rows // (_TALL * side_by_side) * (_TALL * side_by_side)
    parts = x[..., :whole, :].reshape(*before, -1, _TALL, side_by_side * n)
    found = np.matmul(ones(_TALL, x.dtype), parts).astype(np.float64, copy=False)
    total = column_sums(found.reshape(*before, -1, n))
    if whole < rows:
        total += column_sums(x[..., whole:, :])
    return total.astype(x.dtype, copy=False)


def weighted_sums(weights: Array, x: Array) -> Array:
    """Return ``weights @ x`` for ``[rows]`` and ``[rows, n]``, in blocks of rows."""
    rows, n = x.shape
    whole = rows // _FEW * _FEW
    if not whole:
        return np.dot(weights, x)
    stacked = weights[:whole].reshape(-1, 1, _FEW), x[:whole].reshape(-1, _FEW, n)
    total = add_up(np.matmul(*stacked), axis=(0, 1), dtype=np.float64)
    if whole < rows:
        total += np.dot(weights[whole:], x[whole:])
    return total.astype(x.dtype, copy=False)


# ---- remainders and rounded quotients of float32, from quotients in float64 ---------------------
# The C library divides one number after the other, in 16 ns. In float64, the quotient of two
# float32 numbers below 2**24 is never rounded to a whole number, so its whole part and the
# remainder are exact.

_FEW_QUOTIENTS = 512  # elements: fewer take longer in several calls
_EXACT = 2.0**22  # from here on, numpy rounds quotients before their floor, as PyTorch does


def divided(ufunc: np.ufunc, self: Array, other: Array) -> Array:
    """Return ``ufunc(self, other)`` for ``fmod``, ``remainder`` or ``floor_divide``."""
    if self.size < _FEW_QUOTIENTS or not self.dtype == other.dtype == np.float32:
        found: Array = ufunc(self, other)
        return found
    return _by_quotient(self, other, ufunc)


@blockwise
def _by_quotient(self: Array, other: Array, ufunc: np.ufunc) -> Array:
    a, b = self.astype(np.float64), other.astype(np.float64)
    quotient = a / b
    (np.trunc if ufunc is np.fmod else np.floor)(quotient, out=quotient)
    exact = np.abs(quotient) < _EXACT
    exact &= np.isfinite(b)
    if ufunc is np.floor_divide:
        found = quotient.astype(np.float32)
    else:
        quotient *= b
        found = np.subtract(a, quotient, out=quotient).astype(np.float32)
        np.copysign(found, self if ufunc is np.fmod else other, out=found)
    if not exact.all():
        left = ~exact
        pair = (np.broadcast_to(x, left.shape)[left] for x in (self, other))
        found[left] = ufunc(*pair)
    return found


_FEW_SUMS = 256  # elements: fewer take longer in several calls


@blockwise
def log_added(a: Array, b: Array) -> Array:
    """Return ``log(exp(a) + exp(b))``; numpy's loop over C's functions takes ten times as long."""
    if a.dtype.itemsize == 2 or max(a.size, b.size) <= _FEW_SUMS:
        return np.logaddexp(a, b)
    larger, found = np.maximum(a, b), np.minimum(a, b)
    found -= larger
    np.fmax(found, -np.inf, out=found)  # equal infinities have no difference
    np.log1p(np.exp(found, out=found), out=found)
    found += larger
    return found
