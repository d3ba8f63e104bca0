"""Max pooling of 2x2 windows, one row of windows at a time; see ``nn.functional.halving``.

``start`` and ``at`` are positions in an array, ``step`` is the distance between rows.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.stream_code import peaks_code, spread_code
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.numpy_streams import numbers
from tinynet.numba_kernels.shared import shared


@written(peaks_code)
def peaks_of_rows(
    x: Array, start: int, step: int, width: int, best: Array, offsets: Array, at: int
) -> None:
    """Write the maxima of a row of windows, and the offset of the first maximum: 0 to 3.

    If a window contains NaNs, the last NaN is the maximum.
    """
    rows = numbers(x, start, step, 2, 2 * width).reshape(2, width, 2)
    windows = rows.transpose(1, 0, 2).reshape(width, 4)
    missing = np.isnan(windows)
    last = 3 - missing[:, ::-1].argmax(1)
    place = np.where(missing.any(1), last, windows.argmax(1))
    best[at : at + width] = windows[np.arange(width), place]
    offsets[at : at + width] = place


@written(spread_code)
def spread_to_rows(
    g: Array, offsets: Array, at: int, width: int, out: Array, start: int, step: int
) -> None:
    """Write two rows of zeros, except for an element at the offset of each window."""
    rows = np.zeros((2, 2 * width), g.dtype)
    places = offsets[at : at + width]
    rows[places // 2, 2 * np.arange(width) + places % 2] = g[at : at + width]
    numbers(out, start, step, 2, 2 * width)[...] = rows


@shared("x best offsets", cost=4)
def peaks(x: Array, best: Array, offsets: Array) -> None:
    """Write maxima and offsets of planes, ``[planes, height, width]``."""
    planes, height, width = best.shape
    flat, most, places = x.reshape(-1), best.reshape(-1), offsets.reshape(-1)
    rows, columns = x.shape[1:]
    for i in range(planes):
        for r in range(height):
            start = (i * rows + 2 * r) * columns
            peaks_of_rows(flat, start, columns, width, most, places, (i * height + r) * width)


@shared("g offsets out", cost=8)
def spread(g: Array, offsets: Array, out: Array) -> None:
    """Write each element at its offset; for odd sizes, elements outside of windows are kept."""
    planes, height, width = g.shape
    flat, places, target = g.reshape(-1), offsets.reshape(-1), out.reshape(-1)
    rows, columns = out.shape[1:]
    for i in range(planes):
        for r in range(height):
            start = (i * rows + 2 * r) * columns
            spread_to_rows(flat, places, (i * height + r) * width, width, target, start, columns)
