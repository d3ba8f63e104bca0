"""Max pooling of windows of 2 by 2 with a stride of 2, which most networks use.

The position of a maximum is its offset in the window, stored in one byte. A plane is processed as
one run of elements, since numpy's overhead per row would exceed the work on its few elements.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels import numba as numba_kernels
from tinynet.kernels import threads
from tinynet.nn.functional.dimensions import Ints

_PART = 1 << 17  # elements of the input per block


def _planes_at_once(planes: int, size: int) -> int:
    return max(1, min(planes, _PART // max(1, size)))


def _by_planes(work: Callable[[slice], None], planes: int, size: int) -> None:
    """Call a function with slices of the planes."""
    threads.in_turn(work, threads.slices(planes, _planes_at_once(planes, size)))


def _planes(x: Array) -> tuple[Array, Array]:
    """Return the planes, cropped to whole windows and flat, and memory for the maxima."""
    height, width = x.shape[-2] // 2, x.shape[-1] // 2
    cropped = np.ascontiguousarray(x[..., : 2 * height, : 2 * width])
    best = np.empty((math.prod(x.shape[:-2]), height, width), x.dtype)
    return cropped.reshape(len(best), 4 * height * width), best


def maxima(x: Array) -> Array:
    """Return the maximum of each window, ``[..., height // 2, width // 2]``."""
    planes, best = _planes(x)

    def work(part: slice) -> None:
        flat, width = planes[part].reshape(-1), best.shape[2]
        pairs = np.maximum(flat[::2], flat[1::2])
        rows = np.empty_like(pairs)  # starting at every row; every second one is used
        np.maximum(pairs[:-width], pairs[width:], out=rows[:-width])
        best[part] = rows.reshape(-1, best.shape[1], 2, width)[:, :, 0]

    _by_planes(work, *planes.shape)
    return best.reshape(*x.shape[:-2], *best.shape[1:])


def peaks(x: Array) -> tuple[Array, Array]:
    """Return the maximum of each window and the offset of its first occurrence, row by row.

    In a window with NaNs, the last NaN is the maximum, as in PyTorch.
    """
    if numba_kernels.takes(x):
        return _compiled_peaks(x)
    planes, best = _planes(x)
    offsets = np.empty(best.shape, np.uint8)

    def work(part: slice) -> None:
        flat, width = planes[part].reshape(-1), best.shape[2]
        left, right = (np.ascontiguousarray(flat[i::2]) for i in range(2))
        is_right = np.greater(right, left).view(np.uint8)
        np.maximum(left, right, out=left)
        above, below, codes = left[:-width], left[width:], np.empty_like(is_right)
        is_below = np.greater(below, above).view(np.uint8)
        np.maximum(above, below, out=right[:-width])
        code = np.bitwise_xor(is_right[:-width], is_right[width:], out=codes[:-width])
        code &= is_below  # the column of the maximum, from the row that has it
        code ^= is_right[:-width]
        code |= np.add(is_below, is_below, out=is_below)
        shape = -1, best.shape[1], 2, width
        best[part], offsets[part] = (a.reshape(shape)[:, :, 0] for a in (right, codes))

    _by_planes(work, *planes.shape)
    if best.size and best.dtype.kind == "f" and np.isnan(best.min()):
        windows = planes.reshape(len(best), best.shape[1], 2, best.shape[2], 2)
        for offset in range(4):
            offsets[np.isnan(windows[:, :, offset // 2, :, offset % 2])] = offset
    shape = *x.shape[:-2], *best.shape[1:]
    return best.reshape(shape), offsets.reshape(shape)


def _compiled_peaks(x: Array) -> tuple[Array, Array]:
    """Do what ``peaks`` does, by a kernel."""
    shape = *x.shape[:-2], x.shape[-2] // 2, x.shape[-1] // 2
    best, offsets = np.empty(shape, np.float32), np.empty(shape, np.uint8)
    count = math.prod(shape[:-2])
    arrays = np.ascontiguousarray(x), best, offsets
    planes, tops, codes = (a.reshape(count, *a.shape[-2:]) for a in arrays)
    numba_kernels.images.max_pool(planes, tops, codes)
    return best, offsets


@functools.lru_cache(maxsize=32)
def _corners(planes: int, height: int, width: int, sizes: Ints) -> Array:
    """Return the flat index of the first element of each window, in planes of ``sizes``."""
    rows = sizes[1] * (sizes[0] * np.arange(planes)[:, None] + 2 * np.arange(height))
    return rows[..., None] + 2 * np.arange(width)


def _steps(offsets: Array, row: int) -> Array:
    """Return the flat index of each offset, relative to the first element of its window."""
    return np.take(np.array([0, 1, row, row + 1]), offsets)


def plane_indices(offsets: Array, sizes: Ints) -> Array:
    """Return the indices in planes of ``sizes`` of the elements at the offsets of the windows."""
    indices = _steps(offsets, sizes[1])
    indices += _corners(1, *offsets.shape[-2:], sizes)[0]
    return indices


def scatter(g: Array, offsets: Array, sizes: Ints) -> Array:
    """Return planes of zeros of ``sizes``, with each element at the offset of its window."""
    count = math.prod(g.shape[:-2])
    g, offsets = (a.reshape(count, *a.shape[-2:]) for a in (g, offsets))
    if numba_kernels.takes(g):
        made = np.empty((count, *sizes), np.float32)
        g, offsets = map(np.ascontiguousarray, (g, offsets))
        numba_kernels.images.max_pool_slope(g, offsets, made)
        return made.reshape(count, math.prod(sizes))
    planes = np.zeros((count, math.prod(sizes)), g.dtype)
    corners = _corners(_planes_at_once(*planes.shape), *g.shape[1:], sizes)

    def work(part: slice) -> None:
        indices = _steps(offsets[part], sizes[1])
        indices += corners[: len(indices)]
        planes[part].reshape(-1)[indices.reshape(-1)] = g[part].reshape(-1)

    _by_planes(work, *planes.shape)
    return planes
