"""Sequences through LSTM and GRU layers, with the formulas of ``lstm_ops`` and ``gru_ops``.

All arrays are float32. ``record`` is that of those modules: what a step computes, for the
derivative. Each loop reads and writes few arrays, since LLVM does not vectorize a loop over many
that might overlap.
"""

from __future__ import annotations

import numpy as np
from numpy import float32

from tinynet.dtypes import Array
from tinynet.numba_kernels.blas import product
from tinynet.numba_kernels.elementary import tanh

ZERO, HALF, ONE = float32(0), float32(0.5), float32(1)
I_GATE, F_GATE, O_GATE, G_GATE, CELL, TANH_CELL, IG, FC = range(8)  # in the record of an LSTM
ORDER = (I_GATE, F_GATE, G_GATE, O_GATE)  # in its weights
R_GATE, Z_GATE, N_GATE, H_LESS_N, Q = 0, 1, 2, 3, 5  # in the record of a GRU


def input_sums(x: Array, weight: Array) -> Array:
    """Return the products of all steps with the input, ``[steps, batch, gates * size]``."""
    steps, batch, inputs = x.shape
    sums = np.empty((steps * batch, weight.shape[0]), np.float32)
    product(x.reshape(steps * batch, inputs), False, weight, True, sums, ZERO)
    return sums.reshape(steps, batch, weight.shape[0])


def open_gate(sums: Array, bias: Array, out: Array) -> None:
    """Write ``sigmoid(sums + bias)``, rows of one length."""
    for j in range(out.size):
        out[j] = HALF * tanh(HALF * (sums[j] + bias[j])) + HALF


def bound(sums: Array, bias: Array, out: Array) -> None:
    """Write ``tanh(sums + bias)``."""
    for j in range(out.size):
        out[j] = tanh(sums[j] + bias[j])


def times(a: Array, b: Array, out: Array) -> None:
    """Write ``a * b``, rows of one length."""
    for j in range(out.size):
        out[j] = a[j] * b[j]


def plus(a: Array, b: Array, out: Array) -> None:
    """Write ``a + b``."""
    for j in range(out.size):
        out[j] = a[j] + b[j]


# ---- long short-term memory ---------------------------------------------------------------------


def lstm_forward(
    output: Array, record: Array, reverse: bool, x: Array, h_0: Array, c_0: Array, w_ih: Array,
    w_hh: Array, bias: Array,
) -> None:  # fmt: skip
    """Run a sequence.

    Args:
        output: where the hidden states are written, ``[steps, batch, size]``.
        record: ``[steps + 1, 8, batch, size]``; ``record[-1]`` has the last cell state.
        x: the input, ``[steps, batch, inputs]``.
        h_0, c_0: ``[batch, size]``.
        reverse, w_ih, w_hh, bias: as in ``lstm_sequence``.
    """
    steps, batch, size = output.shape
    sums = input_sums(x, w_ih)
    step = -1 if reverse else 1
    record[steps - 1 if reverse else 0, CELL] = c_0
    before = h_0
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        now, cells, hidden = record[t], record[t + step, CELL], output[t]
        product(before, False, w_hh, True, sums[t], ONE)
        for b in range(batch):
            for k in range(4):
                part, gate = slice(k * size, (k + 1) * size), now[ORDER[k], b]
                if ORDER[k] == G_GATE:
                    bound(sums[t, b, part], bias[part], gate)
                else:
                    open_gate(sums[t, b, part], bias[part], gate)
            new_states(now, b, cells[b], hidden[b])
        before = hidden


def new_states(now: Array, b: int, cell: Array, hidden: Array) -> None:
    """Write the states of a row of the batch, ``[size]``, and the rest of its record."""
    bounded = now[TANH_CELL, b]
    times(now[I_GATE, b], now[G_GATE, b], now[IG, b])
    times(now[F_GATE, b], now[CELL, b], now[FC, b])
    plus(now[IG, b], now[FC, b], cell)
    for j in range(cell.size):
        bounded[j] = tanh(cell[j])
    times(now[O_GATE, b], bounded, hidden)


def lstm_backward(
    d: Array, dh: Array, dc: Array, reverse: bool, g: Array, output: Array, record: Array,
    w_hh: Array,
) -> None:  # fmt: skip
    """Backpropagate through a sequence.

    Args:
        d: where the gradients of the four sums are written, ``[steps, batch, 4, size]``.
        dh, dc: gradients of the last states, ``[batch, size]``; become those of the first ones.
        g: gradient of the output, ``[steps, batch, size]``.
        reverse, output, record, w_hh: as in ``lstm_forward``.
    """
    steps, batch, size = output.shape
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        for b in range(batch):
            plus(dh[b], g[t, b], dh[b])
            cell_slopes(dh[b], dc[b], output[t, b], record[t], b, d[t, b])
        product(d[t].reshape(batch, 4 * size), False, w_hh, False, dh, ZERO)


