"""The operations behind grid_sample: images at arbitrary positions, and their derivatives.

Along each dimension, a sample is a sum over neighbours, weighted by polynomials in the position
between them. Its derivative by the position is the same sum with the derivatives of the
polynomials, so one kernel, with an order of derivative for each dimension, computes all of
them.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import polynomial

from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.checks import Ints, by_rank
from tinynet.nn.functional.double_backward import one_node
from tinynet.ops.reduction.sums import sum_dims
from tinynet.ops.shaping.joining import stack

A = -0.75  # of the cubic convolution kernel (Keys, 1981), as in PyTorch
POLYNOMIALS: dict[str, list[list[float]]] = {  # coefficients of 1, t, t^2, ... for each neighbour
    "nearest": [[1.0]],
    "bilinear": [[1.0, -1.0], [0.0, 1.0]],
    "bicubic": [
        [0.0, A, -2 * A, A],
        [1.0, 0.0, -(A + 3), A + 2],
        [0.0, -A, 2 * A + 3, -(A + 2)],
        [0.0, 0.0, A, -A],
    ],
}
FIRST = {"nearest": 0, "bilinear": 0, "bicubic": -1}  # of the first neighbour, relative to floor


class Warp(NamedTuple):
    """The options of grid_sample."""

    mode: str
    padding_mode: str
    align_corners: bool


# ---- positions ----------------------------------------------------------------------------------


def _reflected(x: Array, n: Array, align_corners: bool) -> tuple[Array, Array]:
    """Return positions reflected into the image, and the derivatives of the reflection."""
    low, span = (0.0, n - 1) if align_corners else (-0.5, n)
    is_long = span > 0  # otherwise all positions are 0
    reflections, rest = np.divmod(np.abs(x - low), np.where(is_long, span, 1))
    odd = reflections % 2 == 1
    inside = np.where(odd, span - rest, rest) + low
    slope = np.where(odd, -1.0, 1.0) * np.where(x < low, -1.0, 1.0)
    return inside * is_long, slope * is_long


def _inside(x: Array, n: Array, how: Warp) -> tuple[Array, Array | float]:
    """Return positions moved into the image by the padding mode, and their derivatives."""
    if how.padding_mode == "zeros":
        return x, 1.0
    slope: Array | float = 1.0
    if how.padding_mode == "reflection":
        x, slope = _reflected(x, n, how.align_corners)
    return _between(x, _zero(n), n - 1), slope * ((x > 0) & (x < n - 1))


def _zero(n: Array) -> Array:
    return np.zeros((), n.dtype)


def _between(x: Array, low: Array, high: Array) -> Array:
    """Return ``np.clip(x, low, high)``, which takes several times as long with arrays."""
    return np.minimum(np.maximum(x, low), high)


@functools.cache
def _coefficients(mode: str, order: int) -> list[list[float]]:
    """Return the polynomials of the neighbours, differentiated, from the highest power."""
    return [polynomial.polyder(line, order).tolist()[::-1] for line in POLYNOMIALS[mode]]


def _polynomial(t: Array, coefficients: list[float]) -> Array:
    first, *rest = coefficients
    value = np.full_like(t, first) if not rest else t * first if first != 1 else t
    for number, coefficient in enumerate(rest):
        value = value * t if number else value
        value = value + coefficient if coefficient else value
    return value


class _Neighbours:
    """The neighbours of positions along each dimension of an image.

    Args:
        grid: coordinates in [-1, 1].
        sizes: the lengths of the dimensions.
        how: the options.

    Attributes:
        indices: by neighbour, ``[dimensions, batch, points]``.
        counts: which of them lie in the image.
    """

    def __init__(self, grid: Array, sizes: Ints, how: Warp):
        shape = len(sizes), grid.shape[0], math.prod(grid.shape[1:-1])
        c = np.moveaxis(grid, -1, 0)[::-1].reshape(shape)  # the grid has the last dimension first
        n = np.empty_like(c)  # numpy combines arrays of one shape the fastest
        n[...] = np.array(sizes, c.dtype).reshape(-1, 1, 1)
        self.sizes, self.how, self.outside = sizes, how, math.prod(sizes)
        self.step = (n - 1) / 2 if how.align_corners else n / 2
        padded = how.mode != "bicubic" and how.padding_mode != "zeros"
        self.infinite = None
        if not np.isfinite(np.add.reduce(c, None)):
            self.infinite = None if padded or how.mode == "nearest" else ~np.isfinite(c)
            c = np.where(np.isnan(c), c.dtype.type(-1 if padded else 1e9), c)
        x = (c + 1) * self.step
        x = _between(x if how.align_corners else x - 0.5, *np.array([-1e9, 1e9], c.dtype))
        self.slope: Array | float = 1.0
        if how.mode != "bicubic":
            x, self.slope = _inside(x, n, how)
        base = np.rint(x) if how.mode == "nearest" else np.floor(x)
        self.t = (x - base).astype(c.dtype, copy=False)
        self.indices, self.counts = [], []
        for offset in range(len(POLYNOMIALS[how.mode])):
            index = base + (offset + FIRST[how.mode])
            if how.mode == "bicubic":
                index = np.rint(_inside(index, n, how)[0])
            counts = (index >= 0) & (index < n)
            if self.infinite is not None:  # infinite and NaN coordinates give NaN
                counts |= self.infinite
            self.counts.append(counts)
            self.indices.append(_between(index, _zero(n), n - 1).astype(np.int64))

    def weights(self, order: int) -> list[Array]:
        """Return the weights of the neighbours, or their derivatives by the coordinates."""
        weights = [_polynomial(self.t, line) for line in _coefficients(self.how.mode, order)]
        if order:
            factor = (self.slope * self.step) ** order
            weights = [(w * factor).astype(w.dtype, copy=False) for w in weights]
        if self.infinite is not None:
            weights = [np.where(self.infinite, w.dtype.type(np.nan), w) for w in weights]
        return weights

    def combinations(self) -> Iterator[tuple[Ints, Array]]:
        """Yield the combinations of neighbours, and their indices in the flattened image.

        The index of what is outside is the number of elements.
        """
        for chosen in itertools.product(range(len(self.indices)), repeat=len(self.sizes)):
            index, counts = self.indices[chosen[0]][0], self.counts[chosen[0]][0]
            for d, n in enumerate(self.sizes[1:], 1):
                index = index * n + self.indices[chosen[d]][d]
                counts = counts & self.counts[chosen[d]][d]
            index -= self.outside
            index *= counts
            index += self.outside
            yield chosen, index

    def terms(self, orders: Ints) -> list[tuple[Array, Array]]:
        """Return indices and weights of all combinations, ``[batch, points]``."""
        weights = {order: self.weights(order) for order in {*orders}}
        return [
            (index, _product([weights[orders[d]][j][d] for d, j in enumerate(chosen)]))
            for chosen, index in self.combinations()
        ]


def _product(factors: list[Array]) -> Array:
    return functools.reduce(np.multiply, factors)


# ---- the operations -----------------------------------------------------------------------------

_BLOCK = 1 << 15  # elements per block, which stays in the cache for all neighbours
_FEW = 1 << 12  # elements of an image up to which several images take fewer calls together


def _blocks(batch: int, channels: int, points: int) -> Iterator[tuple[slice, slice]]:
    """Yield blocks of images and of points: several small images, or parts of a large one."""
    if batch * channels * points == 0:
        return
    for images in threads.slices(batch, max(1, _FEW // (channels * points))):
        for part in threads.slices(points, max(1, _BLOCK // channels)):
            yield images, part


def _places(index: Array, planes: Array) -> Array:
    """Return indices in each plane as indices in all planes, ``[images, channels, points]``."""
    images, channels, size = planes.shape
    first = np.arange(0, images * channels * size, size).reshape(images, channels, 1)
    return index[:, None] + first


def _taken(planes: Array, index: Array) -> Array:
    """Return the elements of the planes of each image at its indices."""
    if len(planes) == 1:
        return planes[0].take(index[0], 1, mode="clip")[None]  # the fastest mode
    found: Array = planes.reshape(-1).take(_places(index, planes), mode="clip")
    return found


def _with_outside(input: Array, sizes: Ints) -> Array:
    """Return planes with a zero at the end, ``[batch, channels, size + 1]``: what is outside."""
    planes = np.zeros((*input.shape[:2], math.prod(sizes) + 1), input.dtype)
    planes[..., :-1] = input.reshape(*input.shape[:2], math.prod(sizes))
    return planes


def grid_sampler(input: Array, grid: Array, /, how: Warp, orders: Ints) -> Array:
    """Return samples of each plane at the positions of the grid."""
    batch, channels, *sizes = input.shape
    terms = _Neighbours(grid, tuple(sizes), how).terms(orders)
    planes = _with_outside(input, tuple(sizes))
    total = np.zeros((batch, channels, math.prod(grid.shape[1:-1])), input.dtype)
    for images, points in _blocks(*total.shape):
        out = total[images, :, points]
        for index, weight in terms:
            part = _taken(planes[images], index[images, points])
            part *= weight[images, None, points]
            out += part
    return total.reshape(batch, channels, *grid.shape[1:-1])


def grid_spread(self: Array, grid: Array, /, how: Warp, orders: Ints, sizes: Ints) -> Array:
    """Return planes of zeros with each sample added to the elements that it was computed from."""
    batch, channels = self.shape[:2]
    terms = _Neighbours(grid, sizes, how).terms(orders)
    flat = self.reshape(batch, channels, math.prod(grid.shape[1:-1]))
    planes = np.zeros((batch, channels, math.prod(sizes) + 1), self.dtype)
    for images, points in _blocks(*flat.shape):
        target = planes[images]
        for index, weight in terms:
            part = flat[images, :, points] * weight[images, None, points]
            at = _places(index[images, points], target)
            np.add.at(target.reshape(-1), at.reshape(-1), part.reshape(-1))
    return np.ascontiguousarray(planes[..., :-1]).reshape(batch, channels, *sizes)


def _grid_slopes(g: Array, input: Array, grid: Array, how: Warp, orders: Ints) -> Array:
    """Return the derivative of ``sum(g * samples)`` by the grid.

    The sums over channels for each neighbour serve all dimensions.
    """
    sizes, rank = input.shape[2:], len(orders)
    neighbours = _Neighbours(grid, sizes, how)
    weights = {o: neighbours.weights(o) for o in {*orders, *(o + 1 for o in orders)}}
    planes = _with_outside(input, sizes)
    flat = g.reshape(*g.shape[:2], math.prod(g.shape[2:]))
    slopes = np.zeros((rank, len(grid), flat.shape[-1]), grid.dtype)
    for chosen, index in neighbours.combinations():
        sums = np.zeros(index.shape, grid.dtype)
        for images, points in _blocks(*flat.shape):
            part = _taken(planes[images], index[images, points])
            sums[images, points] = np.einsum("ncp,ncp->np", part, flat[images, :, points])
        for d in range(rank):
            raised = (o + (e == d) for e, o in enumerate(orders))
            steps = [weights[o][j][e] for e, (j, o) in enumerate(zip(chosen, raised, strict=True))]
            slopes[rank - 1 - d] += sums * _product(steps)
    return np.ascontiguousarray(np.moveaxis(slopes, 0, -1)).reshape(grid.shape)


samplers = by_rank(grid_sampler, "GridSampler{}DBackward0", (2, 3))
spreads = by_rank(grid_spread, "GridSampler{}DBackwardBackward0", (2, 3))


def _by_grid(g: Any, input: Any, grid: Any, how: Warp, orders: Ints) -> Any:
    """Return the derivative of ``sum(g * samples)`` by the grid."""
    rank = len(orders)
    if not isinstance(g, Tensor):
        return _grid_slopes(g, input, grid, how, orders)

    def steps(g: Any, input: Any, grid: Any) -> Any:
        parts = []
        for d in reversed(range(rank)):  # the grid has the last dimension first
            raised = (*orders[:d], orders[d] + 1, *orders[d + 1 :])
            parts.append(sum_dims(g * samplers[rank](input, grid, how, raised), (1,), False))
        return stack(parts, -1)

    return one_node(f"GridSampler{rank}DBackwardBackward0", steps, g, input, grid)


for _rank in (2, 3):
    samplers[_rank].grad(
        input=lambda g, grid, input_shape, how, orders: spreads[len(orders)](
            g, grid, how, orders, input_shape[2:]
        ),
        grid=lambda g, input, grid, how, orders: _by_grid(g, input, grid, how, orders),
    )
    spreads[_rank].grad(
        self=lambda g, grid, how, orders: samplers[len(orders)](g, grid, how, orders),
        grid=lambda g, self, grid, how, orders: _by_grid(self, g, grid, how, orders),
    )
