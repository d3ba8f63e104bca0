"""Windows that slide over an array, laid out as the columns of a matrix.

A convolution is a matrix product once every window is a column (Chellapilla, Puri and Simard, "High
Performance Convolutional Neural Networks for Document Processing", 2006). All columns at once would
be ``prod(kernel)`` times the input, far more than a cache holds: they are made in blocks, each of
which is multiplied while it is still in the cache.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet.dtypes import Array

BLOCK = 1 << 21  # bytes of columns in one block: the share of the cache per core
_ALL = slice(None)


class Walk(NamedTuple):
    """The geometry of sliding windows, one int per dimension in each field.

    Window ``o`` holds, for ``0 <= k < kernel``, the elements ``stride * o + dilation * k -
    padding``; outside the array these are 0. A negative padding skips elements.

    Attributes:
        kernel: size of a window.
        stride: step between windows.
        padding: the padding before the first element; that after the last follows from ``out``.
        dilation: distance between the elements of a window.
        out: number of windows.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def reach(self) -> tuple[int, ...]:
        """The extent from the first element of the first window to the last of the last."""
        return tuple((o - 1) * s + (k - 1) * d for k, s, _, d, o in zip(*self, strict=True))

    def trivial(self, size: tuple[int, ...]) -> bool:
        """Return whether the windows of an array of this size are its elements."""
        return {*self.kernel, *self.stride} == {1} and not any(self.padding) and self.out == size