def cell_slopes(dh: Array, dc: Array, hidden: Array, now: Array, b: int, d: Array) -> None:
    """Write the gradients of the sums, ``[4, size]``; ``dc`` becomes that of the previous state."""
    o, bounded, of_o = now[O_GATE, b], now[TANH_CELL, b], d[3]
    for j in range(dh.size):
        of_o[j] = dh[j] * (hidden[j] - hidden[j] * o[j])
    for j in range(dh.size):
        dc[j] += dh[j] * (o[j] - hidden[j] * bounded[j])
    i, f, g = now[I_GATE, b], now[F_GATE, b], now[G_GATE, b]
    ig, fc, of_i, of_f, of_g = now[IG, b], now[FC, b], d[0], d[1], d[2]
    for j in range(dh.size):
        of_i[j] = dc[j] * (ig[j] - ig[j] * i[j])
    for j in range(dh.size):
        of_f[j] = dc[j] * (fc[j] - fc[j] * f[j])
    for j in range(dh.size):
        of_g[j] = dc[j] * (i[j] - ig[j] * g[j])
    times(dc, f, dc)


# ---- gated recurrent units ----------------------------------------------------------------------


def gru_forward(
    output: Array, record: Array, reverse: bool, x: Array, h_0: Array, w_ih: Array, w_hh: Array,
    b_ih: Array, b_hh: Array,
) -> None:  # fmt: skip
    """Run a sequence.

    Args:
        output: where the hidden states are written, ``[steps, batch, size]``.
        record: ``[steps, 6, batch, size]``.
        x: the input, ``[steps, batch, inputs]``.
        h_0: ``[batch, size]``.
        reverse, w_ih, w_hh, b_ih, b_hh: as in ``gru_sequence``.
    """
    steps, batch, size = output.shape
    sums, bias = input_sums(x, w_ih), b_ih + b_hh
    products = np.empty((batch, 3 * size), np.float32)
    before = h_0
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        now, hidden = record[t], output[t]
        product(before, False, w_hh, True, products, ZERO)
        for b in range(batch):
            for k in range(2):
                part = slice(k * size, (k + 1) * size)
                plus(sums[t, b, part], products[b, part], sums[t, b, part])
                open_gate(sums[t, b, part], bias[part], now[k, b])
            plus(sums[t, b, 2 * size :], b_ih[2 * size :], now[N_GATE, b])
            plus(products[b, 2 * size :], b_hh[2 * size :], now[Q, b])
            new_hidden(now, b, before[b], hidden[b])
        before = hidden


def new_hidden(now: Array, b: int, before: Array, hidden: Array) -> None:
    """Write the state of a row of the batch, ``[size]``, and the rest of its record."""
    r, z, n = now[R_GATE, b], now[Z_GATE, b], now[N_GATE, b]
    less, q = now[H_LESS_N, b], now[Q, b]
    for j in range(n.size):
        n[j] = tanh(n[j] + r[j] * q[j])
    for j in range(n.size):
        less[j] = before[j] - n[j]
    for j in range(n.size):
        hidden[j] = n[j] + z[j] * less[j]


def gru_backward(
    of_input: Array, of_hidden: Array, dh: Array, reverse: bool, g: Array, record: Array,
    w_hh: Array,
) -> None:  # fmt: skip
    """Backpropagate through a sequence.

    Args:
        of_input, of_hidden: where the gradients of the products with the input and with the hidden
            state are written, ``[steps, batch, 3, size]``.
        dh: gradient of the last state, ``[batch, size]``; becomes that of the first one.
        g: gradient of the output, ``[steps, batch, size]``.
        reverse, record, w_hh: as in ``gru_forward``.
    """
    steps, batch, size = g.shape
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        for b in range(batch):
            plus(dh[b], g[t, b], dh[b])
            hidden_slopes(dh[b], record[t], b, of_input[t, b], of_hidden[t, b])
        product(of_hidden[t].reshape(batch, 3 * size), False, w_hh, False, dh, ONE)


def hidden_slopes(dh: Array, now: Array, b: int, of_input: Array, of_hidden: Array) -> None:
    """Write the gradients of the products, ``[3, size]``; ``dh`` keeps what bypasses them."""
    r, z, n = now[R_GATE, b], now[Z_GATE, b], now[N_GATE, b]
    less, q = now[H_LESS_N, b], now[Q, b]
    of_r, of_z, of_n = of_input[0], of_input[1], of_input[2]
    for j in range(dh.size):
        of_n[j] = dh[j] * (ONE - z[j]) * (ONE - n[j] * n[j])
    for j in range(dh.size):
        of_r[j] = of_n[j] * q[j] * r[j] * (ONE - r[j])
    for j in range(dh.size):
        of_z[j] = dh[j] * less[j] * z[j] * (ONE - z[j])
    of_hidden[0] = of_r
    of_hidden[1] = of_z
    times(of_n, r, of_hidden[2])
    times(dh, z, dh)
