"""The operations behind pooling: maxima of windows with their indices, and averages.

They are operations for speed; ``maxima.py`` finds the maxima, and averages are sums along one
dimension after the other. As in PyTorch, 1d pooling is 2d pooling with a first dimension of
length 1.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels
from tinynet.kernels import threads
from tinynet.kernels.indexing import take_along
from tinynet.kernels.low_precision import HALF, in_single, kind_for
from tinynet.kernels.sums import row_sums
from tinynet.nn.functional.checks import Ints, by_rank, not_implemented, spatial
from tinynet.nn.functional.pooling import maxima
from tinynet.nn.functional.pooling.windows import (
    CACHED,
    Options,
    Windows,
    adaptive,
    adaptive_averages,
    check_gradient,
    sliding,
    sums,
)
from tinynet.ops.shaping.views import expand

# ---- windows of 2 by 2 --------------------------------------------------------------------------
# The position of a maximum in the windows that most networks use is saved in one byte.

RANKS = (2, 3)
_HALVES = Options((2, 2), (2, 2), (0, 0), (1, 1), False)
_ADDED = 1 << 16  # elements of the gradient per block, where elements are added at indices


def peaks_2x2(x: Array) -> tuple[Array, Array]:
    """Return the maximum of each window and its position there, row by row."""
    if native_kernels.takes(x):
        return _compiled_peaks(x)
    return maxima.ranked_peaks(x, sliding("max_pool2d", x.shape[-3:], _HALVES))


def _compiled_peaks(x: Array) -> tuple[Array, Array]:
    """Do what ``peaks_2x2`` does, by a kernel."""
    shape = *x.shape[:-2], x.shape[-2] // 2, x.shape[-1] // 2
    best, offsets = np.empty(shape, np.float32), np.empty(shape, np.uint8)
    count = math.prod(shape[:-2])
    arrays = np.ascontiguousarray(x), best, offsets
    planes, tops, codes = (a.reshape(count, *a.shape[-2:]) for a in arrays)
    native_kernels.images.max_pool(planes, tops, codes)
    return best, offsets


@functools.lru_cache(maxsize=32)
def _corners(planes: int, height: int, width: int, sizes: Ints) -> Array:
    """Return the flat index of the first element of each window, in planes of ``sizes``."""
    rows = sizes[1] * (sizes[0] * np.arange(planes)[:, None] + 2 * np.arange(height))
    return rows[..., None] + 2 * np.arange(width)


@functools.lru_cache(maxsize=32)
def _shifts(row: int) -> Array:
    """Return the flat index of each element of a window, relative to the first."""
    return np.array([0, 1, row, row + 1])


def plane_indices(offsets: Array, sizes: Ints) -> Array:
    """Return the indices in planes of ``sizes`` of the elements at the offsets of the windows."""
    corners = _corners(1, *offsets.shape[-2:], sizes)[0]
    if maxima.has_channels_last(offsets, 2):
        indices = _shifts(sizes[1]).take(offsets.transpose(0, 2, 3, 1))
        indices += corners[..., None]
        return indices.transpose(0, 3, 1, 2)
    indices = _shifts(sizes[1]).take(offsets)
    indices += corners
    return indices


def scatter(g: Array, offsets: Array, sizes: Ints) -> Array:
    """Return planes of zeros of ``sizes``, with each element at the offset of its window."""
    count = math.prod(g.shape[:-2])
    g, offsets = (a.reshape(count, *a.shape[-2:]) for a in (g, offsets))
    if native_kernels.takes(g):
        made = np.empty((count, *sizes), np.float32)
        g, offsets = map(np.ascontiguousarray, (g, offsets))
        native_kernels.images.max_pool_slope(g, offsets, made)
        return made.reshape(count, math.prod(sizes))
    planes = np.zeros((count, math.prod(sizes)), g.dtype)
    corners = _corners(maxima.at_once(*planes.shape), *g.shape[1:], sizes)

    def work(part: slice) -> None:
        indices = _shifts(sizes[1]).take(offsets[part])
        indices += corners[: len(indices)]
        planes[part].reshape(-1)[indices.reshape(-1)] = g[part].reshape(-1)

    maxima.by_planes(work, *planes.shape)
    return planes


def _scatter_pixels(g: Array, offsets: Array, sizes: Ints) -> Array:
    """Do what ``scatter`` does for images with the channels last.

    Bits are multiplied by 1 or 0: an infinite number times 0 would be NaN.
    """
    g, offsets = (a.transpose(0, 2, 3, 1) for a in (g, offsets))
    made = np.zeros((len(g), *sizes, g.shape[-1]), g.dtype)
    bits = f"i{g.itemsize}"
    height, width = 2 * g.shape[1], 2 * g.shape[2]
    for offset in range(4):
        part = made[:, offset // 2 : height : 2, offset % 2 : width : 2]
        np.multiply(g.view(bits), offsets == offset, out=part.view(bits))
    return made.transpose(0, 3, 1, 2)


# ---- maxima -------------------------------------------------------------------------------------


def _windows(input: Array, options: Options) -> Windows:
    title = f"max_pool{len(options.kernel_size)}d"
    windows = sliding(title, input.shape, options)
    if input.dtype.kind == "b":
        raise not_implemented(title, input)
    return windows


def max_pool(input: Array, /, options: Options) -> tuple[Array, Array]:
    """Return the maximum of each window, and its index in the plane."""
    return maxima.peaks(input, _windows(input, options))


def is_pool_2x2(input: Array, options: Options) -> bool:
    """Return whether ``max_pool_2x2`` is max pooling with these options.

    Raises:
        RuntimeError, NotImplementedError: the errors of max pooling.
    """
    return _windows(input, options).is_2x2


@operation(order="as_image")
def max_pool_values(input: Array, /, options: Options) -> Array:
    """Return the maximum of each window, if neither gradients nor indices are needed."""
    return maxima.maxima(input, _windows(input, options))


@operation(node="MaxPool2DWithIndicesBackward0", outputs=("values", "offsets"), order="as_image")
def max_pool_2x2(input: Array, /) -> tuple[Array, Array]:
    """Return the maximum of each window of 2 by 2, and its offset in the window, in one byte."""
    return peaks_2x2(input)


def adaptive_max_pool(input: Array, /, output_size: Ints) -> tuple[Array, Array]:
    """Return the maximum of each of ``output_size`` parts, and its index in the plane."""
    return maxima.peaks(input, adaptive(spatial(input.shape, len(output_size)), output_size))


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
        part = take_along(planes, flat, 1).reshape(best.shape)
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


# ---- derivatives of maxima ----------------------------------------------------------------------


def _flat_indices(indices: Array, planes: int, size: int) -> Array:
    """Return indices in planes of a size as indices in the flattened array of all planes."""
    first = np.arange(planes) * size
    return (
        indices.reshape(planes, math.prod(indices.shape) // max(planes, 1)) + first[:, None]
    ).reshape(-1)


def max_pool_backward(self: Array, indices: Array, /, sizes: Ints, disjoint: bool) -> Array:
    """Return planes of zeros with each element added at its index.

    ``disjoint``: no index occurs twice.
    """
    lead, size = self.shape[: self.ndim - len(sizes)], math.prod(sizes)
    count, channels = math.prod(lead), self.shape[1] if self.ndim > 1 else 1
    if is_last := maxima.has_channels_last(indices, len(sizes)):
        indices = indices.transpose(0, 2, 3, 1) * channels + np.arange(channels)
        self, count, size = self.transpose(0, 2, 3, 1), len(self), size * channels
    planes = np.zeros((count, size), self.dtype)
    shape = count, math.prod(self.shape) // max(count, 1)
    slopes, indices = self.reshape(shape), indices.reshape(shape)
    for part in threads.slices(count, max(1, _ADDED // max(1, size))):
        block, slope = planes[part].reshape(-1), slopes[part].reshape(-1)
        flat = _flat_indices(indices[part], part.stop - part.start, size)
        if disjoint:
            block[flat] = slope
        else:
            np.add.at(block, flat, slope)
    if is_last:
        return planes.reshape(count, *sizes, channels).transpose(0, 3, 1, 2)
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
    flat = _flat_indices(indices, planes, math.prod(spatial(self.shape, rank)))
    return np.take(self.reshape(-1), flat).reshape(indices.shape)


@operation(node="MaxPool2DWithIndicesBackwardBackward0")
def max_pool_2x2_backward(self: Array, offsets: Array, /, shape: Ints) -> Array:
    """Return zeros of a shape, with each element at the offset of its window of 2 by 2."""
    if maxima.has_channels_last(offsets, 2) and not native_kernels.takes(self):
        return _scatter_pixels(self, offsets, shape[-2:])
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


def _max_back(g: Any, input: Any, indices: Any, input_shape: Ints, options: Options) -> Any:
    disjoint = sliding(f"max_pool{options.rank}d", input_shape, options).disjoint
    return _scatter(g, indices, input_shape, options.rank, disjoint)


def _adaptive_max_back(
    g: Any, input: Any, indices: Any, input_shape: Ints, output_size: Ints
) -> Any:
    rank = len(output_size)
    sizes = spatial(input_shape, rank)
    disjoint = adaptive(sizes, output_size).disjoint
    return adaptive_max_pools_backward[rank](g, indices, sizes, disjoint)


for _rank in RANKS:
    max_pools[_rank].grad(input=_max_back)
    adaptive_max_pools[_rank].grad(input=_adaptive_max_back)
    fractional_max_pools[_rank].grad(
        input=lambda g, input, indices, input_shape, output_size: _scatter(
            g, indices, input_shape, len(output_size), False
        )
    )
    max_unpools[_rank].grad(
        input=lambda g, indices, output_size: max_gather(g, indices, len(output_size))
    )
    for _op in (max_pools_backward[_rank], adaptive_max_pools_backward[_rank]):
        _op.grad(self=lambda g, indices, sizes: max_gather(g, indices, len(sizes)))
max_pool_2x2.grad(
    input=lambda g, input, offsets, input_shape: max_pool_2x2_backward(g, offsets, input_shape)
)
max_pool_2x2_backward.grad(
    self=lambda g, offsets, shape: max_gather(g, plane_indices_2x2(offsets, shape[-2:]), 2)
)
max_gather.grad(
    self=lambda g, indices, self_shape, rank: _scatter(g, indices, self_shape, rank, False)
)


# ---- averages of sliding windows ----------------------------------------------------------------


def _averaged_windows(shape: Ints, options: Options) -> Windows:
    return sliding(f"avg_pool{options.rank}d", shape, options)


@functools.lru_cache(maxsize=CACHED)
def _divisor(sizes: Ints, windows: Windows, options: Options, include: bool) -> Any:
    """Return the divisor of the sums: a number, or one for each window."""
    if windows.inside:
        return math.prod(options.kernel_size)
    counts: Any = np.ones((), np.int64)
    for d, n in enumerate(sizes):
        if include:  # the padding counts, but not what lies beyond it
            start = np.arange(windows.outputs[d]) * options.stride[d] - options.padding[d]
            stop = np.minimum(start + options.kernel_size[d], n + options.padding[d])
            lengths = stop - start
        else:
            lengths = np.zeros(windows.outputs[d], np.int64)
            for target, _ in windows.taps[d]:
                lengths[target] += 1
        counts = counts[..., None] * lengths
    return counts


def _divided(total: Array, divisor: Any) -> Array:
    """Divide a new array; integers are rounded towards zero, as in C."""
    if total.dtype.kind == "f":
        total /= np.asarray(divisor, total.dtype)
        return total
    signs = np.sign(total) * np.sign(divisor)
    return signs * (np.abs(total) // np.abs(divisor))


def avg_pool(
    input: Array, /, options: Options, count_include_pad: bool, divisor_override: int | None
) -> Array:
    """Return the average of each window."""
    windows = _averaged_windows(input.shape, options)
    if input.dtype.kind != "f" and input.dtype != np.int64:
        raise not_implemented(f"avg_pool{options.rank}d", input)
    if input.dtype == HALF:
        pool = avg_pools[options.rank]
        return in_single(pool, input, options, count_include_pad, divisor_override)
    sizes = spatial(input.shape, options.rank)
    total = sums(input.shape, options, input.dtype)(input)
    divisor = divisor_override or _divisor(sizes, windows, options, count_include_pad)
    return _divided(total, divisor)


def avg_pool_backward(
    self: Array,
    /,
    sizes: Ints,
    options: Options,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """Return planes of ``sizes`` in which each element is distributed over its window."""
    if self.dtype == HALF:
        back = avg_pools_backward[options.rank]
        return in_single(back, self, sizes, options, count_include_pad, divisor_override)
    first = self.ndim - len(sizes)
    shape = (*self.shape[:first], *sizes)
    divisor = divisor_override or _divisor(
        sizes, _averaged_windows(shape, options), options, count_include_pad
    )
    return sums(shape, options, self.dtype).transposed(self / np.asarray(divisor, self.dtype))


avg_pools = by_rank(avg_pool, "AvgPool{}DBackward0", RANKS, order="as_plane")
avg_pools_backward = by_rank(avg_pool_backward, "AvgPool{}DBackwardBackward0", RANKS)
for _rank in RANKS:
    avg_pools[_rank].grad(
        input=lambda g, input, input_shape, options, count_include_pad, divisor_override: (
            avg_pools_backward[options.rank](
                g, spatial(input_shape, options.rank), options, count_include_pad, divisor_override
            )
        )
    )
    avg_pools_backward[_rank].grad(
        self=lambda g, options, count_include_pad, divisor_override: avg_pools[options.rank](
            g, options, count_include_pad, divisor_override
        )
    )

# ---- averages of adaptive windows ---------------------------------------------------------------


def adaptive_avg_pool(input: Array, /, output_size: Ints) -> Array:
    """Return the average of each of ``output_size`` parts."""
    sizes = spatial(input.shape, len(output_size))
    return adaptive_averages(sizes, output_size, kind_for(input.dtype))(input)


def adaptive_avg_pool_backward(self: Array, /, sizes: Ints) -> Array:
    """Return planes of ``sizes`` in which each element is distributed over its part."""
    check_gradient("adaptive_avg_pool", self.shape, len(sizes))
    outputs = spatial(self.shape, len(sizes))
    return adaptive_averages(sizes, outputs, kind_for(self.dtype)).transposed(self)


adaptive_avg_pools = by_rank(
    adaptive_avg_pool, "AdaptiveAvgPool{}DBackward0", RANKS, order="as_plane"
)
adaptive_avg_pools_backward = by_rank(
    adaptive_avg_pool_backward, "AdaptiveAvgPool{}DBackwardBackward0", RANKS
)
for _rank in RANKS:
    adaptive_avg_pools[_rank].grad(
        input=lambda g, input, input_shape, output_size: adaptive_avg_pools_backward[
            len(output_size)
        ](g, spatial(input_shape, len(output_size)))
    )
    adaptive_avg_pools_backward[_rank].grad(
        self=lambda g, self_shape, sizes: adaptive_avg_pools[len(sizes)](
            g, spatial(self_shape, len(sizes))
        )
    )


@operation(node="MeanBackward1", order="as_image")
def plane_mean(input: Array, /, rank: int) -> Array:
    """Return the mean of each plane with keepdim."""
    lead, sizes = input.shape[: input.ndim - rank], spatial(input.shape, rank)
    n = math.prod(sizes)
    rows = input.reshape(math.prod(lead), n)
    if input.dtype.itemsize < 4:
        means = rows.mean(1)
    else:
        means = row_sums(rows)
        means /= max(n, 1)
        means = means.astype(input.dtype, copy=False)
    return means.reshape(*lead, *(1,) * rank)


plane_mean.grad(
    input=lambda g, input_shape, rank: expand(
        g / math.prod(spatial(input_shape, rank)), input_shape
    )
)
