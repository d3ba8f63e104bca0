"""The operations behind max pooling: maxima of windows, and their indices.

They are operations for speed: a loop over the few offsets of a window, each time for all windows at
once. As in PyTorch, one dimension is two of which the first has length 1.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import not_implemented
from tinynet.nn.functional.dimensions import Ints, by_rank, spatial
from tinynet.nn.functional.pooling import max_pooling_2x2
from tinynet.nn.functional.pooling.windows import Options, Windows, adaptive, sliding

RANKS = (2, 3)

# ---- maxima -------------------------------------------------------------------------------------


def _maxima(x: Array, windows: Windows) -> Array:
    """Return the maximum of each window."""
    if windows.halves:
        return max_pooling_2x2.maxima(x)
    steps = windows.steps
    if windows.inside and len(steps) > 1:
        best = np.maximum(x[steps[0][1]], x[steps[1][1]])
        steps = steps[2:]
    else:
        best = _nothing(x, windows)
    for target, source in steps:
        np.maximum(best[target], x[source], out=best[target])
    return np.ascontiguousarray(best)


def _nothing(x: Array, windows: Windows) -> Array:
    """Return what every element is larger than, for each window."""
    lead = x.shape[: x.ndim - len(windows.outputs)]
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return np.full((*lead, *windows.outputs), lowest, x.dtype)


def _peaks(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Return the maximum of each window, and the index of its first occurrence in the plane."""
    if windows.few:
        return _peaks_by_window(x, windows)
    if windows.halves:
        best, offsets = max_pooling_2x2.peaks(x)
        return best, max_pooling_2x2.places(offsets, x.shape[-2:])
    steps = windows.steps
    last = len(steps) - 1
    best = np.array(x[steps[last][1]]) if windows.inside else _nothing(x, windows)
    # From the last offset to the first, so that of equal elements the first stays. ``back`` counts
    # offsets from the last one: then a later winner has the larger number, and no mask is needed.
    back = np.zeros_like(best, np.min_scalar_type(last))
    for number in range(1 if windows.inside else 0, last + 1):
        target, source = steps[last - number]
        part = x[source]
        wins = part >= best[target]
        np.maximum(best[target], part, out=best[target])
        np.maximum(back[target], wins.view(np.uint8) * back.dtype.type(number), out=back[target])
    if best.size and best.dtype.kind == "f" and np.isnan(best.min()):  # where it is NaN, the last
        for number in range(last, -1, -1):
            target, source = steps[last - number]
            back[target][np.isnan(x[source])] = number
    indices = np.take(windows.places[::-1], back)
    indices += windows.corners
    return np.ascontiguousarray(best), np.ascontiguousarray(indices)