def columns(x: Array, walk: Walk) -> Iterator[tuple[slice, slice, Array]]:
    """Yield blocks of the windows of ``x``: which of the batch, which windows, and the columns.

    Args:
        x: ``[batch, channels, *size]``.
        walk: how the windows move.

    Yields:
        A slice of the batch, a slice of the windows (in their order, as one dimension), and an
        array ``[channels * prod(kernel), batch, windows]``, which the next block overwrites.
    """
    batch, channels, dims = x.shape[0], x.shape[1], len(walk.out)
    height, row = channels * math.prod(walk.kernel), math.prod(walk.out[1:])
    if not batch * height * row * walk.out[0]:
        return
    room = max(1, BLOCK // (height * row * x.itemsize))  # rows of windows in one block
    images, rows = min(batch, max(1, room // walk.out[0])), min(room, walk.out[0])
    trivial = walk.trivial(x.shape[2:])
    buffer = np.empty(0 if trivial else height * (images * rows * row + OFFSET), x.dtype)
    for start in range(0, batch, images):
        part = slice(start, min(start + images, batch))
        windows = sliding(x[part], walk)
        for top in range(0, walk.out[0], rows):
            at: Any = (..., slice(top, top + rows), *(_ALL,) * (dims - 1))
            block = windows[at]
            if not trivial:
                block = copied(block, buffer, x.shape[2:], walk)
            made = block.reshape(height, part.stop - start, -1)
            yield part, slice(top * row, top * row + made.shape[2]), made


OFFSET = 16
ROWS_FROM = 5  # number of window rows from which a row layout pays


def copied(block: Array, buffer: Array, size: tuple[int, ...], walk: Walk) -> Array:
    """Return windows copied to the buffer, with zeros where they lie outside the array.

    The rows of the matrix do not start a multiple of 1 KiB apart: they would meet in the same few
    lines of the cache, and BLAS lose a third of its speed.
    """
    dims = len(walk.kernel)
    height, length = math.prod(block.shape[: dims + 1]), math.prod(block.shape[dims + 1 :])
    pitch = length if length * buffer.itemsize % 1024 else length + OFFSET
    made = buffer[: height * pitch].reshape(height, pitch)[:, :length].reshape(block.shape)
    np.copyto(made, block)
    if not _lays_rows(walk):
        clear_edges(made, size, walk)
    return made


def sliding(x: Array, walk: Walk) -> Array:
    """Return the windows ``[channels, *kernel, batch, *out]``: a view, not to be written.

    Where a window reaches over the edge of a dimension other than the first, it holds elements of
    the neighbouring row instead of zeros, until ``clear_edges`` corrects the copy. So rows need no
    frame, and where there are as many windows as elements, whole images are copied as one run.
    """
    if _lays_rows(walk):
        return _of_rows(x, walk)
    batch, channels, *size = x.shape
    steps = x.strides[2:]
    if any(walk.padding) or any(r >= n for r, n in zip(walk.reach, size, strict=True)):
        x, steps = _framed(x, walk)
    return as_strided(
        x,
        (channels, *walk.kernel, batch, *walk.out),
        (
            x.strides[1],
            *(step * d for step, d in zip(steps, walk.dilation, strict=True)),
            x.strides[0],
            *(step * s for step, s in zip(steps, walk.stride, strict=True)),
        ),
        writeable=False,
    )


def _framed(x: Array, walk: Walk) -> tuple[Array, tuple[int, ...]]:
    """Return each image as one run of elements with zeros around it, from where windows start."""
    batch, channels, *size = x.shape
    steps = tuple(math.prod(size[i + 1 :]) for i in range(len(size)))
    before = sum(step * p for step, p in zip(steps, walk.padding, strict=True))
    needed = 1 + sum(step * r for step, r in zip(steps, walk.reach, strict=True))
    length = math.prod(size)
    first = max(before, 0)  # where the image begins; windows may begin inside it
    frame = np.zeros((batch, channels, max(first + length, first - before + needed)), x.dtype)
    frame[:, :, first : first + length].reshape(x.shape)[...] = x
    return frame[:, :, first - before :], tuple(step * x.itemsize for step in steps)


def _lays_rows(walk: Walk) -> bool:
    """Return whether rows are laid out as each column of a window sees them, zeros included.

    They are copied once more, but for edges that are cleared in few rows, not in every window.
    """
    return len(walk.kernel) == 2 and walk.kernel[0] >= ROWS_FROM and walk.padding[1] > 0


def _of_rows(x: Array, walk: Walk) -> Array:
    """Return the windows ``[channels, *kernel, batch, *out]`` of rows laid out like that."""
    batch, channels, *size = x.shape
    made = np.zeros((channels, walk.kernel[1], batch, walk.reach[0] + 1, walk.out[1]), x.dtype)
    first = walk.padding[0]
    top = max(-first, 0)
    rows = slice(top, max(top, min(size[0], made.shape[3] - first)))  # of the image, that are seen
    inside = made[:, :, :, rows.start + first : rows.stop + first]
    _, stride, padding, dilation, out = (field[1] for field in walk)
    for k in range(walk.kernel[1]):
        low, high = _inside(size[1], dilation * k - padding, stride, out)
        start = stride * low + dilation * k - padding
        found = x[:, :, rows, start : start + stride * (high - low) : stride]
        inside[:, k, ..., low:high] = found.transpose(1, 0, 2, 3) if high > low else 0
    channel, column, image, row, place = made.strides
    steps = channel, walk.dilation[0] * row, column, image, walk.stride[0] * row, place
    shape = channels, *walk.kernel, batch, *walk.out
    return as_strided(made, shape, steps, writeable=False)


def _inside(size: int, shift: int, stride: int, out: int) -> tuple[int, int]:
    """Return which windows see an element of the array ``shift`` behind their place: from, to."""
    low = min(max(-(shift // stride), 0), out)
    return low, min(max((size - 1 - shift) // stride + 1, low), out)


def clear_edges(windows: Array, size: tuple[int, ...], walk: Walk) -> None:
    """Write zeros where windows ``[channels, *kernel, batch, *out]`` lie outside the array."""
    dims = len(size)
    for axis in range(1, dims):  # of the first dimension, `_framed` has all the zeros needed
        kernel, stride, padding, dilation, out = (field[axis] for field in walk)
        for k in range(kernel):
            low, high = _inside(size[axis], dilation * k - padding, stride, out)
            for outside in (slice(0, low), slice(high, out)):
                if outside.start < outside.stop:
                    at: Any = (*(_ALL,) * (axis + 1), k, ..., outside, *(_ALL,) * (dims - axis - 1))
                    windows[at] = 0


def added(windows: Array, size: tuple[int, ...], walk: Walk, before: int = 2) -> Array:
    """Return arrays ``[..., *size, ...]``, the sums of what windows hold for each element.

    Args:
        windows: ``[..., *kernel, *out, ...]``.
        size: the size of the result.
        walk: how the windows move; no padding is negative.
        before: the number of dimensions before those of the kernel.
    """
    reach = zip(size, walk.padding, walk.reach, strict=True)
    whole = tuple(max(n + p, r + 1) for n, p, r in reach)
    rest = windows.shape[before + 2 * len(size) :]
    framed = np.zeros((*windows.shape[:before], *whole, *rest), windows.dtype)
    outer = (_ALL,) * before
    for place in itertools.product(*map(range, walk.kernel)):
        steps = zip(place, walk.stride, walk.dilation, walk.out, strict=True)
        at: Any = (*outer, *(slice(d * k, d * k + s * (o - 1) + 1, s) for k, s, d, o in steps))
        held: Any = (*outer, *place)
        framed[at] += windows[held]
    inside: Any = (*outer, *(slice(p, p + n) for n, p in zip(size, walk.padding, strict=True)))
    return framed[inside]
