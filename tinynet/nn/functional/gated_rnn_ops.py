"""The sequence through a layer of LSTM or GRU, as one operation for speed.

Sources: Hochreiter and Schmidhuber, "Long short-term memory", 1997; Cho et al., "Learning phrase
representations using RNN encoder-decoder for statistical machine translation", 2014, with the reset
gate after the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels
from tinynet.kernels.native import gates
from tinynet.nn.functional.affine import affine_map, linear_map
from tinynet.nn.functional.double_backward import recorded
from tinynet.nn.functional.rnn_ops import (
    FACTORS,
    BackwardProduct,
    arranged,
    as_matrix,
    by_panel,
    by_rows,
    for_products,
    multiply_inputs,
    panels,
    parameter_gradients,
    rows,
    step_blocks,
)
from tinynet.ops.pointwise.exponential import sigmoid, tanh
from tinynet.ops.products.matmul import gemm
from tinynet.ops.shaping.joining import stack
from tinynet.ops.shaping.splitting import chunk

# ---- long short-term memory ---------------------------------------------------------------------
# With the sums ``W_ih x + W_hh h + b`` cut into four:
# ``i, f, o = sigmoid(...)``, ``g = tanh(...)``, ``c' = f c + i g``, ``h' = o tanh(c')``.


# The arrays of a step in the record: its gates, the cell state before it, and tanh of the one
# after it. The sigmoids are adjacent, and so are i, f and their factors g, c. The record of LLVM's
# kernels has three dimensions, see ``gates.py``.
_I, _F, _O, _G, _C, _TANH_C = range(6)
_IFOG = [0, 1, 3, 2]  # of the gates in the weights: i, f, g, o
_SCALE_4 = (0.5, 0.5, 0.5, 1.0)  # sigmoid(x) is tanh(x / 2) / 2 + 1 / 2: one tanh for all gates


@operation(outputs=("output", "h_n", "c_n"), hidden=("record",), differentiable=3, autocast="lower")
def lstm_sequence(
    input: Array, h_0: Array, c_0: Array, w_ih: Array, w_hh: Array, bias: Array, /, reverse: bool
) -> tuple[Array, ...]:
    """Return the hidden states of all steps, the last hidden state and the last cell state.

    Args:
        input: ``[steps, batch, inputs]``.
        h_0, c_0: ``[batch, size]`` or ``[1, batch, size]``; the last ones have the same shape.
        w_ih, w_hh, bias: ``[4 * size, inputs]``, ``[4 * size, size]``, ``[4 * size]``.
        reverse: process the sequence in reverse.
    """
    steps, batch, _ = input.shape
    size, kind = w_hh.shape[1], input.dtype
    output = np.empty((steps, batch, size), kind)
    if native_kernels.takes(input) and output.size:
        return _lstm_by_llvm(output, input, h_0, c_0, w_ih, w_hh, bias, reverse)
    record = np.empty((steps + 1, 6, batch, size), kind)  # record[-1] holds the last cell state
    scale, half = np.array(_SCALE_4, kind)[:, None, None], np.asarray(0.5, kind)
    step, h = -1 if reverse else 1, as_matrix(h_0)
    if steps == 1:
        sums = arranged(gemm(input[0], w_ih.T, bias) + gemm(h, w_hh.T), _IFOG, scale)
    else:
        from_input, from_hidden = (panels(w, _IFOG, _SCALE_4, steps, batch) for w in (w_ih, w_hh))
        multiply_inputs(input, from_input, record[:steps, :4])
        constant, sums = np.empty((4, batch, size), kind), np.empty((4, batch, size), kind)
        np.multiply(bias.reshape(4, 1, size)[_IFOG], scale, out=constant)
        target = by_panel(sums, from_hidden)
    kept, added = products = np.empty((2, batch, size), kind)
    order = range(steps)[::step]
    record[order[0] if steps else 0, _C] = as_matrix(c_0)
    arrays = record[:steps][::step]
    # One iterator for each part of the record: indexing costs as much as the arithmetic.
    for t, gates_, opened, factors, cells, o, tanh_c, out in zip(
        order, arrays[:, :4], arrays[:, :3], arrays[:, :2], arrays[:, _G : _C + 1], arrays[:, _O],
        arrays[:, _TANH_C], output[::step], strict=True,
    ):  # fmt: skip
        if steps > 1:
            np.matmul(h, from_hidden, out=target)
            np.add(sums, constant, out=sums)
            np.add(sums, gates_, out=sums)
        np.tanh(sums, out=gates_)
        np.multiply(opened, half, out=opened)
        np.add(opened, half, out=opened)
        np.multiply(factors, cells, out=products)
        c = np.add(kept, added, out=record[t + step, _C])
        h = np.multiply(o, np.tanh(c, out=tanh_c), out=out)
    h_n, c_n = (x.reshape(h_0.shape).copy() for x in (h, record[-1, _C]))
    return output, h_n, c_n, record


def _lstm_by_llvm(
    output: Array, input: Array, h_0: Array, c_0: Array, w_ih: Array, w_hh: Array, bias: Array,
    reverse: bool,
) -> tuple[Array, ...]:  # fmt: skip
    """Compute ``lstm_sequence``; the record is in LLVM's layout."""
    steps, batch, size = output.shape
    given = input, as_matrix(h_0), as_matrix(c_0), w_ih, bias
    input, h, c, w_ih, bias = map(np.ascontiguousarray, given)
    record = np.empty((steps + 1, batch, 5 * size), np.float32)
    gates.multiply_inputs(input, w_ih, record)
    arguments = output, record, reverse, h, c, for_products(w_hh, steps, batch), bias
    by_rows(partial(gates.lstm_forward, *arguments), steps, batch, w_hh)
    last = output[0 if reverse else -1], record[-1, :, 4 * size :]
    return output, *(x.reshape(h_0.shape).copy() for x in last), record


