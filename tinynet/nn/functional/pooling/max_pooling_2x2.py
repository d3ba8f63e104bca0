"""Max pooling of windows of 2 by 2 that share planes without a gap: what most networks use.

Where a maximum stands is kept as a number of one byte, the offset in its window. All of a plane is
one run of elements: its rows are mostly so short that numpy would spend more on a row than on its
elements.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from tinynet import numba_kernels, threads
from tinynet.dtypes import Array
from tinynet.nn.functional.dimensions import Ints
from tinynet.numba_kernels import pooling

_PART = 1 << 17  # elements of the input per block


def _planes_at_once(planes: int, size: int) -> int:
    return max(1, min(planes, _PART // max(1, size)))


def _share(work: Callable[[slice], None], planes: int, size: int) -> None:
    """Call a function with slices of the planes."""
    threads.in_turn(work, threads.slices(planes, _planes_at_once(planes, size)))


def _planes(x: Array) -> tuple[Array, Array]:
    """Return the planes without what no window sees, a row each, and memory for the maxima."""
    height, width = x.shape[-2] // 2, x.shape[-1] // 2
    seen = np.ascontiguousarray(x[..., : 2 * height, : 2 * width])
    best = np.empty((math.prod(x.shape[:-2]), height, width), x.dtype)
    return seen.reshape(len(best), 4 * height * width), best


def maxima(x: Array) -> Array:
    """Return the maximum of each window, ``[..., height // 2, width // 2]``."""
    if numba_kernels.on and x.dtype == np.float32:
        return _peaks_compiled(np.ascontiguousarray(x))[0]
    planes, best = _planes(x)

    def work(part: slice) -> None:
        flat, width = planes[part].reshape(-1), best.shape[2]
        pairs = np.maximum(flat[::2], flat[1::2])
        rows = np.empty_like(pairs)  # from every row; every second one is wanted
        np.maximum(pairs[:-width], pairs[width:], out=rows[:-width])
        best[part] = rows.reshape(-1, best.shape[1], 2, width)[:, :, 0]

    _share(work, *planes.shape)
    return best.reshape(*x.shape[:-2], *best.shape[1:])


def peaks(x: Array) -> tuple[Array, Array]:
    """Return the maximum of each window, and the offset of the first of it: 0 to 3, row by row.

    Of elements of which some are NaN, the last NaN is the maximum, as in PyTorch.
    """
    if numba_kernels.on and x.dtype == np.float32:
        return _peaks_compiled(np.ascontiguousarray(x))
    planes, best = _planes(x)
    offsets = np.empty(best.shape, np.uint8)

    def work(part: slice) -> None:
        flat, width = planes[part].reshape(-1), best.shape[2]
        left, right = (np.ascontiguousarray(flat[i::2]) for i in range(2))
        beside = np.greater(right, left).view(np.uint8)
        np.maximum(left, right, out=left)
        above, below, codes = left[:-width], left[width:], np.empty_like(beside)
        lower = np.greater(below, above).view(np.uint8)
        np.maximum(above, below, out=right[:-width])
        code = np.bitwise_xor(beside[:-width], beside[width:], out=codes[:-width])
        code &= lower  # which of both rows says whether it is the right one
        code ^= beside[:-width]
        code |= np.add(lower, lower, out=lower)
        shape = -1, best.shape[1], 2, width
        best[part], offsets[part] = (a.reshape(shape)[:, :, 0] for a in (right, codes))

    _share(work, *planes.shape)
    if best.size and best.dtype.kind == "f" and np.isnan(best.min()):
        windows = planes.reshape(len(best), best.shape[1], 2, best.shape[2], 2)
        for offset in range(4):
            offsets[np.isnan(windows[:, :, offset // 2, :, offset % 2])] = offset
    shape = *x.shape[:-2], *best.shape[1:]
    return best.reshape(shape), offsets.reshape(shape)


def _peaks_compiled(x: Array) -> tuple[Array, Array]:
    shape = *x.shape[:-2], x.shape[-2] // 2, x.shape[-1] // 2
    best, offsets = np.empty(shape, np.float32), np.empty(shape, np.uint8)
    planes = [a.reshape(-1, *a.shape[-2:]) if a.size else a for a in (x, best, offsets)]
    if best.size:
        pooling.peaks(*planes)
    return best, offsets


def _spread_compiled(g: Array, offsets: Array, sizes: Ints) -> Array:
    even = not (sizes[0] % 2 or sizes[1] % 2)
    made = (np.empty if even else np.zeros)((len(g), *sizes), np.float32)
    pooling.spread(np.ascontiguousarray(g), np.ascontiguousarray(offsets), made)
    return made.reshape(len(g), math.prod(sizes))


@functools.lru_cache(maxsize=32)
def _corners(planes: int, height: int, width: int, sizes: Ints) -> Array:
    """Return where in planes of ``sizes`` the windows begin, in all planes together."""
    rows = sizes[1] * (sizes[0] * np.arange(planes)[:, None] + 2 * np.arange(height))
    return rows[..., None] + 2 * np.arange(width)


def _steps(offsets: Array, row: int) -> Array:
    """Return how far from the beginning of its window an element at an offset stands."""
    return np.take(np.array([0, 1, row, row + 1]), offsets)


def places(offsets: Array, sizes: Ints) -> Array:
    """Return where in its plane of ``sizes`` the element at the offset of each window stands."""
    found = _steps(offsets, sizes[1])
    found += _corners(1, *offsets.shape[-2:], sizes)[0]
    return found


def spread(g: Array, offsets: Array, sizes: Ints) -> Array:
    """Return planes of ``sizes`` of zeros, with each element at the offset of its window."""
    planes = math.prod(g.shape[:-2])
    g, offsets = (a.reshape(planes, *a.shape[-2:]) for a in (g, offsets))
    if numba_kernels.on and g.dtype == np.float32:
        return _spread_compiled(g, offsets, sizes)
    made = np.zeros((planes, math.prod(sizes)), g.dtype)
    corners = _corners(_planes_at_once(*made.shape), *g.shape[1:], sizes)

    def work(part: slice) -> None:
        found = _steps(offsets[part], sizes[1])
        found += corners[: len(found)]
        made[part].reshape(-1)[found.reshape(-1)] = g[part].reshape(-1)

    _share(work, *made.shape)
    return made
