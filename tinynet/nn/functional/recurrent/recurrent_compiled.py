"""Sequences of ``lstm_ops`` and ``gru_ops`` by the kernels that numba compiles.

Each part of the batch goes through all steps by itself, in its own thread where that pays; a row
depends on no other row. The record of a sequence is one array of one dimension.
"""

from __future__ import annotations

import numpy as np

from tinynet import numba_kernels
from tinynet.dtypes import Array
from tinynet.numba_kernels import gru, lstm
from tinynet.numba_kernels.llvm.vectors import ROWS
from tinynet.numba_kernels.panels import aligned, packed, padded

FEW = 4  # steps for which packing the weights costs more than it saves
Shape = tuple[int, int, int]  # of the output: steps, batch, size


def takes(input: Array, size: int) -> bool:
    """Return whether to use these kernels."""
    steps, batch, _ = input.shape
    return numba_kernels.takes(input) and steps >= FEW and batch * size > 0


def _tiles(batch: int) -> tuple[int, int]:
    """Return which tiles of rows there are."""
    return 0, -(-batch // ROWS)


def _parts(record: Array, shape: Shape, gates: int) -> tuple[Array, Array, Array]:
    """Return the gates and two kinds of states, the second with one step more, of a record."""
    steps, batch, size = shape
    width = padded(gates * size)
    first, second = steps * batch * width, -(steps + 1) * batch * size
    return (
        record[:first].reshape(steps, batch, width),
        record[first:second].reshape(shape),
        record[second:].reshape(steps + 1, batch, size),
    )


def _record(shape: Shape, gates: int) -> Array:
    steps, batch, size = shape
    return aligned(batch * (steps * padded(gates * size) + (2 * steps + 1) * size))


def _filled(bias: Array) -> Array:
    """Return a bias and zeros, as long as a product with panels has columns."""
    made = np.zeros(padded(len(bias)), np.float32)
    made[: len(bias)] = bias
    return made


def _to_input(shape: Shape, w_ih: Array | None) -> tuple[Array, Array]:
    """Return the panels of ``w_ih`` and memory for the gradient of the input, if wanted."""
    if w_ih is None:
        return np.empty((0, 0, 0), np.float32), np.empty((0, 0, 0), np.float32)
    return packed(w_ih), aligned(*shape[:2], padded(w_ih.shape[1]))


def _of_input(dx: Array, w_ih: Array | None) -> Array | None:
    return None if w_ih is None else np.ascontiguousarray(dx[..., : w_ih.shape[1]])


# ---- long short-term memory ---------------------------------------------------------------------


def lstm_forward(
    input: Array, h: Array, c: Array, w_ih: Array, w_hh: Array, bias: Array, reverse: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the output, ``[steps, batch, size]``, the last two states and the record.

    Args:
        input, w_ih, w_hh, bias, reverse: as ``lstm_sequence`` has them.
        h, c: ``[batch, size]``.
    """
    steps, size = len(input), w_hh.shape[1]
    shape = steps, input.shape[1], size
    x, output, record = np.ascontiguousarray(input), np.empty(shape, np.float32), _record(shape, 4)
    gates, inner, cells = _parts(record, shape, 4)
    first, last = (steps - 1, 0) if reverse else (0, steps - 1)
    cells[first + reverse] = c
    from_input, from_hidden, hidden = (
        packed(w_ih, True),
        packed(w_hh, True),
        np.ascontiguousarray(h),
    )
    filled, zeros = _filled(bias), np.zeros(padded(4 * size), np.float32)
    lstm.forward(
        x, from_input, from_hidden, filled, gates, hidden, cells, inner, output, zeros,
        aligned(shape[1], padded(4 * size)), *_tiles(shape[1]), int(reverse),
    )  # fmt: skip
    return output, output[last], cells[last + 1 - reverse], record


def lstm_backward(
    g: Array, dh: Array, dc: Array, record: Array, w_ih: Array | None, w_hh: Array, reverse: bool
) -> tuple[Array, Array | None, Array, Array]:
    """Return the gradients of the sums, ``[steps, batch, 4 * size]``, of input, ``h_0``, ``c_0``.

    Args:
        g: gradient of the output.
        dh, dc: gradients of the last states, ``[batch, size]``.
        record: from ``lstm_forward``.
        w_ih: None where no gradient of the input is wanted.
        w_hh, reverse: as ``lstm_sequence`` has them.
    """
    g_output, dc = np.ascontiguousarray(g), np.array(dc, order="C")
    shape = steps, batch, size = g_output.shape
    gates, inner, cells = _parts(record, shape, 4)
    d = np.empty((steps, batch, 4 * size), np.float32)
    (to_input, dx), to_hidden = _to_input(shape, w_ih), packed(w_hh)
    zeros = np.zeros(max(padded(size), dx.shape[2]), np.float32)
    made = aligned(batch, padded(size))
    made[:, :size] = dh
    lstm.backward(
        g_output, gates, cells, inner, to_input, to_hidden, zeros, made, dc, d, dx, *_tiles(batch),
        int(reverse),
    )  # fmt: skip
    return d, _of_input(dx, w_ih), np.ascontiguousarray(made[:, :size]), dc


# ---- gated recurrent units ----------------------------------------------------------------------


def gru_forward(
    input: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, reverse: bool
) -> tuple[Array, Array]:
    """Return the output, ``[steps, batch, size]``, and the record.

    Args:
        input, w_ih, w_hh, b_ih, b_hh, reverse: as ``gru_sequence`` has them.
        h: ``[batch, size]``.
    """
    size = w_hh.shape[1]
    shape = len(input), input.shape[1], size
    x, output, record = np.ascontiguousarray(input), np.empty(shape, np.float32), _record(shape, 3)
    gates, moves, inner = _parts(record, shape, 3)
    from_input, from_hidden, hidden = (
        packed(w_ih, True),
        packed(w_hh, True),
        np.ascontiguousarray(h),
    )
    biases = _filled(b_ih), _filled(b_hh)
    gru.forward(
        x, from_input, from_hidden, *biases, gates, hidden, moves, inner[:-1], output,
        aligned(shape[1], padded(3 * size)), *_tiles(shape[1]), int(reverse),
    )  # fmt: skip
    return output, record


def gru_backward(
    g: Array, dh: Array, record: Array, w_ih: Array | None, w_hh: Array, reverse: bool
) -> tuple[Array, Array, Array | None, Array]:
    """Return the gradients of both products, ``[steps, batch, 3 * size]``, of input and ``h_0``.

    The products are that with the input and that with the hidden state. The arguments are those of
    ``lstm_backward``.
    """
    g_output = np.ascontiguousarray(g)
    shape = steps, batch, size = g_output.shape
    gates, moves, inner = _parts(record, shape, 3)
    of_input, of_hidden = np.empty((2, steps, batch, 3 * size), np.float32)
    (to_input, dx), to_hidden = _to_input(shape, w_ih), packed(w_hh)
    zeros = np.zeros(max(padded(size), dx.shape[2]), np.float32)
    carried, made = np.array(dh, order="C"), aligned(batch, padded(size))
    made[...] = 0
    gru.backward(
        g_output, gates, moves, inner[:-1], to_input, to_hidden, zeros, made, carried, of_input,
        of_hidden, dx, *_tiles(batch), int(reverse),
    )  # fmt: skip
    carried += made[:, :size]
    return of_input, of_hidden, _of_input(dx, w_ih), carried
