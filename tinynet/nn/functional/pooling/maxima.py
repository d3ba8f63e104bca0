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
        threads.in_turn(work, threads.slices(planes, at_once(planes, size)))


def at_once(planes: int, size: int) -> int:
    """Return the number of planes in a block."""
    return max(1, min(planes, _PART // max(1, size)))


def maxima(x: Array, windows: Windows) -> Array:
    """Return the maximum of each of evenly spaced windows."""
    planes, best = _folded(x, windows)

    def work(part: slice) -> None:
        best[part] = _ranked(planes[part], windows, False)[0]

    if best.size:
        by_planes(work, len(planes), math.prod(windows.flat.frame) * _pixel(planes, windows))
    return _unfolded(best, x, windows)


def peaks(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Return the maximum of each window, and its index in the plane.

    It is the first of equal ones, and the last NaN, as in PyTorch.
    """
    planes, best = _folded(x, windows)
    indices = np.empty(best.shape, np.int64)
    ones = (1,) * (planes.ndim - 1 - len(windows.sizes))

    def work(part: slice) -> None:
        best[part], ranks, is_copied = _found(planes[part], windows)
        if is_copied:
            first = windows.first.reshape(*windows.outputs, *ones)
            indices[part] = windows.elements.reshape(-1).take(ranks + first)
        else:
            np.take(windows.offsets, ranks, out=indices[part], mode="clip")  # "raise" is slower
            indices[part] += windows.corners.reshape(*windows.outputs, *ones)

    if best.size:
        by_planes(work, len(planes), windows.room * _pixel(planes, windows))
    return _unfolded(best, x, windows), _unfolded(indices, x, windows)


def ranked_peaks(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Return the maximum of each window without padding, and its position there, in one byte."""
    planes, best = _folded(x, windows)
    ranks = np.empty(best.shape, np.uint8)

    def work(part: slice) -> None:
        best[part], ranks[part], _ = _found(planes[part], windows)

    if best.size:
        by_planes(work, len(planes), windows.room * _pixel(planes, windows))
    return _unfolded(best, x, windows), _unfolded(ranks, x, windows)


def has_channels_last(x: Array, rank: int) -> bool:
    """Return whether images have their channels last in memory, and several of them."""
    return rank == 2 and x.ndim == 4 and x.shape[1] > 1 and suggested(x) is channels_last


def _folded(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Return an array with one dimension of planes, or of images, and memory for the maxima."""
    rank = len(windows.sizes)
    if windows.steps and has_channels_last(x, rank):
        images = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        return images, np.empty((len(x), *windows.outputs, x.shape[1]), x.dtype)
    lead = math.prod(x.shape[: x.ndim - rank])
    return x.reshape(lead, *windows.sizes), np.empty((lead, *windows.outputs), x.dtype)


def _unfolded(made: Array, x: Array, windows: Windows) -> Array:
    """Return what was found in the planes of ``x`` in its dimensions."""
    rank = len(windows.sizes)
    if made.ndim > 1 + rank:
        return made.transpose(0, 3, 1, 2)
    return made.reshape(*x.shape[: x.ndim - rank], *windows.outputs)


def _pixel(planes: Array, windows: Windows) -> int:
    """Return the number of channels at each place of the planes."""
    return math.prod(planes.shape[1 + len(windows.sizes) :])


def _found(planes: Array, windows: Windows) -> tuple[Array, Array, bool]:
    """Return the maximum of each window, its position there, and whether windows were copied.

    Flat planes serve neither NaNs nor windows of the lowest number, which is also around them.
    """
    few = planes.size // math.prod(windows.sizes) * windows.count * (windows.length + _ROW) <= _FEW
    if not few and not windows.apart:
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
    best = rows.reshape(-1).take(ranks + np.arange(len(rows)) * length)
    if best.dtype.kind == "f" and np.isnan(np.minimum.reduce(best)):
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
