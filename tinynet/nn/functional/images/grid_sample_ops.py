"""The operations behind grid_sample: a picture read at any places, and differentiated by them.

Along each dimension a sample is a sum over neighbours, weighted by polynomials in the position
between them. The derivative by the position has the same form with the polynomials differentiated,
so one kernel, with an order for each dimension, serves all derivatives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import polynomial

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.dimensions import Ints, by_rank
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
FIRST = {"nearest": 0, "bilinear": 0, "bicubic": -1}  # the first neighbour, from the one before


class Warp(NamedTuple):
    """The options of grid_sample."""

    mode: str
    padding_mode: str
    align_corners: bool


# ---- positions ----------------------------------------------------------------------------------


def _reflected(x: Array, n: int, align_corners: bool) -> tuple[Array, Array]:
    """Return positions mirrored at the ends until they are inside, and the slopes."""
    low, span = (0.0, float(n - 1)) if align_corners else (-0.5, float(n))
    if span == 0:
        return np.zeros_like(x), np.zeros_like(x)
    away = np.abs(x - low)
    turns, rest = np.divmod(away, span)
    odd = turns % 2 == 1
    found = np.where(odd, span - rest, rest) + low
    return found, np.where(odd, -1.0, 1.0) * np.where(x < low, -1.0, 1.0)


def _inside(x: Array, n: int, how: Warp) -> tuple[Array, Array | float]:
    """Return positions brought into the picture as the padding mode says, and the slopes."""
    if how.padding_mode == "zeros":
        return x, 1.0
    slope: Array | float = 1.0
    if how.padding_mode == "reflection":
        x, slope = _reflected(x, n, how.align_corners)
    return np.clip(x, 0, n - 1), slope * ((x > 0) & (x < n - 1))


def _neighbours(c: Array, n: int, how: Warp, order: int) -> list[tuple[Array, Array]]:
    """Return elements and weights, of an order of derivative, for coordinates in [-1, 1]."""
    step = (n - 1) / 2 if how.align_corners else n / 2
    padded = how.mode != "bicubic" and how.padding_mode != "zeros"
    wild = ~np.isfinite(c)
    c = np.where(np.isnan(c), -1 if padded else 1e9, c).astype(c.dtype)
    x = np.clip((c + 1) * step - (0.0 if how.align_corners else 0.5), -1e9, 1e9)
    slope: Array | float = 1.0
    if how.mode != "bicubic":
        x, slope = _inside(x, n, how)
    base = np.rint(x) if how.mode == "nearest" else np.floor(x)
    found = []
    for offset, coefficients in enumerate(POLYNOMIALS[how.mode], FIRST[how.mode]):
        place = base + offset
        if how.mode == "bicubic":
            place = np.rint(_inside(place, n, how)[0])
        weight = polynomial.polyval(x - base, polynomial.polyder(coefficients, order))
        weight = weight * (slope * step) ** order * ((place >= 0) & (place < n))
        if not padded and how.mode != "nearest":  # a place that is not a number gives no number
            weight = np.where(wild, np.nan, weight)
        found.append((np.clip(place, 0, n - 1).astype(np.int64), weight.astype(c.dtype)))
    return found


def _terms(grid: Array, sizes: Ints, how: Warp, orders: Ints) -> Iterator[tuple[Array, Array]]:
    """Yield, for each combination of neighbours, places in the plane and weights: ``[N, P]``."""
    rank = len(sizes)
    flat = grid.reshape(grid.shape[0], math.prod(grid.shape[1:-1]), rank)
    lines = [_neighbours(flat[..., rank - 1 - d], n, how, orders[d]) for d, n in enumerate(sizes)]
    for chosen in itertools.product(*lines):
        place, weight = chosen[0]
        for n, (further, factor) in zip(sizes[1:], chosen[1:], strict=True):
            place, weight = place * n + further, weight * factor
        yield place, weight


# ---- the operations -----------------------------------------------------------------------------


def grid_sampler(input: Array, grid: Array, /, how: Warp, orders: Ints) -> Array:
    """Return samples of each plane at the places of the grid."""
    batch, channels, *sizes = input.shape
    out = grid.shape[1:-1]
    # With the channels last a place is one row: one index finds it for all channels.
    rows = np.moveaxis(input, 1, -1).reshape(batch * math.prod(sizes), channels)
    first = np.arange(batch)[:, None] * math.prod(sizes)
    total = np.zeros((batch * math.prod(out), channels), input.dtype)
    for place, weight in _terms(grid, tuple(sizes), how, orders):
        part = np.take(rows, (place + first).reshape(-1), 0)
        part *= weight.reshape(-1, 1)
        total += part
    return np.ascontiguousarray(np.moveaxis(total.reshape(batch, *out, channels), -1, 1))


def grid_spread(self: Array, grid: Array, /, how: Warp, orders: Ints, sizes: Ints) -> Array:
    """Return planes in which each sample is added where it was read."""
    batch, channels = self.shape[:2]
    flat = self.reshape(batch, channels, math.prod(grid.shape[1:-1]))
    whole = np.zeros(batch * channels * math.prod(sizes), self.dtype)
    first = np.arange(batch * channels).reshape(batch, channels, 1) * math.prod(sizes)
    for place, weight in _terms(grid, sizes, how, orders):
        part = flat * weight[:, None]
        np.add.at(whole, (first + place[:, None]).reshape(-1), part.reshape(-1))
    return whole.reshape(batch, channels, *sizes)


samplers = by_rank(grid_sampler, "GridSampler{}DBackward0", (2, 3))
spreads = by_rank(grid_spread, "GridSampler{}DBackwardBackward0", (2, 3))


def _by_grid(g: Any, input: Any, grid: Any, how: Warp, orders: Ints) -> Any:
    """Return the derivative of ``sum(g * samples)`` by the grid."""
    rank = len(orders)

    def steps(g: Any, input: Any, grid: Any) -> Any:
        parts = []
        for d in reversed(range(rank)):  # the grid names the last dimension first
            raised = (*orders[:d], orders[d] + 1, *orders[d + 1 :])
            parts.append(sum_dims(g * samplers[rank](input, grid, how, raised), (1,), False))
        return stack(parts, -1)

    if not isinstance(g, Tensor):
        return steps(g, input, grid)
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

# ---- affine grids -------------------------------------------------------------------------------


def _points(sizes: Ints, align_corners: bool, kind: Any) -> Array:
    """Return homogeneous coordinates of all places, the last dimension first: ``[P, rank + 1]``."""
    lines = []
    for n in sizes:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        lines.append(line if align_corners or n == 0 else line * ((n - 1) / n))
    mesh = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*mesh, np.ones(sizes)], -1).reshape(-1, len(sizes) + 1).astype(kind)


@operation(node="AffineGridGeneratorBackward0", methods=False, batch="folded")
def affine_places(theta: Array, /, sizes: Ints, align_corners: bool) -> Array:
    """Return where each place of a picture comes from under affine maps."""
    points = _points(sizes, align_corners, theta.dtype)
    places = np.matmul(points, np.swapaxes(theta, 1, 2))
    return places.reshape(theta.shape[0], *sizes, len(sizes))


@operation(node="AffineGridGeneratorBackwardBackward0", methods=False, batch="folded")
def affine_sums(self: Array, /, sizes: Ints, align_corners: bool) -> Array:
    """Return the sums of places times points: the transpose of ``affine_places``."""
    flat = self.reshape(self.shape[0], math.prod(sizes), len(sizes))
    return np.matmul(np.swapaxes(flat, 1, 2), _points(sizes, align_corners, self.dtype))


affine_places.grad(theta=lambda g, sizes, align_corners: affine_sums(g, sizes, align_corners))
affine_sums.grad(self=lambda g, sizes, align_corners: affine_places(g, sizes, align_corners))
