"""Windows that slide over an array, laid out as the columns of a matrix.

With every window as a column, a convolution is a matrix product (Chellapilla, Puri and Simard,
"High Performance Convolutional Neural Networks for Document Processing", 2006). The matrix of all
columns is ``prod(kernel)`` times as large as the input and exceeds the cache. It is therefore built
in blocks, each of which is multiplied while it is in the cache. Every block also reads or adds to
one more matrix, the weight or its gradient: where that is large, a block is as large.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.nn.functional.geometry import Geometry, windows_inside

FEW = 1 << 15  # elements of columns whose indices are kept
OFFSET = 16
PARTS = 4  # of a batch: partial sums for gradients of weights
_SHARED = 1 << 22  # multiply-adds that are worth waking a thread
BLOCK = 1 << 21  # bytes: the share of the cache per core
_ALL = slice(None)


def per_block(each: int, other: int) -> int:
    """Return the number of items in one block.

    Args:
        each: the size of one item, in bytes.
        other: the size of the matrix that each block reads or adds to. A smaller block would spend
            more time on that matrix than on its own items.
    """
    return max(1, max(BLOCK, other) // max(1, each))


def share(work: Callable[[Any], object], parts: Sequence[Any], multiplications: int) -> None:
    """Call a function with each part of a convolution; threads share large ones."""
    if multiplications >= _SHARED:
        threads.share(work, parts)
        return
    for part in parts:
        work(part)


def parts_of(batch: int, images: int) -> list[slice]:
    """Return up to ``PARTS`` parts of a batch, in whole blocks of images."""
    return threads.slices(batch, images * max(1, -(-batch // (images * PARTS))))


def each_block(
    work: Callable[[slice, slice, Array, int], object], x: Array, walk: Geometry, weight: Array
) -> None:
    """Call a function with the windows of ``x``, block by block; threads share large batches.

    Args:
        work: called with a slice of the batch, a slice of the windows (in order, flattened to one
            dimension), an array ``[channels * prod(kernel), batch, windows]``, which the next block
            overwrites, and the number of the part of the batch, which one thread computes.
        x: ``[batch, channels, *size]``.
        walk: the geometry of the windows.
        weight: the weight that each block reads, or the gradient to which it adds.
    """
    batch, channels = x.shape[:2]
    height, windows = channels * math.prod(walk.kernel), math.prod(walk.out)
    if batch * height * windows <= FEW:
        if x.size and windows:
            work(slice(batch), slice(windows), _gathered(x, walk), 0)
        return
    parts = parts_of(batch, per_block(height * windows * x.itemsize, weight.nbytes))

    def share_of(number: int) -> None:
        for part, span, block in _columns(x, parts[number], walk, weight.nbytes):
            work(part, span, block, number)

    share(share_of, range(len(parts)), batch * windows * weight.size)


def _columns(
    x: Array, images: slice, walk: Geometry, other: int
) -> Iterator[tuple[slice, slice, Array]]:
    """Yield blocks of some images; they are as large as ``other``, a number of bytes, or more."""
    height, row = x.shape[1] * math.prod(walk.kernel), math.prod(walk.out[1:])
    room = per_block(height * row * x.itemsize, other)  # rows of windows
    step, rows = max(1, room // walk.out[0]), min(room, walk.out[0])
    step = min(step, images.stop - images.start)
    buffer = np.empty(height * (step * rows * row + OFFSET), x.dtype)
    for start in range(images.start, images.stop, step):
        part = slice(start, min(start + step, images.stop))
        windows = sliding(x[part], walk)
        for top in range(0, walk.out[0], rows):
            at: Any = (..., slice(top, top + rows), *(_ALL,) * (len(walk.out) - 1))
            block = windows[at]
            length = block.size // height
            # Rows a multiple of 1 KiB apart would compete for the same cache lines: BLAS would
            # lose a third of its speed.
            pitch = length if length * x.itemsize % 1024 else length + OFFSET
            copy = buffer[: height * pitch].reshape(height, pitch)[:, :length]
            np.copyto(copy.reshape(block.shape), block)
            clear_edges(copy.reshape(block.shape), x.shape[2:], walk)
            matrix = copy.reshape(height, part.stop - start, -1)
            yield part, slice(top * row, top * row + matrix.shape[2]), matrix


def _gathered(x: Array, walk: Geometry) -> Array:
    """Return the windows as columns: for few elements, one call takes less time than slices."""
    elements, padded = _elements(x.shape, walk)
    flat = x.reshape(-1)
    if padded:
        flat = np.empty(x.size + 1, x.dtype)
        flat[0], flat[1:] = 0, x.reshape(-1)
    return flat.take(elements)


@functools.lru_cache(maxsize=128)
def _elements(shape: tuple[int, ...], walk: Geometry) -> tuple[Array, bool]:
    """Return the flat index of each element of the columns, and whether some are outside.

    Then index 0 is a zero before the array.
    """
    found = np.array(sliding(np.arange(1, math.prod(shape) + 1).reshape(shape), walk))
    clear_edges(found, shape[2:], walk)
    padded = not found.all()
    return (found if padded else found - 1).reshape(-1, shape[0], math.prod(walk.out)), padded


def sliding(x: Array, walk: Geometry) -> Array:
    """Return the windows ``[channels, *kernel, batch, *out]`` as a read-only view.

    Beyond the edges of all dimensions but the first, windows hold elements of the adjacent row
    instead of zeros, until ``clear_edges`` corrects a copy. Rows therefore need no padding, and if
    there are as many windows as elements, a whole image is copied as one run.
    """
    batch, channels, *size = x.shape
    steps = x.strides[2:]
    if any(walk.padding) or any(map(operator.ge, walk.reach, size)):
        x, steps = _framed(x, walk)
    return as_strided(
        x,
        (channels, *walk.kernel, batch, *walk.out),
        (
            x.strides[1],
            *map(operator.mul, steps, walk.dilation),
            x.strides[0],
            *map(operator.mul, steps, walk.stride),
        ),
        writeable=False,
    )


def _framed(x: Array, walk: Geometry) -> tuple[Array, tuple[int, ...]]:
    """Return each image as one run of elements with zeros around it, from the first window on."""
    inside, start, length, steps = _frame(x.shape[2:], walk)
    frame = np.zeros((*x.shape[:2], length), x.dtype)
    frame[:, :, inside].reshape(x.shape)[...] = x
    return frame[:, :, start:], tuple([step * x.itemsize for step in steps])


@functools.lru_cache(maxsize=512)
def _frame(size: tuple[int, ...], walk: Geometry) -> tuple[slice, int, int, tuple[int, ...]]:
    """Return the image's place in a frame, the first window's, the length, and distances."""
    steps = tuple(math.prod(size[i + 1 :]) for i in range(len(size)))
    before = sum(step * p for step, p in zip(steps, walk.padding, strict=True))
    needed = 1 + sum(step * r for step, r in zip(steps, walk.reach, strict=True))
    first = max(before, 0)  # the start of the image; windows may start inside it
    stop = first + math.prod(size)
    return slice(first, stop), first - before, max(stop, first - before + needed), steps


def clear_edges(windows: Array, size: tuple[int, ...], walk: Geometry) -> None:
    """Write zeros where windows ``[channels, *kernel, batch, *out]`` extend past the edges."""
    for at in _edges(size, walk):
        windows[at] = 0


@functools.lru_cache(maxsize=512)  # a layer asks in each call
def _edges(size: tuple[int, ...], walk: Geometry) -> list[Any]:
    """Return the indices of the elements of windows beyond the edges of dimensions after the first.

    The zeros of the first dimension are those of `_framed`.
    """
    dims, found = len(size), []
    for axis in range(1, dims):
        kernel, stride, padding, dilation, out = (field[axis] for field in walk)
        for k in range(kernel):
            low, high = windows_inside(size[axis], dilation * k - padding, stride, out)
            for outside in (slice(0, low), slice(high, out)):
                if outside.start < outside.stop:
                    rest = (_ALL,) * (dims - axis - 1)
                    found.append((*(_ALL,) * (axis + 1), k, ..., outside, *rest))
    return found


def added(windows: Array, size: tuple[int, ...], walk: Geometry, before: int = 2) -> Array:
    """Return arrays ``[..., *size, ...]``: for each element, the sum over its windows.

    Args:
        windows: ``[..., *kernel, *out, ...]``.
        size: the size of the result.
        walk: the geometry of the windows; no padding is negative.
        before: the number of dimensions before those of the kernel.
    """
    reach = zip(size, walk.padding, walk.reach, strict=True)
    padded = tuple(max(n + p, r + 1) for n, p, r in reach)
    rest = windows.shape[before + 2 * len(size) :]
    framed = np.zeros((*windows.shape[:before], *padded, *rest), windows.dtype)
    outer = (_ALL,) * before
    for offset in itertools.product(*map(range, walk.kernel)):
        steps = zip(offset, walk.stride, walk.dilation, walk.out, strict=True)
        target: Any = (*outer, *(slice(d * k, d * k + s * (o - 1) + 1, s) for k, s, d, o in steps))
        source: Any = (*outer, *offset)
        framed[target] += windows[source]
    inside: Any = (*outer, *(slice(p, p + n) for n, p in zip(size, walk.padding, strict=True)))
    return framed[inside]