def _peaks_by_window(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Do what ``_peaks`` does, window by window: where there are few, or they differ in length."""
    rank = len(windows.outputs)
    lead, sizes = x.shape[: x.ndim - rank], spatial(x.shape, rank)
    values = np.empty((*lead, *windows.outputs), x.dtype)
    indices = np.empty(values.shape, np.int64)
    plane = np.arange(math.prod(sizes)).reshape(sizes)
    output: Any
    for output in itertools.product(*map(range, windows.outputs)):
        span: Any = tuple(spans[i] for spans, i in zip(windows.spans, output, strict=True))
        part = x[(..., *span)].reshape(*lead, plane[span].size)
        chosen = np.argmax(part, -1, keepdims=True)
        if np.isnan(part.sum()):  # where there is a NaN, it is the last that counts
            nans = np.isnan(part)
            last = nans.shape[-1] - 1 - np.argmax(nans[..., ::-1], -1, keepdims=True)
            chosen = np.where(nans.any(-1, keepdims=True), last, chosen)
        values[(..., *output)] = np.take_along_axis(part, chosen, -1)[..., 0]
        indices[(..., *output)] = plane[span].reshape(-1)[chosen[..., 0]]
    return values, indices


# ---- the operations -----------------------------------------------------------------------------


def _windows(input: Array, options: Options) -> Windows:
    title = f"max_pool{options.rank}d"
    windows = sliding(title, input.shape, options)
    if input.dtype.kind == "b":
        raise not_implemented(title, input)
    return windows


def max_pool(input: Array, /, options: Options) -> tuple[Array, Array]:
    """Return the maximum of each window, and its index in the plane."""
    return _peaks(input, _windows(input, options))


def in_halves(input: Array, options: Options) -> bool:
    """Return whether ``max_pool_halves`` is max pooling with these options.

    Raises:
        RuntimeError, NotImplementedError: what max pooling refuses.
    """
    windows = _windows(input, options)
    return windows.halves and not windows.few


@operation(methods=False, batch="folded")
def max_pool_values(input: Array, /, options: Options) -> Array:
    """Return the maximum of each window, if neither gradients nor indices are needed."""
    windows = _windows(input, options)
    if windows.few:
        return _peaks_by_window(input, windows)[0]
    return _maxima(input, windows)


@operation(
    node="MaxPool2DWithIndicesBackward0",
    methods=False,
    outputs=("values", "offsets"),
    batch="folded",
)
def max_pool_halves(input: Array, /) -> tuple[Array, Array]:
    """Return the maximum of each window of 2 by 2, and its offset: the places, in one byte each."""
    return max_pooling_2x2.peaks(input)


def adaptive_max_pool(input: Array, /, output_size: Ints) -> tuple[Array, Array]:
    """Return the maximum of each of ``output_size`` parts, and its place in the plane."""
    return _peaks(input, adaptive(spatial(input.shape, len(output_size)), output_size))


def fractional_max_pool(
    input: Array, samples: Array, /, kernel_size: Ints, output_size: Ints
) -> tuple[Array, Array]:
    """Return the maximum of each window, and its place; windows begin where the samples say."""
    rank = len(kernel_size)
    sizes = spatial(input.shape, rank)
    lead = input.shape[: input.ndim - rank]
    planes = input.reshape(math.prod(lead), math.prod(sizes))
    draws = samples.reshape(-1, rank)[: len(planes)]
    corners: Any = np.zeros((len(planes), *(1,) * rank), np.int64)
    for d, count in enumerate(output_size):
        column = d if rank == 3 else rank - 1 - d  # as in PyTorch: width first in 2d, last in 3d
        starts = _starts(draws[:, column], sizes[d], count, kernel_size[d])
        shape = (len(planes), *(count if i == d else 1 for i in range(rank)))
        corners = corners * sizes[d] + starts.reshape(shape)
    best = np.full((len(planes), *output_size), -np.inf, input.dtype)
    found = np.zeros(best.shape, np.int64)
    for offset in itertools.product(*map(range, kernel_size)):
        places = corners + int(np.ravel_multi_index(offset, sizes))
        flat = places.reshape(len(planes), math.prod(output_size))
        part = np.take_along_axis(planes, flat, 1).reshape(best.shape)
        wins = (part > best) | np.isnan(part)
        np.copyto(best, part, where=wins)
        np.copyto(found, places, where=wins)
    return best.reshape(*lead, *output_size), found.reshape(*lead, *output_size)


def _starts(sample: Array, n: int, count: int, kernel: int) -> Array:
    """Return where the windows of each plane begin along one dimension (Graham, 2014)."""
    starts = np.empty((len(sample), count), np.int64)
    if count > 1:
        alpha = sample.dtype.type((n - kernel) / (count - 1))
        steps = (np.arange(count - 1, dtype=sample.dtype) + sample[:, None]) * alpha
        starts[:, :-1] = steps.astype(np.int64) - (sample * alpha).astype(np.int64)[:, None]
    starts[:, -1:] = n - kernel
    return starts


def max_unpool(input: Array, indices: Array, /, output_size: Ints) -> Array:
    """Return planes of zeros with each element written where its index points to."""
    return max_spread(input, indices, output_size, True)


# ---- and their derivatives ----------------------------------------------------------------------


def _places_in_whole(indices: Array, planes: int, sizes: Ints) -> Array:
    """Return places in planes of ``sizes`` as places in all planes, flattened."""
    first = np.arange(planes) * math.prod(sizes)
    return (
        indices.reshape(planes, math.prod(indices.shape) // max(planes, 1)) + first[:, None]
    ).reshape(-1)


def max_spread(self: Array, indices: Array, /, sizes: Ints, disjoint: bool) -> Array:
    """Return planes of zeros with each element added where its index points to.

    ``disjoint`` promises that no place is named twice.
    """
    lead = self.shape[: self.ndim - len(sizes)]
    whole = np.zeros((math.prod(lead), *sizes), self.dtype)
    places = _places_in_whole(indices, whole.shape[0], sizes)
    if disjoint:
        whole.reshape(-1)[places] = self.reshape(-1)
    else:
        np.add.at(whole.reshape(-1), places, self.reshape(-1))
    return whole.reshape(*lead, *sizes)


def adaptive_max_spread(self: Array, indices: Array, /, sizes: Ints, disjoint: bool) -> Array:
    """Return what ``max_spread`` does, as the derivative of another operation."""
    return max_spread(self, indices, sizes, disjoint)


@operation(node="GatherBackward0", methods=False, batch="folded")
def max_taken(self: Array, indices: Array, /, rank: int) -> Array:
    """Return the elements of each plane that the indices point to."""
    planes = math.prod(indices.shape[: indices.ndim - rank])
    places = _places_in_whole(indices, planes, spatial(self.shape, rank))
    return np.take(self.reshape(-1), places).reshape(indices.shape)


@operation(node="MaxPool2DWithIndicesBackwardBackward0", methods=False)
def halves_spread(self: Array, offsets: Array, /, shape: Ints) -> Array:
    """Return zeros of a shape, with each element at the offset of its window of 2 by 2."""
    return max_pooling_2x2.spread(self, offsets, shape[-2:]).reshape(shape)


@operation(methods=False, batch="loop")
def halves_places(offsets: Array, /, sizes: Ints) -> Array:
    """Return the places in planes of ``sizes`` of the elements at the offsets."""
    return max_pooling_2x2.places(offsets, sizes)


PEAKS: dict[str, Any] = {"outputs": ("values", "indices")}
max_pools = by_rank(max_pool, "MaxPool{}DWithIndicesBackward0", RANKS, **PEAKS)
adaptive_max_pools = by_rank(adaptive_max_pool, "AdaptiveMaxPool{}DBackward0", RANKS, **PEAKS)
fractional_max_pools = by_rank(fractional_max_pool, "FractionalMaxPool{}DBackward0", RANKS, **PEAKS)
max_unpools = by_rank(max_unpool, "MaxUnpool{}DBackward0", RANKS)
max_spreads = by_rank(max_spread, "MaxPool{}DWithIndicesBackwardBackward0", RANKS)
adaptive_max_spreads = by_rank(adaptive_max_spread, "AdaptiveMaxPool{}DBackwardBackward0", RANKS)


def _spread(g: Any, indices: Any, shape: Ints, rank: int, disjoint: bool) -> Any:
    return max_spreads[rank](g, indices, spatial(shape, rank), disjoint)


def _max_back(g: Any, indices: Any, input_shape: Ints, options: Options) -> Any:
    disjoint = sliding(f"max_pool{options.rank}d", input_shape, options).disjoint
    return _spread(g, indices, input_shape, options.rank, disjoint)


def _adaptive_max_back(g: Any, indices: Any, input_shape: Ints, output_size: Ints) -> Any:
    rank = len(output_size)
    sizes = spatial(input_shape, rank)
    disjoint = adaptive(sizes, output_size).disjoint
    return adaptive_max_spreads[rank](g, indices, sizes, disjoint)


for _rank in RANKS:
    max_pools[_rank].grad(input=_max_back)
    adaptive_max_pools[_rank].grad(input=_adaptive_max_back)
    fractional_max_pools[_rank].grad(
        input=lambda g, indices, input_shape, output_size: _spread(
            g, indices, input_shape, len(output_size), False
        )
    )
    max_unpools[_rank].grad(
        input=lambda g, indices, output_size: max_taken(g, indices, len(output_size))
    )
    for _op in (max_spreads[_rank], adaptive_max_spreads[_rank]):
        _op.grad(self=lambda g, indices, sizes: max_taken(g, indices, len(sizes)))
max_pool_halves.grad(input=lambda g, offsets, input_shape: halves_spread(g, offsets, input_shape))
halves_spread.grad(
    self=lambda g, offsets, shape: max_taken(g, halves_places(offsets, shape[-2:]), 2)
)
max_taken.grad(
    self=lambda g, indices, self_shape, rank: _spread(g, indices, self_shape, rank, False)
)
