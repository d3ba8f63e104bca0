"""The operations behind max pooling: maxima of windows, and their indices.

They are operations for speed: along one dimension after the other, a loop over the few offsets in
a window handles all windows at once.
As in PyTorch, 1d pooling is 2d pooling with a first dimension of length 1.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.dtypes import Array
from tinynet.kernels import numba as numba_kernels
from tinynet.kernels import threads
from tinynet.nn.functional.checks import Ints, by_rank, not_implemented, spatial
from tinynet.nn.functional.pooling.windows import (
    Index,
    Options,
    Taps,
    Windows,
    adaptive,
    check_gradient,
    sliding,
)

# ---- max pooling 2x2 ----------------------------------------------------------------------------
# Max pooling of windows of 2 by 2 with a stride of 2, which most networks use.
#
# The position of a maximum is its offset in the window, stored in one byte. A plane is processed as
# one run of elements, since numpy's overhead per row would exceed the work on its few elements.


_PART = 1 << 17  # elements of the input per block
_SMALL = 1 << 10  # windows for which few calls matter more than fast ones
_ADDED = 1 << 16  # and of the gradient, where elements are added at indices


def _planes_at_once(planes: int, size: int) -> int:
    return max(1, min(planes, _PART // max(1, size)))


def _by_planes(work: Callable[[slice], None], planes: int, size: int) -> None:
    """Call a function with slices of the planes."""
    if 0 < planes * size <= _PART:
        work(slice(planes))
    else:
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
    shape = *x.shape[:-2], *best.shape[1:]
    windows = planes.reshape(len(best), best.shape[1], 2, best.shape[2], 2)
    if 0 < best.size <= _SMALL:
        best, chosen = _first_peaks(windows.swapaxes(2, 3).reshape(-1, 4))
        return best.reshape(shape), chosen.astype(np.uint8).reshape(shape)
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
        for offset in range(4):
            offsets[np.isnan(windows[:, :, offset // 2, :, offset % 2])] = offset
    return best.reshape(shape), offsets.reshape(shape)


def _first_peaks(rows: Array) -> tuple[Array, Array]:
    """Return the maximum of each row and its position: the first of equal ones, the last NaN."""
    length = rows.shape[1]
    chosen = rows.argmax(1)
    best = rows.reshape(-1).take(chosen + np.arange(len(rows)) * length)
    if best.dtype.kind == "f" and np.isnan(np.minimum.reduce(best)):
        last = length - 1 - np.isnan(rows)[:, ::-1].argmax(1)
        chosen = np.where(np.isnan(best), last, chosen)
    return best, chosen


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


# ---- max pooling ops ----------------------------------------------------------------------------


RANKS = (2, 3)

# ---- maxima -------------------------------------------------------------------------------------


def _maxima(x: Array, windows: Windows) -> Array:
    """Return the maximum of each window, along one dimension after the other."""
    if windows.is_2x2:
        return maxima(x)
    planes, best = _folded(x, windows)
    if windows.few(len(planes)):
        return _chosen(planes, windows)[0].reshape(
            *x.shape[: -len(windows.outputs)], *windows.outputs
        )

    def work(part: slice) -> None:
        made = planes[part]
        for d, taps in enumerate(windows.taps):
            made = _maxima_along(made, 1 + d, windows.outputs[d], taps)
        best[part] = made

    _by_planes(work, len(planes), math.prod(planes.shape[1:]))
    return best.reshape(*x.shape[: x.ndim - len(windows.outputs)], *windows.outputs)


def _folded(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Return an array with one dimension of planes, and memory for the maxima."""
    rank = len(windows.outputs)
    planes = x.reshape(math.prod(x.shape[: x.ndim - rank]), *spatial(x.shape, rank))
    return planes, np.empty((len(planes), *windows.outputs), x.dtype)


def _maxima_along(x: Array, axis: int, count: int, taps: Taps) -> Array:
    if len(taps) == 1 and x.shape[axis] == count:
        return x
    best, rest = _begun(x, axis, count, taps)
    for target, source in rest:
        np.maximum(best[target], x[source], out=best[target])
    return best


