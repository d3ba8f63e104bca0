"""Sequences through LSTM and GRU layers, with the formulas of ``gated_rnn_ops``.

All arrays are float32. ``record`` is what a step computes, for the derivative: for a GRU, that of
``gru_sequence``; for an LSTM, the gates i, f, g, o and the cell state before the step, row by row.
A call computes the rows of the batch from ``first`` up to ``end``. Loops read and write few arrays,
since LLVM does not vectorize a loop over many that might overlap.
"""

from __future__ import annotations

import numpy as np
from numpy import float32

from tinynet.dtypes import Array
from tinynet.kernels.llvm.elementary import tanh
from tinynet.kernels.native.blas import NO, YES, product

ZERO, HALF, ONE = float32(0), float32(0.5), float32(1)
BLOCK = 16  # numbers in a line of the cache
R_GATE, Z_GATE, N_GATE, H_LESS_N, Q = 0, 1, 2, 3, 5  # in the record of a GRU


def transpose(weight: Array, out: Array) -> None:
    """Write the transpose, for sequences: it saves the products of many steps some time."""
    rows, columns = weight.shape
    whole = rows - rows % BLOCK
    for first in range(0, whole, BLOCK):
        for j in range(columns):
            for i in range(BLOCK):
                out[j, first + i] = weight[first + i, j]
    for i in range(whole, rows):
        for j in range(columns):
            out[j, i] = weight[i, j]


def multiply_inputs(x: Array, weight: Array, sums: Array) -> None:
    """Write the products of all steps with the input.

    Args:
        x: the input, ``[steps, batch, inputs]``.
        weight: ``[gates * size, inputs]``.
        sums: ``[steps, batch, gates * size]``, written; may be longer and wider.
    """
    steps, batch, inputs = x.shape
    out = sums[:steps].reshape(steps * batch, sums.shape[2])[:, : len(weight)]
    product(x.reshape(steps * batch, inputs), NO, weight, YES, out, ZERO)


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
    output: Array, record: Array, reverse: bool, h_0: Array, c_0: Array, weight: Array,
    bias: Array, first: int, end: int,
) -> None:  # fmt: skip
    """Run a sequence.

    Args:
        output: where the hidden states are written, ``[steps, batch, size]``.
        record: ``[steps + 1, batch, 5 * size]``; has the products with the input.
        h_0, c_0: ``[batch, size]``.
        weight: ``w_hh``, or its transpose.
        reverse, bias: as in ``lstm_sequence``.
    """
    steps, _, size = output.shape
    rows, sums = slice(first, end), slice(0, 4 * size)
    cells = record[steps - 1 if reverse else 0]
    for b in range(first, end):
        for j in range(size):
            cells[b, 4 * size + j] = c_0[b, j]
    before, turned = h_0, len(weight) != size
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        product(before[rows], NO, weight, turned, record[t, rows, sums], ONE)
        new_states(record[t], bias, record[following(t, steps, reverse)], output[t], first, end)
        before = output[t]


def following(t: int, steps: int, reverse: bool) -> int:
    """Return the place of the cell state after a step; after the last one it is ``steps``."""
    return (t + 1) if not reverse else (t - 1) if t > 0 else steps


def new_states(now: Array, bias: Array, after: Array, hidden: Array, first: int, end: int) -> None:
    """Overwrite the sums of a step with its gates, and write the states after it."""
    size = hidden.shape[1]
    f, n, o, c = size, 2 * size, 3 * size, 4 * size  # where each begins
    for b in range(first, end):
        for j in range(n):
            now[b, j] = HALF * tanh(HALF * (now[b, j] + bias[j])) + HALF
        for j in range(size):
            now[b, n + j] = tanh(now[b, n + j] + bias[n + j])
        for j in range(size):
            now[b, o + j] = HALF * tanh(HALF * (now[b, o + j] + bias[o + j])) + HALF
        for j in range(size):
            after[b, c + j] = now[b, j] * now[b, n + j] + now[b, f + j] * now[b, c + j]
        for j in range(size):
            hidden[b, j] = now[b, o + j] * tanh(after[b, c + j])


