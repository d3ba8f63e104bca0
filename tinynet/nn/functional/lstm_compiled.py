"""Both directions of ``lstm_sequence`` by the kernels that numba compiles.

Each part of the batch goes through all steps by itself, in its own thread where that pays; a row
depends on no other row. The record of a sequence is one array: for all steps the gates, the cell
states and what the hyperbolic tangent makes of these.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinynet import numba_kernels
from tinynet.dtypes import Array
from tinynet.numba_kernels import lstm
from tinynet.numba_kernels.panels import aligned, packed, padded
from tinynet.numba_kernels.vectors import ROWS

FEW = 4  # steps for which packing the weights costs more than it saves


def takes(input: Array, size: int) -> bool:
    """Return whether to use these kernels."""
    steps, batch, _ = input.shape
    return numba_kernels.on and input.dtype == np.float32 and steps >= FEW and batch * size > 0


def share_rows(work: Callable[[int, int], None], shape: tuple[int, ...]) -> None:
    """Call ``work(low, high)`` for parts of a batch, given the shape of the output."""
    steps, batch, size = shape

    def tiles(part: slice) -> None:
        work(part.start * ROWS, min(part.stop * ROWS, batch))

    numbers = steps * ROWS * size * (size // 16 + 5)  # a product takes 1/16 of a number's time
    numba_kernels.share(tiles, -(-batch // ROWS), numbers)


def _parts(record: Array, shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Return the gates, the cell states, and their hyperbolic tangents: views of a record."""
    steps, batch, size = shape
    width = padded(4 * size)
    places = steps * batch * width, -batch * size * (steps + 1)
    gates, inner, cells = np.split(record, places)
    return (
        gates.reshape(steps, batch, width),
        cells.reshape(steps + 1, batch, size),
        inner.reshape(shape),
    )


def forward(
    input: Array, h: Array, c: Array, w_ih: Array, w_hh: Array, bias: Array, reverse: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the output, ``[steps, batch, size]``, the last two states and the record.

    Args:
        input, w_ih, w_hh, bias, reverse: as ``lstm_sequence`` has them.
        h, c: ``[batch, size]``.
    """
    steps, batch, _ = input.shape
    size, x = w_hh.shape[1], np.ascontiguousarray(input)
    output, width = np.empty((steps, batch, size), np.float32), padded(4 * size)
    record = aligned(batch * (steps * width + (2 * steps + 1) * size))
    gates, cells, inner = _parts(record, output.shape)
    first, last = (steps - 1, 0) if reverse else (0, steps - 1)
    cells[first + reverse] = c
    from_input = packed(w_ih.T)
    from_hidden = packed(np.concatenate([w_hh, bias[:, None]], 1).T)

    def work(low: int, high: int) -> None:
        hidden = np.ones((high - low, size + 1), np.float32)
        hidden[:, :size] = h[low:high]
        lstm.forward(
            x, from_input, from_hidden, gates, hidden, cells, inner, output,
            aligned(high - low, width), low, int(reverse),
        )  # fmt: skip

    share_rows(work, output.shape)
    return output, output[last], cells[last + 1 - reverse], record


def backward(
    g: Array, dh: Array, dc: Array, record: Array, w_ih: Array, w_hh: Array, reverse: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the gradients of the sums, ``[steps, batch, 4 * size]``, of input, ``h_0``, ``c_0``.

    The states are ``[batch, size]``.
    """
    g_output, dc = np.ascontiguousarray(g), np.array(dc, order="C")
    shape = steps, batch, size = g_output.shape
    gates, cells, inner = _parts(record, shape)
    d, made = np.empty((steps, batch, 4 * size), np.float32), np.empty((batch, size), np.float32)
    dx = aligned(steps, batch, padded(w_ih.shape[1]))
    to_input, to_hidden = packed(w_ih), packed(w_hh)

    def work(low: int, high: int) -> None:
        part = aligned(high - low, padded(size))
        part[:, :size] = dh[low:high]
        lstm.backward(
            g_output, gates, cells, inner, to_input, to_hidden, part, dc, d, dx, low, int(reverse)
        )
        made[low:high] = part[:, :size]

    share_rows(work, shape)
    return d, np.ascontiguousarray(dx[..., : w_ih.shape[1]]), made, dc
