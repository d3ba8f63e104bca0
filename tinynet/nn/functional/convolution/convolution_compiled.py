"""Convolutions of float32 images with numba kernels: see ``numba_kernels.streams``.

Rows of images lie in streams, one after the other, with the zeros between them that windows reach
over. A part of a batch is one call, so that threads share the work without waiting for each other.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from tinynet import numba_kernels
from tinynet.dtypes import Array
from tinynet.nn.functional.convolution.im2col import Walk
from tinynet.numba_kernels import stream_convolutions
from tinynet.numba_kernels.llvm.stream_code import BLOCK, LANES, LEFT, PLACES, RIGHT, ROWS
from tinynet.numba_kernels.polynomials import POINTS, TILE

Ints = tuple[int, ...]
CACHE = 3 << 17  # numbers in the streams of one thread, which its cache holds
PARTS = 8  # of a batch, at most
FEW = 256  # places of a stream, that are a part of their own


def can(x: Array, outputs: int, walk: Walk, groups: int) -> bool:
    """Return whether there are kernels for these images, and the weights fit a cache."""
    weights = outputs * x.shape[1] * math.prod(walk.kernel)
    return (
        numba_kernels.on
        and x.dtype == np.float32
        and groups == 1
        and len(walk.out) == 2
        and min(x.shape) > 0 < min(outputs, *walk.out)
        and weights <= CACHE
    )


def pays(x: Array, outputs: int, walk: Walk, groups: int) -> bool:
    """Return whether this algorithm is faster, as measured, except for plain matrix products."""
    return can(x, outputs, walk, groups) and not walk.trivial(x.shape[2:])


def _up(n: int, step: int) -> int:
    return -(-n // step) * step


def _apart(length: int) -> int:
    """Return a length for rows that do not meet in the same lines of a cache."""
    return _up(length + 2 * PLACES, 2 * LANES) + LANES


def _padded(rows: Array, *sizes: int) -> Array:
    """Return an array with zeros behind its last elements, up to multiples of sizes."""
    shape = [_up(n, s) for n, s in zip(rows.shape, sizes, strict=True)]
    made = np.zeros(shape, np.float32)
    made[tuple(slice(n) for n in rows.shape)] = rows
    return made


def _packed(matrix: Array) -> Array:
    """Return ``[..., rows, columns]`` as ``[..., blocks, columns, 8]``."""
    made = _padded(matrix, *(1,) * (matrix.ndim - 2), ROWS, 1)
    cut = made.reshape(*made.shape[:-2], -1, ROWS, made.shape[-1])
    return np.ascontiguousarray(cut.swapaxes(-1, -2))


def _biased(bias: Array | None, outputs: int) -> Array:
    return np.zeros(outputs, np.float32) if bias is None else np.ascontiguousarray(bias)


def _pieces(batch: int, count: int) -> int:
    return min(batch, max(2, min(count, PARTS)))


class _Totals:
    """Sums of products of the rows of two streams: memory for each part of a batch.

    Attributes:
        offsets: of the rows of the second stream; the last one is repeated.
        made: ``[parts, streams, rows / 4, offsets / 6, 32]``, zeros.
    """

    def __init__(self, offsets: Array, outputs: int, streams: int, batch: int):
        self.wanted, self.outputs = len(offsets), outputs
        self.offsets = np.pad(offsets, (0, -self.wanted % RIGHT), "edge")
        shape = streams, -(-outputs // LEFT), len(self.offsets) // RIGHT, BLOCK
        self.made = np.zeros((_pieces(batch, CACHE // math.prod(shape)), *shape), np.float32)

    def total(self) -> Array:
        """Return the sum of all parts, ``[streams, outputs, offsets]``."""
        total = self.made.sum(axis=0)[..., : LEFT * RIGHT]
        each = total.reshape(*total.shape[:3], LEFT, RIGHT).swapaxes(2, 3)
        rows = each.reshape(len(total), -1, len(self.offsets))
        return rows[:, : self.outputs, : self.wanted]


# ---- kernels of length 3 ------------------------------------------------------------------------


class _Tiles:
    """The layout of tiles of rows in streams.

    Attributes:
        pieces: number of parts of a batch, for a convolution.
        pitch: places from one row to the next: its elements, then zeros.
        margin: places before the first row.
        offsets: of the elements of a window, ``[channels * kernel]``.
    """

    def __init__(self, walk: Walk, shape: Ints, outputs: int):
        batch, channels, _, width = shape
        padding, kernel, out = walk.padding[1], walk.kernel[1], walk.out[1]
        self.top, self.margin = walk.padding[0], max(padding, 0)
        self.pitch = max(width + self.margin, out + kernel - 1 - padding, out)
        places = -(-walk.out[0] // TILE) * self.pitch
        self.pieces = _pieces(batch, batch * places // FEW)
        numbers = POINTS * (channels + _up(outputs, ROWS)) * places
        self.images = _images(-(-batch // self.pieces), numbers, places)
        self.step = _apart(self.margin + self.images * places + kernel + max(-padding, 0))
        steps = np.arange(channels)[:, None] * self.step + np.arange(kernel)
        self.offsets = steps.reshape(-1) + self.margin - padding

    @property
    def numbers(self) -> tuple[int, int, int, int, int]:
        """The arguments of the kernels."""
        return self.top, self.pitch, self.margin, self.step, self.images


def _images(batch: int, numbers: int, places: int) -> int:
    """Return the number of images per step that wastes the fewest tile positions."""

    def cost(images: int) -> tuple[int, int]:
        whole, rest = divmod(batch, images)
        return whole * _up(images * places, PLACES) + _up(rest * places, PLACES), -images

    return min(range(1, max(1, min(batch, CACHE // numbers)) + 1), key=cost)


_tiles = functools.lru_cache(maxsize=64)(_Tiles)


def winograd(x: Array, weight: Array, bias: Array | None, walk: Walk) -> Array:
    """Return the convolution of ``[batch, channels, height, width]`` and a weight."""
    x, made = np.ascontiguousarray(x), np.empty((len(x), len(weight), *walk.out), np.float32)
    tiles = _tiles(walk, x.shape, len(weight))
    offset = _biased(bias, len(weight))
    blocks = -(-len(weight) // ROWS)
    packed = np.zeros((POINTS, blocks, len(tiles.offsets), ROWS), np.float32)
    stream_convolutions.weight_sums(np.ascontiguousarray(weight), packed)
    stream_convolutions.winograd(
        x, packed, offset, made, tiles.offsets, *tiles.numbers, tiles.pieces
    )
    return made


def winograd_weights(x: Array, y: Array, walk: Walk) -> Array:
    """Return the gradient of the weight, from the input and the gradient of the output."""
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    tiles = _tiles(walk, x.shape, y.shape[1])
    totals = _Totals(tiles.offsets, y.shape[1], POINTS, len(x))
    stream_convolutions.winograd_weights(x, y, totals.made, totals.offsets, *tiles.numbers)
    found = np.empty((y.shape[1], x.shape[1], *walk.kernel), np.float32)
    stream_convolutions.weight_gradients(totals.made, found)
    return found


# ---- all others ---------------------------------------------------------------------------------


class _Phases:
    """The layout of images in streams, with every ``stride``-th element adjacent.

    Attributes:
        pieces: number of parts of a batch, for a convolution.
        phases: the first elements, ``[phases, 2]``, of those that windows see.
        offsets: of the elements of a window, ``[channels * kernel]``.
        rows: of an image.
        pitch: places from one row to the next.
        together: images that are multiplied at once, windows between them included.
    """

    def __init__(self, walk: Walk, shape: Ints, outputs: int):
        seen = [
            [divmod(d * k, s) for k in range(kernel)]
            for kernel, s, d in zip(walk.kernel, walk.stride, walk.dilation, strict=True)
        ]
        taps = [*itertools.product(*seen)]
        found = sorted({(a[1], b[1]) for a, b in taps})
        self.phases, self.walk = np.array(found), np.array([*walk.stride, *walk.padding])
        reach = [max(a[0] for a in steps) for steps in seen]
        self.rows, self.pitch = walk.out[0] + reach[0], walk.out[1] + reach[1]
        plane = self.rows * self.pitch
        self.pieces = _pieces(shape[0], shape[0] * plane // FEW)
        numbers = (shape[1] * len(found) + _up(outputs, ROWS)) * plane
        self.images = _images(-(-shape[0] // self.pieces), numbers, plane)
        self.step = _apart(self.images * plane + PLACES)
        alone = _up((walk.out[0] - 1) * self.pitch + walk.out[1], PLACES) <= plane
        self.together = 1 if alone else self.images
        each = np.array(
            [found.index((a[1], b[1])) * self.step + a[0] * self.pitch + b[0] for a, b in taps]
        )
        first = np.arange(shape[1])[:, None] * len(found) * self.step
        self.offsets = (first + each).reshape(-1)


_phases = functools.lru_cache(maxsize=64)(_Phases)


def direct(x: Array, weight: Array, bias: Array | None, walk: Walk, whole: Array, to: Ints) -> None:
    """Write the convolution of ``[batch, channels, height, width]`` and a weight.

    Args:
        x: the images.
        weight: ``[out channels, channels, *kernel]``.
        bias: ``[out channels]``, or None.
        walk: how windows move.
        whole: ``[batch, out channels, height, width]``.
        to: where in a channel of it the result begins, from row to row, and from place to place.
    """
    x, p = np.ascontiguousarray(x), _phases(walk, x.shape, len(weight))
    packed, offset = _packed(weight.reshape(len(weight), -1)), _biased(bias, len(weight))
    target, size = np.array(to), np.array(walk.out)
    stream_convolutions.direct(
        x, packed, offset, whole, target, size, p.offsets, p.walk, p.phases, p.rows, p.pitch,
        p.step, p.images, p.together, p.pieces,
    )  # fmt: skip


def direct_weights(x: Array, y: Array, walk: Walk) -> Array | None:
    """Return the gradient of the weight, from the input and the gradient of the output.

    None if it is not finite: elements that no window sees are multiplied by zeros, and would have
    made infinities NaN.
    """
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    p = _phases(walk, x.shape, y.shape[1])
    totals = _Totals(p.offsets, y.shape[1], 1, len(x))
    stream_convolutions.direct_weights(
        x, y, totals.made[:, 0], totals.offsets, p.walk, p.phases, p.rows, p.pitch, p.step, p.images
    )
    found = np.ascontiguousarray(totals.total()).reshape(y.shape[1], x.shape[1], *walk.kernel)
    return found if np.isfinite(found).all() else None


def convolved(x: Array, weight: Array, bias: Array | None, walk: Walk, by_tiles: bool) -> Array:
    """Return the convolution of ``[batch, channels, height, width]`` and a weight."""
    if by_tiles:
        return winograd(x, weight, bias, walk)
    made = np.empty((len(x), len(weight), *walk.out), np.float32)
    direct(x, weight, bias, walk, made, (0, walk.out[1], 1))
    return made
