"""Maxima of windows, and where they are: arrays in, arrays out.

Planes are flat runs of elements, with the lowest number around each plane: so one call of numpy
compares all elements with their neighbours, for numpy's overhead per row would exceed the work on
its few elements. Results in between, which belong to no window, are left out at the end. Images
with the channels last are runs of pixels, and need no other layout.

Few windows, large ones and uneven ones are copied, for one call of ``argmax``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.layouts import channels_last, suggested
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.pooling.windows import Windows

_PART = 1 << 17  # elements per block
_FEW = 1 << 15  # elements of windows whose copies take less time than the calls on flat planes
_ROW = 16  # elements that take as long as finding the maximum of a short window


def by_planes(work: Callable[[slice], None], planes: int, size: int) -> None:
    """Call a function with slices of the planes, of which each has ``size`` elements."""
    if 0 < planes * size <= _PART:
        work(slice(planes))
    else:
        threads.each_slice(work, planes, at_once(planes, size), size)


def at_once(planes: int, size: int) -> int:
    """Return the number of planes in a block."""
    return max(1, min(planes, _PART // max(1, size)))


def maxima(x: Array, windows: Windows) -> Array:
    """Return the maximum of each of evenly spaced windows."""

    def find(planes: Array) -> tuple[Array]:
        if planes.ndim > 1 + len(windows.sizes) or not _are_few(planes, windows):
            return (_ranked(planes, windows, False)[0],)
        elements = planes.reshape(len(planes), math.prod(windows.sizes)).take(windows.columns, 1)
        return (np.maximum.reduce(elements, 1).reshape(len(planes), *windows.outputs),)

    return _collected(x, windows, find, x.dtype)[0]


def peaks(x: Array, windows: Windows) -> Any:
    """Return the maximum of each window, and its index in the plane.

    It is the first of equal ones, and the last NaN, as in PyTorch.
    """

    def find(planes: Array) -> tuple[Array, Array]:
        best, ranks, is_copied = _found(planes, windows)
        ones = (1,) * (planes.ndim - 1 - len(windows.sizes))
        if is_copied:
            first = windows.first.reshape(*windows.outputs, *ones)
            return best, windows.elements.reshape(-1).take(ranks + first)
        indices = windows.offsets.take(ranks)
        indices += windows.corners.reshape(*windows.outputs, *ones)
        return best, indices

    return _collected(x, windows, find, x.dtype, np.int64)


def ranked_peaks(x: Array, windows: Windows) -> Any:
    """Return the maximum of each window without padding, and its position there, in one byte."""

    def find(planes: Array) -> tuple[Array, Array]:
        best, ranks, _ = _found(planes, windows)
        return best, ranks.astype(np.uint8, copy=False)

    return _collected(x, windows, find, x.dtype, np.uint8)


def _collected(
    x: Array, windows: Windows, find: Callable[[Array], tuple[Array, ...]], *dtypes: Any
) -> tuple[Array, ...]:
    """Return the arrays that a function finds in planes, in the dimensions of ``x``.

    Args:
        x: the planes, or images with the channels last.
        windows: their windows.
        find: a function of an array with one dimension of planes.
        dtypes: those of the arrays.
    """
    planes = _folded(x, windows)
    shape = len(planes), *windows.outputs, *planes.shape[1 + len(windows.sizes) :]
    size = windows.room * math.prod(shape[1 + len(windows.sizes) :])
    if 0 < len(planes) * size <= _PART:
        results = [np.ascontiguousarray(found) for found in find(planes)]
        return tuple([_unfolded(result, x, windows) for result in results])
    results = [np.empty(shape, dtype) for dtype in dtypes]

    def work(part: slice) -> None:
        for result, found in zip(results, find(planes[part]), strict=True):
            result[part] = found

    if results[0].size:
        by_planes(work, len(planes), size)
    return tuple([_unfolded(result, x, windows) for result in results])


def has_channels_last(x: Array, rank: int) -> bool:
    """Return whether images have their channels last in memory, and several of them."""
    return rank == 2 and x.ndim == 4 and x.shape[1] > 1 and suggested(x) is channels_last


def _folded(x: Array, windows: Windows) -> Array:
    """Return an array with one dimension of planes, or of images."""
    rank = len(windows.sizes)
    if windows.steps and has_channels_last(x, rank):
        return np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    return x.reshape(math.prod(x.shape[: x.ndim - rank]), *windows.sizes)


def _unfolded(made: Array, x: Array, windows: Windows) -> Array:
    """Return what was found in the planes of ``x`` in its dimensions."""
    rank = len(windows.sizes)
    if made.ndim > 1 + rank:
        return made.transpose(0, 3, 1, 2)
    return made.reshape(*x.shape[: x.ndim - rank], *windows.outputs)


def _are_few(planes: Array, windows: Windows) -> bool:
    """Return whether copies of the windows take less time than calls on flat planes."""
    return planes.size // math.prod(windows.sizes) * windows.count * (windows.length + _ROW) <= _FEW


def _found(planes: Array, windows: Windows) -> tuple[Array, Array, bool]:
    """Return the maximum of each window, its position there, and whether windows were copied.

    Flat planes serve neither NaNs nor windows of the lowest number, which is also around them.
    """
    if not windows.apart and not _are_few(planes, windows):
        best, ranks = _ranked(planes, windows, True)
        if np.minimum.reduce(best, None) > _lowest(planes.dtype):
            return best, ranks, False
    return *_copied(planes, windows), True


# ---- windows copied -----------------------------------------------------------------------------


def _copied(planes: Array, windows: Windows) -> tuple[Array, Array]:
    """Return the maximum of each window and its position there, from copies of the windows."""
    if planes.ndim > 1 + len(windows.sizes):
        count, channels = len(planes), planes.shape[-1]
        found = _copied(planes.transpose(0, 3, 1, 2).reshape(-1, *windows.sizes), windows)
        best, ranks = (a.reshape(count, channels, *windows.outputs) for a in found)
        return best.transpose(0, 2, 3, 1), ranks.transpose(0, 2, 3, 1)
    length = windows.length
    rows = planes.reshape(len(planes), math.prod(windows.sizes))
    if windows.count > 1 or not windows.inside or length != rows.shape[1]:
        rows = rows.take(windows.elements.reshape(-1), 1)
    rows = rows.reshape(-1, length)
    ranks = rows.argmax(1)
    best = rows.reshape(-1).take(np.arange(0, rows.size, length) + ranks)
    if best.dtype.kind == "f" and math.isnan(np.minimum.reduce(best)):
        last = length - 1 - np.isnan(rows)[:, ::-1].argmax(1)
        ranks = np.where(np.isnan(best), last, ranks)
    shape = len(planes), *windows.outputs
    return best.reshape(shape), ranks.reshape(shape)


# ---- planes as runs of elements -----------------------------------------------------------------


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _ranked(planes: Array, windows: Windows, ranked: bool) -> tuple[Array, Any]:
    """Return the maximum of each window and, if ``ranked``, its position: the first of equal ones.

    The last dimension comes first, so elements of later rows have higher ranks.
    """
    flat, count, pixel = windows.flat, len(planes), planes.shape[1 + len(windows.sizes) :]
    if flat.target is None:
        x = planes.reshape(-1, *pixel)
    else:
        framed = np.full((count, *flat.frame, *pixel), _lowest(planes.dtype), planes.dtype)
        framed[flat.target] = planes[flat.source]
        x = framed.reshape(-1, *pixel)
    ranks: Any = flat.dtype.type(0) if ranked else None
    for shifts, step, numbers in flat.stages:
        best = np.empty((count * flat.size, *pixel), x.dtype)
        ranks = _along(best, x, shifts, step, ranks, numbers)
        x = best
    best = x.reshape(count, *flat.shape, *pixel)[flat.inside]
    if ranked and ranks.ndim:
        ranks = ranks.reshape(count, *flat.shape, *pixel)[flat.inside]
    elif ranked:  # windows of one element
        ranks = np.zeros(best.shape, ranks.dtype)
    return best, ranks


def _along(best: Array, x: Array, shifts: list[int], step: int, ranks: Any, numbers: int) -> Any:
    """Write the maxima of every ``step``-th element and those at shifts from it; return the ranks.

    Args:
        best: the maxima; the last of them are not written, where elements at the shifts lack.
        x: the elements.
        shifts: the distances, of which the first is 0.
        step: between the elements.
        ranks: those so far; None if they are not needed.
        numbers: the number of ranks so far.
    """
    parts = [x[shift::step] for shift in shifts]
    n = len(parts[-1])
    top = best[:n]
    if ranks is None or len(parts) == 1:
        np.maximum(parts[0][:n], parts[-1], out=top)
        for part in parts[1:-1]:
            np.maximum(top, part[:n], out=top)
        return ranks
    befores = [ranks[shift:][:n] if ranks.ndim else ranks for shift in shifts]
    found = np.empty(best.shape, ranks.dtype)
    above, code = parts[0][:n], befores[0]
    for k in range(1, len(parts)):
        part = parts[k][:n]
        wins = np.greater(part, above).view(np.uint8)
        rank = befores[k] + ranks.dtype.type(k * numbers)
        code = np.maximum(code, np.multiply(wins, rank), out=found[:n])
        above = np.maximum(above, part, out=top)
    return found
