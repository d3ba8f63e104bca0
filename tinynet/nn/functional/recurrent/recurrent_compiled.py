"""Sequences of ``lstm_ops`` and ``gru_ops`` with numba kernels.

The rows of a batch are independent: each part of the batch runs through all steps separately, in
its own thread where that is faster. The record of a sequence is a one-dimensional array.
"""

from __future__ import annotations

import numpy as np

from tinynet import numba_kernels
from tinynet.dtypes import Array
from tinynet.numba_kernels import gru, lstm
from tinynet.numba_kernels.llvm.vectors import ROWS
from tinynet.numba_kernels.panels import aligned, packed, padded

FEW = 4  # number of steps from which packing the weights pays
Shape = tuple[int, int, int]  # of the output: steps, batch, size


def takes(input: Array, size: int) -> bool:
    """Return whether to use these kernels."""
    steps, batch, _ = input.shape
    return numba_kernels.takes(input) and steps >= FEW and batch * size > 0


def _tiles(batch: int) -> tuple[int, int]:
    """Return the range of tiles of rows."""
    return 0, -(-batch // ROWS)


def _parts(record: Array, shape: Shape, gates: int) -> tuple[Array, Array, Array]:
    """Return views of a record: the gates and two kinds of states, the second with a step more."""
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


def _padded_bias(bias: Array) -> Array:
    """Return a bias, padded with zeros to the width of a product with panels."""
    result = np.zeros(padded(len(bias)), np.float32)
    result[: len(bias)] = bias
    return result


def _to_input(shape: Shape, w_ih: Array | None) -> tuple[Array, Array]:
    """Return the panels of ``w_ih`` and memory for the gradient of the input, if needed."""
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
        input, w_ih, w_hh, bias, reverse: as in ``lstm_sequence``.
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
    offset, zeros = _padded_bias(bias), np.zeros(padded(4 * size), np.float32)
    lstm.forward(
        x, from_input, from_hidden, offset, gates, hidden, cells, inner, output, zeros,
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
        w_ih: None if the gradient of the input is not needed.
        w_hh, reverse: as in ``lstm_sequence``.
    """
    g_output, dc = np.ascontiguousarray(g), np.array(dc, order="C")
    shape = steps, batch, size = g_output.shape
    gates, inner, cells = _parts(record, shape, 4)
    d = np.empty((steps, batch, 4 * size), np.float32)
    (to_input, dx), to_hidden = _to_input(shape, w_ih), packed(w_hh)
    zeros = np.zeros(max(padded(size), dx.shape[2]), np.float32)
    carried = aligned(batch, padded(size))
    carried[:, :size] = dh
    lstm.backward(
        g_output, gates, cells, inner, to_input, to_hidden, zeros, carried, dc, d, dx,
        *_tiles(batch), int(reverse),
    )  # fmt: skip
    return d, _of_input(dx, w_ih), np.ascontiguousarray(carried[:, :size]), dc


# ---- gated recurrent units ----------------------------------------------------------------------


def gru_forward(
    input: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, reverse: bool
) -> tuple[Array, Array]:
    """Return the output, ``[steps, batch, size]``, and the record.

    Args:
        input, w_ih, w_hh, b_ih, b_hh, reverse: as in ``gru_sequence``.
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
    biases = _padded_bias(b_ih), _padded_bias(b_hh)
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
    carried, products = np.array(dh, order="C"), aligned(batch, padded(size))
    products[...] = 0
    gru.backward(
        g_output, gates, moves, inner[:-1], to_input, to_hidden, zeros, products, carried, of_input,
        of_hidden, dx, *_tiles(batch), int(reverse),
    )  # fmt: skip
    carried += products[:, :size]
    return of_input, of_hidden, _of_input(dx, w_ih), carried