def lstm_backward(
    d: Array, dh: Array, dc: Array, reverse: bool, g: Array, record: Array, w_hh: Array,
    first: int, end: int,
) -> None:  # fmt: skip
    """Backpropagate through a sequence.

    Args:
        d: where the gradients of the sums are written, ``[steps, batch, 4 * size]``.
        dh, dc: gradients of the last states, ``[batch, size]``; become those of the first ones.
        g: gradient of the output, ``[steps, batch, size]``.
        reverse, record, w_hh: as in ``lstm_forward``.
    """
    steps, rows = len(d), slice(first, end)
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        after = record[following(t, steps, reverse)]
        cell_slopes(dh, dc, g[t], record[t], after, d[t], first, end)
        product(d[t, rows], NO, w_hh, NO, dh[rows], ZERO)


def cell_slopes(
    dh: Array, dc: Array, g: Array, now: Array, after: Array, d: Array, first: int, end: int
) -> None:
    """Write the gradients of the sums of a step; ``dc`` becomes that of the state before it."""
    size = dh.shape[1]
    f, n, o, c = size, 2 * size, 3 * size, 4 * size  # where each begins
    for b in range(first, end):
        for j in range(size):
            dh[b, j] += g[b, j]
        for j in range(size):
            d[b, o + j] = tanh(after[b, c + j])
        for j in range(size):
            dc[b, j] += dh[b, j] * (now[b, o + j] * (ONE - d[b, o + j] * d[b, o + j]))
        for j in range(size):
            d[b, o + j] *= dh[b, j] * (now[b, o + j] - now[b, o + j] * now[b, o + j])
        for j in range(size):
            d[b, j] = dc[b, j] * (now[b, n + j] * (now[b, j] - now[b, j] * now[b, j]))
        for j in range(size):
            slope = now[b, f + j] - now[b, f + j] * now[b, f + j]
            d[b, f + j] = dc[b, j] * (now[b, c + j] * slope)
        for j in range(size):
            d[b, n + j] = dc[b, j] * (now[b, j] * (ONE - now[b, n + j] * now[b, n + j]))
        for j in range(size):
            dc[b, j] *= now[b, f + j]


# ---- gated recurrent units ----------------------------------------------------------------------


def gru_forward(
    output: Array, record: Array, reverse: bool, sums: Array, h_0: Array, weight: Array,
    b_ih: Array, b_hh: Array, first: int, end: int,
) -> None:  # fmt: skip
    """Run a sequence.

    Args:
        output: where the hidden states are written, ``[steps, batch, size]``.
        record: ``[steps, 6, batch, size]``.
        sums: products with the input, ``[steps, batch, 3 * size]``; overwritten.
        h_0: ``[batch, size]``.
        weight: ``w_hh``, or its transpose.
        reverse, b_ih, b_hh: as in ``gru_sequence``.
    """
    steps, batch, size = output.shape
    bias, products = np.empty(3 * size, np.float32), np.empty((batch, 3 * size), np.float32)
    plus(b_ih, b_hh, bias)
    before, turned = h_0, len(weight) != size
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        now, hidden = record[t], output[t]
        product(before[first:end], NO, weight, turned, products[first:end], ZERO)
        for b in range(first, end):
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
    w_hh: Array, first: int, end: int,
) -> None:  # fmt: skip
    """Backpropagate through a sequence.

    Args:
        of_input, of_hidden: where the gradients of the products with the input and with the hidden
            state are written, ``[steps, batch, 3, size]``.
        dh: gradient of the last state, ``[batch, size]``; becomes that of the first one.
        g: gradient of the output, ``[steps, batch, size]``.
        reverse, record, w_hh: as in ``gru_forward``.
    """
    steps, _, size = g.shape
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        for b in range(first, end):
            plus(dh[b], g[t, b], dh[b])
            hidden_slopes(dh[b], record[t], b, of_input[t, b], of_hidden[t, b])
        sums = of_hidden[t, first:end].reshape(end - first, 3 * size)
        product(sums, NO, w_hh, NO, dh[first:end], ONE)


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
    for k in range(2):
        for j in range(dh.size):
            of_hidden[k, j] = of_input[k, j]
    times(of_n, r, of_hidden[2])
    times(dh, z, dh)