def lstm_steps(
    inputs: Sequence[Tensor], reverse: bool = False, projection: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute ``lstm_sequence`` from elementary operations.

    Args:
        inputs: those of ``lstm_sequence``.
        reverse: process the sequence in reverse.
        projection: multiplies each hidden state, ``[projected, size]`` (Sak et al., "Long
            short-term memory based recurrent neural network architectures", 2014).
    """
    input, h_0, c_0, w_ih, w_hh, bias = inputs
    h, c = as_matrix(h_0), as_matrix(c_0)
    x, outputs = affine_map(input, w_ih, bias), []
    for t in range(len(input))[:: -1 if reverse else 1]:
        i, f, g, o = chunk(x[t] + linear_map(h, w_hh), 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        h = sigmoid(o) * tanh(c)
        if projection is not None:
            h = linear_map(h, projection)
        outputs.append(h)
    return stack(outputs[:: -1 if reverse else 1]), h.reshape(h_0.shape), c.reshape(c_0.shape)


# ---- the derivative -----------------------------------------------------------------------------


def _write_lstm_factors(record: Array, output: Array, factors: Array) -> None:
    """Write the factors of the gradients, ``[steps, 5, batch, size]``.

    From the cell state to the sums of i, f and g, then from the hidden state to o and c, they are
    ``i g (1 - i)``, ``f c (1 - f)``, ``i (1 - g g)``, ``h (1 - o)``, ``o (1 - tanh(c) tanh(c))``.
    """
    products, factor = factors[:, :2], factors[:, 3:]
    np.multiply(record[:, :2], record[:, _G : _C + 1], out=products)
    np.multiply(products[:, 0], record[:, _G], out=factors[:, 2])
    np.multiply(products, record[:, :2], out=factor)
    np.subtract(products, factor, out=products)
    np.multiply(output[:, None], record[:, _O : _TANH_C + 1 : _TANH_C - _O], out=factor)
    np.subtract(record[:, _I], factors[:, 2], out=factors[:, 2])
    np.subtract(output, factors[:, 3], out=factors[:, 3])
    np.subtract(record[:, _O], factors[:, 4], out=factors[:, 4])


def _lstm_back(
    g: tuple[Array, Array, Array], output: Array, record: Array, w_hh: Array, reverse: bool
) -> tuple[Array, Array, Array]:
    """Backpropagate; return the gradients of the four sums, of ``h_0`` and of ``c_0``."""
    g_output, dh, dc = g[0], as_matrix(g[1]).copy(), as_matrix(g[2]).copy()
    steps, batch, size = output.shape
    if record.ndim == 3:  # LLVM's
        d = np.empty((steps, batch, 4 * size), np.float32)
        g_output, weight = map(np.ascontiguousarray, (g_output, w_hh))
        kernel = partial(gates.lstm_backward, d, dh, dc, reverse, g_output, record, weight)
        by_rows(kernel, steps, batch, weight)
        return d, dh.reshape(g[1].shape), dc.reshape(g[2].shape)
    order = step_blocks(steps, batch * size, FACTORS, not reverse)
    d, part = np.empty((steps, batch, 4, size), output.dtype), np.empty_like(dh)
    flat = d.reshape(steps, batch, 4 * size)
    multiply = BackwardProduct(flat, w_hh, dh)
    to_i_f_g, to_o = d[:, :, :3].swapaxes(1, 2), d[:, :, 3]
    factors = np.empty((max(map(len, order)), 5, batch, size), output.dtype)
    for block in order:
        first, end = min(block), max(block) + 1
        _write_lstm_factors(record[first:end], output[first:end], factors[: end - first])
        for t in block:
            slopes = factors[t - first]
            np.add(dh, g_output[t], out=dh)
            np.multiply(dh, slopes[3], out=to_o[t])
            np.multiply(dh, slopes[4], out=part)
            np.add(dc, part, out=dc)
            np.multiply(dc, slopes[:3], out=to_i_f_g[t])
            np.multiply(dc, record[t, _F], out=dc)
            multiply(t)
    return flat, dh.reshape(g[1].shape), dc.reshape(g[2].shape)


def _lstm_gradients(
    g: Any,
    input: Any,
    h_0: Any,
    c_0: Any,
    w_ih: Any,
    w_hh: Any,
    bias: Any,
    output: Any,
    record: Any,
    reverse: bool,
    needs: tuple[bool, ...],
) -> tuple[Any, ...]:
    if isinstance(g[0], Tensor):
        inputs = (input, h_0, c_0, w_ih, w_hh, bias)
        return recorded(lambda tensors: lstm_steps(tensors, reverse), inputs, g, needs)
    d, dh, dc = _lstm_back(g, output, record, w_hh, reverse)
    dx = gemm(rows(d), w_ih).reshape(input.shape) if needs[0] else None
    return dx, dh, dc, *parameter_gradients(d, d, input, h_0, output, reverse, needs[3:])


lstm_sequence.grads(_lstm_gradients)


# ---- gated recurrent units ----------------------------------------------------------------------
# ``r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh)``, two thirds of the sums; with the last third
# ``q = W_hh h + b_hh`` and ``n = tanh(W_ih x + b_ih + r q)``; then ``h' = n + z (h - n)``.


# The arrays of a step in the record. Before the step, the last three hold the products with the
# hidden state.
_R, _Z, _N, _H_N, _UNUSED, _Q = range(6)
_RZN, _SCALE_3 = [0, 1, 2], (0.5, 0.5, 1.0)  # sigmoid(x) is tanh(x / 2) / 2 + 1 / 2


@operation(outputs=("output", "h_n"), hidden=("record", "states"), differentiable=2)
def gru_sequence(
    input: Array, h_0: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, /, reverse: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the hidden states of all steps, and the last one.

    The derivative has a copy of the states: a program may write to the output, as in PyTorch.

    Args:
        input: ``[steps, batch, inputs]``.
        h_0: ``[batch, size]`` or ``[1, batch, size]``; the last one has the same shape.
        w_ih, w_hh: ``[3 * size, inputs]``, ``[3 * size, size]``.
        b_ih, b_hh: ``[3 * size]``.
        reverse: process the sequence in reverse.
    """
    steps, batch, _ = input.shape
    size, kind = w_hh.shape[1], input.dtype
    record, output = np.empty((steps, 6, batch, size), kind), np.empty((steps, batch, size), kind)
    if native_kernels.takes(input) and output.size:
        _gru_by_llvm(output, record, input, h_0, w_ih, w_hh, b_ih, b_hh, reverse)
        h_n = output[0 if reverse else -1].reshape(h_0.shape).copy()
        return output, h_n, record, output.copy()
    part, h, step = np.empty((batch, size), kind), as_matrix(h_0), -1 if reverse else 1
    arrays, half = record[::step], np.asarray(0.5, kind)
    from_hidden, constant = _write_products(record, input, h, w_ih, w_hh, b_ih, b_hh)
    targets = [None] if steps == 1 else by_panel(arrays[:, _H_N:], from_hidden)
    # One iterator for each part of the record: indexing costs as much as the arithmetic.
    for target, added, opened, sums, (r, z, n, h_n, _, q), out in zip(
        targets, arrays[:, _H_N:], arrays[:, :2], arrays[:, _H_N:_Q], arrays, output[::step],
        strict=True,
    ):  # fmt: skip
        if steps > 1:
            np.matmul(h, from_hidden, out=target)
            np.add(added, constant, out=added)
        np.add(opened, sums, out=opened)
        np.tanh(opened, out=opened)
        np.multiply(opened, half, out=opened)
        np.add(opened, half, out=opened)
        np.multiply(r, q, out=part)
        np.add(part, n, out=part)
        np.tanh(part, out=n)
        np.subtract(h, n, out=h_n)
        np.multiply(h_n, z, out=part)
        h = np.add(part, n, out=out)
    return output, h.reshape(h_0.shape).copy(), record, output.copy()


def _gru_by_llvm(
    output: Array, record: Array, input: Array, h_0: Array, w_ih: Array, w_hh: Array, b_ih: Array,
    b_hh: Array, reverse: bool,
) -> None:  # fmt: skip
    """Write the hidden states of all steps and the record."""
    steps, batch, size = output.shape
    given = input, as_matrix(h_0), w_ih, b_ih, b_hh
    input, h, w_ih, b_ih, b_hh = map(np.ascontiguousarray, given)
    sums = np.empty((steps, batch, 3 * size), output.dtype)
    gates.multiply_inputs(input, w_ih, sums)
    arguments = output, record, reverse, sums, h, for_products(w_hh, steps, batch), b_ih, b_hh
    by_rows(partial(gates.gru_forward, *arguments), steps, batch, w_hh)


def _write_products(
    record: Array, input: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array
) -> tuple[Any, Any]:
    """Write what is known before the first step.

    Returns:
        The panels that multiply a hidden state, and what is added to the product; None for a single
        step, whose products with the hidden state are written, too.
    """
    steps, _, batch, size = record.shape
    scale = np.array(_SCALE_3, record.dtype)[:, None, None]
    if steps == 1:
        record[0, :_H_N] = arranged(gemm(input[0], w_ih.T, b_ih), _RZN, scale)
        record[0, _H_N:] = arranged(gemm(h, w_hh.T, b_hh), _RZN, scale)
        return None, None
    from_input, from_hidden = (panels(w, _RZN, _SCALE_3, steps, batch) for w in (w_ih, w_hh))
    multiply_inputs(input, from_input, record[:, :_H_N])
    record[:, _N] += b_ih[2 * size :]
    constant = np.empty((3, batch, size), record.dtype)
    np.multiply((b_ih + b_hh).reshape(3, 1, size), scale, out=constant)
    constant[2] = b_hh[2 * size :]
    return from_hidden, constant


def gru_steps(inputs: Sequence[Tensor], reverse: bool = False) -> tuple[Tensor, Tensor]:
    """Compute ``gru_sequence`` from elementary operations."""
    input, h_0, w_ih, w_hh, b_ih, b_hh = inputs
    h = as_matrix(h_0)
    x, outputs = affine_map(input, w_ih, b_ih), []
    for t in range(len(input))[:: -1 if reverse else 1]:
        x_r, x_z, x_n = chunk(x[t], 3, 1)
        h_r, h_z, q = chunk(affine_map(h, w_hh, b_hh), 3, 1)
        n = tanh(x_n + sigmoid(x_r + h_r) * q)
        h = n + sigmoid(x_z + h_z) * (h - n)
        outputs.append(h)
    return stack(outputs[:: -1 if reverse else 1]), h.reshape(h_0.shape)


# ---- the derivative -----------------------------------------------------------------------------


def _write_gru_factors(record: Array, factors: Array) -> None:
    """Write the factors of the gradient of the hidden state, ``[steps, 4, batch, size]``.

    For the sums of r and z, for q, and for the sum of n, they are ``q r (1 - r) s``,
    ``(h - n) z (1 - z)``, ``r s`` and ``s = (1 - z) (1 - n n)``.
    """
    r, z, n, h_n, _, q = record.swapaxes(0, 1)
    to_r, to_z, to_q, to_n = factors.swapaxes(0, 1)
    np.multiply(n, n, out=to_q)
    np.subtract(1, to_q, out=to_q)
    np.multiply(z, to_q, out=to_n)
    np.subtract(to_q, to_n, out=to_n)
    np.multiply(h_n, z, out=to_r)
    np.multiply(to_r, z, out=to_z)
    np.subtract(to_r, to_z, out=to_z)
    np.multiply(to_n, r, out=to_q)
    part = np.multiply(to_q, q)
    np.multiply(part, r, out=to_r)
    np.subtract(part, to_r, out=to_r)


def _gru_back(
    g: tuple[Array, Array], record: Array, w_hh: Array, reverse: bool
) -> tuple[Array, Array, Array]:
    """Backpropagate through time.

    Returns:
        The gradients of the products with the input, of those with the hidden state, of ``h_0``.
    """
    g_output, dh = g[0], as_matrix(g[1]).copy()
    steps, _, batch, size = record.shape
    of_input, of_hidden = np.empty((2, steps, batch, 3, size), dh.dtype)
    if native_kernels.takes(record) and record.size:
        g_output, record, w_hh = map(np.ascontiguousarray, (g_output, record, w_hh))
        arguments = of_input, of_hidden, dh, reverse, g_output, record, w_hh
        kernel = partial(gates.gru_backward, *arguments)
        by_rows(kernel, steps, batch, w_hh)
        of_input, of_hidden = (x.reshape(steps, batch, 3 * size) for x in (of_input, of_hidden))
        return of_input, of_hidden, dh.reshape(g[1].shape)
    order = step_blocks(steps, batch * size, FACTORS, not reverse)
    flat, carried = of_hidden.reshape(steps, batch, 3 * size), dh.copy()
    multiply = BackwardProduct(flat, w_hh, dh)
    to_r_z_q, to_n = of_hidden.swapaxes(1, 2), of_input[:, :, 2]
    factors = np.empty((max(map(len, order)), 4, batch, size), dh.dtype)
    for block in order:
        first, end = min(block), max(block) + 1
        _write_gru_factors(record[first:end], factors[: end - first])
        for t in block:
            slopes = factors[t - first]
            np.add(dh, g_output[t], out=dh)
            np.multiply(dh, slopes[:3], out=to_r_z_q[t])
            np.multiply(dh, slopes[3], out=to_n[t])
            np.multiply(dh, record[t, _Z], out=carried)
            multiply(t)
            np.add(dh, carried, out=dh)
    of_input[:, :, :2] = of_hidden[:, :, :2]
    return of_input.reshape(flat.shape), flat, dh.reshape(g[1].shape)


def _gru_gradients(
    g: Any,
    input: Any,
    h_0: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    record: Any,
    states: Any,
    reverse: bool,
    needs: tuple[bool, ...],
) -> tuple[Any, ...]:
    if isinstance(g[0], Tensor):
        inputs = (input, h_0, w_ih, w_hh, b_ih, b_hh)
        return recorded(lambda tensors: gru_steps(tensors, reverse), inputs, g, needs)
    of_input, of_hidden, dh = _gru_back(g, record, w_hh, reverse)
    dx = gemm(rows(of_input), w_ih).reshape(input.shape) if needs[0] else None
    rest = parameter_gradients(of_input, of_hidden, input, h_0, states, reverse, needs[2:])
    return dx, dh, *rest


gru_sequence.grads(_gru_gradients)