def _begun(x: Array, axis: int, count: int, taps: Taps) -> tuple[Array, list[tuple[Index, Index]]]:
    """Return the elements at the first tap, and the others as indices.

    If a window has no element there, return the lowest value of the dtype, and all taps.
    """
    at: Index = (slice(None),) * axis
    steps = [((*at, target), (*at, source)) for target, source in taps]
    if taps and taps[0][0] == slice(0, count):
        return np.array(x[steps[0][1]]), steps[1:]
    lowest = -np.inf if x.dtype.kind == "f" else x.dtype.kind != "b" and np.iinfo(x.dtype).min
    return np.full((*x.shape[:axis], count, *x.shape[axis + 1 :]), lowest, x.dtype), steps


def _peaks(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Return the maximum of each window, and the index of its first occurrence in the plane."""
    planes, best = _folded(x, windows)
    shape = *x.shape[: x.ndim - len(windows.outputs)], *windows.outputs
    if windows.few(len(planes)):
        best, chosen = _chosen(planes, windows)
        chosen += windows.first.reshape(-1)
        return best.reshape(shape), windows.elements.reshape(-1).take(chosen).reshape(shape)
    if windows.is_2x2:
        best, offsets = peaks(x)
        return best, plane_indices(offsets, x.shape[-2:])
    indices = np.empty(best.shape, np.int64)
    last = math.prod(map(len, windows.taps)) - 1

    def work(part: slice) -> None:
        block = planes[part]
        made, ranks = _ranked(block, windows, -1)
        if made.dtype.kind == "f" and made.size and np.isnan(made.min()):  # the last NaN wins
            are_nan, offsets = _ranked(np.isnan(block), windows, 1)
            ranks = np.where(are_nan, ranks.dtype.type(last) - offsets, ranks)
        best[part] = made
        windows.indices(ranks, indices[part])

    _by_planes(work, len(planes), math.prod(planes.shape[1:]))
    return best.reshape(shape), indices.reshape(shape)


def _ranked(x: Array, windows: Windows, order: int) -> tuple[Array, Array]:
    """Return the maximum of each window, and the highest rank of an offset that has it.

    The rank of an offset in the window is its number, counted from the last one for an ``order`` of
    -1: the first of equal elements then has the highest rank.
    """
    ranks: Array | None = None
    for d, numbers in windows.ranks:
        taps = windows.taps[d]
        if len(taps) > 1 or x.shape[1 + d] != windows.outputs[d]:
            at = 1 + d, windows.outputs[d], taps[::order]
            x, ranks = _ranked_along(x, ranks, numbers, at, not windows.dense)
    return x, np.zeros(x.shape, windows.ranks[0][1].dtype) if ranks is None else ranks


def _ranked_along(
    x: Array, ranks: Array | None, numbers: Array, at: tuple[int, int, Taps], forward: bool
) -> tuple[Array, Array]:
    """Return maxima along one dimension, and their ranks: ``numbers`` plus those so far.

    ``forward``: the ranks so far are of dimensions before this one, and larger.
    """
    best, rest = _begun(x, *at)
    found = np.zeros(best.shape, numbers.dtype) if ranks is None else _begun(ranks, *at)[0]
    for (target, source), number in zip(rest, numbers[len(numbers) - len(rest) :], strict=True):
        part, top, code = x[source], best[target], found[target]
        wins = np.greater_equal(part, top).view(np.uint8)
        if ranks is None:
            rank = np.multiply(wins, number, dtype=numbers.dtype)
        else:
            rank = ranks[source] + number
            rank *= wins
            if forward:  # otherwise, a later rank is higher
                code *= np.greater_equal(top, part).view(np.uint8)
        np.maximum(code, rank, out=code)
        np.maximum(top, part, out=top)
    return best, found


def _chosen(planes: Array, windows: Windows) -> tuple[Array, Array]:
    """Return the maximum of each window and its position there, ``[planes, windows]`` both."""
    count, length = windows.count, windows.length
    best = np.empty((len(planes), count), planes.dtype)
    chosen = np.empty(best.shape, np.int64)
    flat = planes.reshape(len(planes), math.prod(windows.sizes))

    def work(part: slice) -> None:
        rows = flat[part]
        if count > 1 or length != rows.shape[1] or not windows.inside:
            rows = rows.take(windows.elements.reshape(-1), 1)
        found = _first_peaks(rows.reshape(-1, length))
        best[part], chosen[part] = (a.reshape(-1, count) for a in found)

    _by_planes(work, len(planes), count * length)
    return best, chosen


# ---- the operations -----------------------------------------------------------------------------


def _windows(input: Array, options: Options) -> Windows:
    title = f"max_pool{len(options.kernel_size)}d"
    windows = sliding(title, input.shape, options)
    if input.dtype.kind == "b":
        raise not_implemented(title, input)
    return windows


def max_pool(input: Array, /, options: Options) -> tuple[Array, Array]:
    """Return the maximum of each window, and its index in the plane."""
    return _peaks(input, _windows(input, options))


def is_pool_2x2(input: Array, options: Options) -> bool:
    """Return whether ``max_pool_2x2`` is max pooling with these options.

    Raises:
        RuntimeError, NotImplementedError: the errors of max pooling.
    """
    return _windows(input, options).is_2x2


@operation(order="as_image")
def max_pool_values(input: Array, /, options: Options) -> Array:
    """Return the maximum of each window, if neither gradients nor indices are needed."""
    return _maxima(input, _windows(input, options))


@operation(node="MaxPool2DWithIndicesBackward0", outputs=("values", "offsets"), order="as_image")
def max_pool_2x2(input: Array, /) -> tuple[Array, Array]:
    """Return the maximum of each window of 2 by 2, and its offset in the window, in one byte."""
    return peaks(input)


def adaptive_max_pool(input: Array, /, output_size: Ints) -> tuple[Array, Array]:
    """Return the maximum of each of ``output_size`` parts, and its index in the plane."""
    return _peaks(input, adaptive(spatial(input.shape, len(output_size)), output_size))


def fractional_max_pool(
    input: Array, samples: Array, /, kernel_size: Ints, output_size: Ints
) -> tuple[Array, Array]:
    """Return the maximum of each window and its index; the samples determine the windows."""
    rank = len(kernel_size)
    sizes = spatial(input.shape, rank)
    lead = input.shape[: input.ndim - rank]
    planes = input.reshape(math.prod(lead), math.prod(sizes))
    draws = samples.reshape(-1, rank)[: len(planes)]
    corners: Any = np.zeros((len(planes), *(1,) * rank), np.int64)
    for d, count in enumerate(output_size):
        column = d if rank == 3 else rank - 1 - d  # in PyTorch, width comes first in 2d, last in 3d
        starts = _starts(draws[:, column], sizes[d], count, kernel_size[d])
        shape = (len(planes), *(count if i == d else 1 for i in range(rank)))
        corners = corners * sizes[d] + starts.reshape(shape)
    best = np.full((len(planes), *output_size), -np.inf, input.dtype)
    indices = np.zeros(best.shape, np.int64)
    for offset in itertools.product(*map(range, kernel_size)):
        current = corners + int(np.ravel_multi_index(offset, sizes))
        flat = current.reshape(len(planes), math.prod(output_size))
        part = np.take_along_axis(planes, flat, 1).reshape(best.shape)
        wins = (part > best) | np.isnan(part)
        np.copyto(best, part, where=wins)
        np.copyto(indices, current, where=wins)
    return best.reshape(*lead, *output_size), indices.reshape(*lead, *output_size)


def _starts(sample: Array, n: int, count: int, kernel: int) -> Array:
    """Return the start of the windows of each plane along one dimension (Graham, 2014)."""
    starts = np.empty((len(sample), count), np.int64)
    if count > 1:
        alpha = sample.dtype.type((n - kernel) / (count - 1))
        steps = (np.arange(count - 1, dtype=sample.dtype) + sample[:, None]) * alpha
        starts[:, :-1] = steps.astype(np.int64) - (sample * alpha).astype(np.int64)[:, None]
    starts[:, -1:] = n - kernel
    return starts


def max_unpool(input: Array, indices: Array, /, output_size: Ints) -> Array:
    """Return planes of zeros with each element written at its index."""
    return max_pool_backward(input, indices, output_size, True)


# ---- derivatives --------------------------------------------------------------------------------


def _flat_indices(indices: Array, planes: int, sizes: Ints) -> Array:
    """Return indices in planes of ``sizes`` as indices in the flattened array of all planes."""
    first = np.arange(planes) * math.prod(sizes)
    return (
        indices.reshape(planes, math.prod(indices.shape) // max(planes, 1)) + first[:, None]
    ).reshape(-1)


def max_pool_backward(self: Array, indices: Array, /, sizes: Ints, disjoint: bool) -> Array:
    """Return planes of zeros with each element added at its index.

    ``disjoint``: no index occurs twice.
    """
    lead = self.shape[: self.ndim - len(sizes)]
    count, size = math.prod(lead), math.prod(sizes)
    planes = np.zeros((count, size), self.dtype)
    shape = count, math.prod(self.shape[len(lead) :])
    slopes, indices = self.reshape(shape), indices.reshape(shape)
    for part in threads.slices(count, max(1, _ADDED // max(1, size))):
        block, slope = planes[part].reshape(-1), slopes[part].reshape(-1)
        flat = _flat_indices(indices[part], part.stop - part.start, sizes)
        if disjoint:
            block[flat] = slope
        else:
            np.add.at(block, flat, slope)
    return planes.reshape(*lead, *sizes)


def adaptive_max_pool_backward(
    self: Array, indices: Array, /, sizes: Ints, disjoint: bool
) -> Array:
    """Return ``max_pool_backward``, as the derivative of another operation."""
    check_gradient("adaptive_max_pool", self.shape, len(sizes))
    return max_pool_backward(self, indices, sizes, disjoint)


@operation(node="GatherBackward0")
def max_gather(self: Array, indices: Array, /, rank: int) -> Array:
    """Return the elements of each plane at the indices."""
    planes = math.prod(indices.shape[: indices.ndim - rank])
    flat = _flat_indices(indices, planes, spatial(self.shape, rank))
    return np.take(self.reshape(-1), flat).reshape(indices.shape)


@operation(node="MaxPool2DWithIndicesBackwardBackward0")
def max_pool_2x2_backward(self: Array, offsets: Array, /, shape: Ints) -> Array:
    """Return zeros of a shape, with each element at the offset of its window of 2 by 2."""
    return scatter(self, offsets, shape[-2:]).reshape(shape)


@operation()
def plane_indices_2x2(offsets: Array, /, sizes: Ints) -> Array:
    """Return the indices in planes of ``sizes`` of the elements at the offsets."""
    return plane_indices(offsets, sizes)


PEAKS: dict[str, Any] = {"outputs": ("values", "indices")}
max_pools = by_rank(max_pool, "MaxPool{}DWithIndicesBackward0", RANKS, order="as_image", **PEAKS)
adaptive_max_pools = by_rank(
    adaptive_max_pool, "AdaptiveMaxPool{}DBackward0", RANKS, order="as_plane", **PEAKS
)
fractional_max_pools = by_rank(fractional_max_pool, "FractionalMaxPool{}DBackward0", RANKS, **PEAKS)
max_unpools = by_rank(max_unpool, "MaxUnpool{}DBackward0", RANKS, order="as_plane")
max_pools_backward = by_rank(max_pool_backward, "MaxPool{}DWithIndicesBackwardBackward0", RANKS)
adaptive_max_pools_backward = by_rank(
    adaptive_max_pool_backward, "AdaptiveMaxPool{}DBackwardBackward0", RANKS
)


def _scatter(g: Any, indices: Any, shape: Ints, rank: int, disjoint: bool) -> Any:
    return max_pools_backward[rank](g, indices, spatial(shape, rank), disjoint)


def _max_back(g: Any, indices: Any, input_shape: Ints, options: Options) -> Any:
    disjoint = sliding(f"max_pool{options.rank}d", input_shape, options).disjoint
    return _scatter(g, indices, input_shape, options.rank, disjoint)


def _adaptive_max_back(g: Any, indices: Any, input_shape: Ints, output_size: Ints) -> Any:
    rank = len(output_size)
    sizes = spatial(input_shape, rank)
    disjoint = adaptive(sizes, output_size).disjoint
    return adaptive_max_pools_backward[rank](g, indices, sizes, disjoint)


for _rank in RANKS:
    max_pools[_rank].grad(input=_max_back)
    adaptive_max_pools[_rank].grad(input=_adaptive_max_back)
    fractional_max_pools[_rank].grad(
        input=lambda g, indices, input_shape, output_size: _scatter(
            g, indices, input_shape, len(output_size), False
        )
    )
    max_unpools[_rank].grad(
        input=lambda g, indices, output_size: max_gather(g, indices, len(output_size))
    )
    for _op in (max_pools_backward[_rank], adaptive_max_pools_backward[_rank]):
        _op.grad(self=lambda g, indices, sizes: max_gather(g, indices, len(sizes)))
max_pool_2x2.grad(
    input=lambda g, offsets, input_shape: max_pool_2x2_backward(g, offsets, input_shape)
)
max_pool_2x2_backward.grad(
    self=lambda g, offsets, shape: max_gather(g, plane_indices_2x2(offsets, shape[-2:]), 2)
)
max_gather.grad(
    self=lambda g, indices, self_shape, rank: _scatter(g, indices, self_shape, rank, False)
)
