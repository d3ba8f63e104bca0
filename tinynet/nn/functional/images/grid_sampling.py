"""Sampling of images at arbitrary positions: grid_sample and affine_grid.

Along each dimension, a sample is a sum over neighbours, weighted by polynomials in the position
between them. Its derivative by the position is the same sum with the derivatives of the
polynomials, so one kernel, with an order of derivative for each dimension, computes all of
them.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import polynomial

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.checks import Ints, by_rank, require_floating, tensor_only
from tinynet.nn.functional.double_backward import one_node
from tinynet.ops.arguments import name_of
from tinynet.ops.reduction.sums import sum_dims
from tinynet.ops.shaping.joining import stack

__all__ = [
    "affine_grid",
    "grid_sample",
]


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


# ---- affine grids -------------------------------------------------------------------------------


def _points(sizes: Ints, align_corners: bool, kind: Any) -> Array:
    """Return homogeneous coordinates of all pixels, last dimension first: ``[P, rank + 1]``."""
    lines = []
    for n in sizes:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        lines.append(line if align_corners or n == 0 else line * ((n - 1) / n))
    mesh = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*mesh, np.ones(sizes)], -1).reshape(-1, len(sizes) + 1).astype(kind)


@operation(node="AffineGridGeneratorBackward0")
def affine_places(theta: Array, /, sizes: Ints, align_corners: bool) -> Array:
    """Return the position of each pixel under affine maps."""
    points = _points(sizes, align_corners, theta.dtype)
    positions = np.matmul(points, np.swapaxes(theta, 1, 2))
    return positions.reshape(theta.shape[0], *sizes, len(sizes))


@operation(node="AffineGridGeneratorBackwardBackward0")
def affine_sums(self: Array, /, sizes: Ints, align_corners: bool) -> Array:
    """Return the sums of positions times points: the transpose of ``affine_places``."""
    flat = self.reshape(self.shape[0], math.prod(sizes), len(sizes))
    return np.matmul(np.swapaxes(flat, 1, 2), _points(sizes, align_corners, self.dtype))


affine_places.grad(theta=lambda g, sizes, align_corners: affine_sums(g, sizes, align_corners))
affine_sums.grad(self=lambda g, sizes, align_corners: affine_places(g, sizes, align_corners))


# ---- grid sampling ------------------------------------------------------------------------------


CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
    "Please specify align_corners=True if the old behavior is desired. See the documentation of "
    "grid_sample for details."
)


@composite(module=True, autocast="float32")
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample the input at the positions of the grid.

    Args:
        input: ``[batch, channels, height, width]``, or with a depth before the height.
        grid: ``[batch, out height, out width, 2]``: x and y of each sample (``[..., 3]``: x, y, z),
            from -1 (left, top) to 1 (right, bottom).
        mode: ``"bilinear"`` (in three dimensions trilinear), ``"nearest"`` or ``"bicubic"``.
        padding_mode: the values outside the image: ``"zeros"``, ``"border"`` or ``"reflection"``.
        align_corners: -1 and 1 are the centers of the corner elements instead of their outer edges.

    Returns:
        ``[batch, channels, out height, out width]``.

    Raises:
        ValueError: the mode is unknown.
        RuntimeError: shapes or dtypes do not match.

    Source: Jaderberg et al., "Spatial transformer networks", 2015.

    Example:
        >>> middle = tn.zeros(1, 1, 1, 2)
        >>> F.grid_sample(tn.tensor([[[[1.0, 3.0]]]]), middle, align_corners=False)
        tensor([[[[2.]]]])
    """
    if mode not in POLYNOMIALS:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        warn(CHANGED)
    tensor_only("grid_sampler", input=input, grid=grid)
    _check(input, grid, mode)
    rank = input.ndim - 2
    how = Warp(mode, padding_mode, bool(align_corners))
    return samplers[rank].function(input, grid, how, (0,) * rank)


def _check(input: Tensor, grid: Tensor, mode: str) -> None:
    x, places = input._array, grid._array
    both = f"but got input with sizes {list(x.shape)} and grid with sizes {list(places.shape)}"
    if x.shape[:1] != places.shape[:1]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, {both}"
        )
    if places.shape[-1] != x.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got "
            f"grid with sizes {list(places.shape)}"
        )
    for d in range(2, x.ndim):
        if x.shape[d] == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                f"has sizes {list(x.shape)} with dimension {d} being empty"
            )
    if x.ndim not in (4, 5) or x.ndim != places.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {4 if x.ndim == 4 else 5}D input and grid with same number "
            f"of dimensions, {both}"
        )
    if mode == "bicubic" and x.ndim == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    require_floating("grid_sampler", x)
    if x.dtype != places.dtype:
        raise RuntimeError(f"expected scalar type {name_of(x)} but found {name_of(places)}")


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Return the grid with which ``grid_sample`` applies affine maps to images.

    Args:
        theta: ``[batch, 2, 3]``, or ``[batch, 3, 4]`` in three dimensions: a matrix and a shift.
        size: the output size of ``grid_sample``, ``[batch, channels, height, width]``, or with a
            depth before the height.
        align_corners: as in ``grid_sample``.

    Returns:
        ``[batch, height, width, 2]``, or ``[batch, depth, height, width, 3]``.

    Raises:
        ValueError: ``theta`` or ``size`` is invalid.
        NotImplementedError: the input has the wrong number of dimensions.

    Example:
        >>> same = tn.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> F.affine_grid(same, (1, 1, 1, 2), align_corners=False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """
    tensor_only("affine_grid", theta=theta)
    if align_corners is None:
        warn(CHANGED)
    if not dtypes.is_floating(theta._array.dtype):
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    rank = len(size) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.ndim != 3 or theta._array.shape[1:] != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size "
            f"{size}. Got {theta.shape}."
        )
    sizes = tuple(int(n) for n in size[2:])
    if align_corners and min(sizes) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details."
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if theta.shape[0] != size[0]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{size[0]}, {rank + 1}] but got: [{theta.shape[0]}, {rank + 1}]."
        )
    return affine_places.function(theta, sizes, bool(align_corners))
