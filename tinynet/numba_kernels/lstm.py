"""A sequence through long short-term memory, for some rows of a batch; see ``lstm_ops``.

With ``s`` the sums of the gates in the order i f g o, ``[4 * size]`` for each row:
``i, f, o = sigmoid(s)``, ``g = tanh(s)``, ``c' = f c + i g``, ``h' = o tanh(c')``.
There is one more cell state than steps: the initial one.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.gate_code import lstm_back_code, lstm_code
from tinynet.numba_kernels.llvm.vectors import ROWS
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.products import multiply, multiply_steps
from tinynet.numba_kernels.shared import shared


@written(lstm_code)
def cells(
    gates: Array, sums: Array, before: Array, after: Array, inner: Array, hidden: Array,
    width: int, size: int,
) -> None:  # fmt: skip
    """Compute a step: overwrite the input's products with the gates, and write the new states.

    Args:
        gates, sums: products of the input and of the hidden state, ``[rows, width]``.
        before, after: cell states, ``[rows, size]``.
        inner, hidden: outputs ``tanh(c)`` and ``h``, ``[rows, size]``.
        width, size: lengths of rows.
    """
    i, f, g, o = (gates[:, k * size : (k + 1) * size] for k in range(4))
    gates += sums
    for gate in i, f, o:
        gate[...] = 0.5 * np.tanh(0.5 * gate) + 0.5
    g[...] = np.tanh(g)
    after[...] = f * before + i * g
    inner[...] = np.tanh(after)
    hidden[...] = o * inner


@shared(
    span="first last",
    numbers="gates.shape[0] * gates.shape[1] * (from_input.size + from_hidden.size) // 8",
    parts="min(hands(), parts_of(_places, _work))",
)
def forward(
    input: Array,
    from_input: Array,
    from_hidden: Array,
    bias: Array,
    gates: Array,
    hidden: Array,
    cell: Array,
    inner: Array,
    output: Array,
    zeros: Array,
    sums: Array,
    first: int,
    last: int,
    reverse: int,
) -> None:
    """Run all steps, for tiles of 8 rows of the batch.

    Args:
        input: ``[steps, batch, inputs]``.
        from_input, from_hidden: panels of the transposed ``w_ih`` and ``w_hh``.
        bias: ``[padded(4 * size)]``.
        gates: output gates, ``[steps, batch, padded(4 * size)]``.
        hidden: the initial hidden state, ``[batch, size]``.
        cell: cell states, ``[steps + 1, batch, size]``, with the initial one set.
        inner, output: outputs ``tanh(c)`` and ``h``, ``[steps, batch, size]``.
        zeros: ``[padded(4 * size)]``.
        sums: ``[batch, padded(4 * size)]``. Overwritten.
        first, last: the first tile, and the end of the tiles.
        reverse: 1 to run from the last step to the first, else 0.
    """
    steps, size = inner.shape[0], inner.shape[2]
    low, high = first * ROWS, min(last * ROWS, hidden.shape[0])
    mine = sums[low:high]
    multiply_steps(input, from_input, bias, gates, low, high - low)
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        if s == 0:
            multiply(hidden[low:high], from_hidden, zeros, mine)
        else:
            multiply(output[t + 1 if reverse else t - 1, low:high], from_hidden, zeros, mine)
        before, after = cell[t + reverse, low:high], cell[t + 1 - reverse, low:high]
        cells(
            gates[t, low:high], mine, before, after, inner[t, low:high], output[t, low:high],
            gates.shape[2], size,
        )  # fmt: skip


@written(lstm_back_code)
def cells_back(
    dh: Array, more: Array, dc: Array, gates: Array, before: Array, inner: Array, d: Array,
    dh_width: int, width: int, size: int,
) -> None:  # fmt: skip
    """Write the gradients of the sums to ``d``, and update ``dc`` to that of the previous state.

    Args:
        dh, more: the sum is the gradient of the hidden state, ``[rows, dh_width]``,
            ``[rows, size]``.
        dc: gradient of the cell state, ``[rows, size]``.
        gates, before, inner: outputs and inputs of ``cells``.
        d: ``[rows, 4 * size]``.
        dh_width, width, size: lengths of rows.
    """
    i, f, g, o = (gates[:, k * size : (k + 1) * size] for k in range(4))
    to_h = dh[:, :size] + more
    dc += to_h * o * (1 - inner * inner)
    slopes = (g * i * (1 - i), before * f * (1 - f), i * (1 - g * g))
    d[...] = np.concatenate([dc * slope for slope in slopes] + [to_h * inner * o * (1 - o)], 1)
    dc *= f


@shared(
    span="first last",
    numbers="gates.shape[0] * gates.shape[1] * (to_input.size + to_hidden.size) // 8",
    parts="min(hands(), parts_of(_places, _work))",
)
def backward(
    g_output: Array,
    gates: Array,
    cell: Array,
    inner: Array,
    to_input: Array,
    to_hidden: Array,
    zeros: Array,
    dh: Array,
    dc: Array,
    d: Array,
    dx: Array,
    first: int,
    last: int,
    reverse: int,
) -> None:
    """Run all steps backward, for tiles of 8 rows of the batch.

    Args:
        g_output: gradient of the output, ``[steps, batch, size]``.
        gates, cell, inner: outputs of ``forward``.
        to_input, to_hidden: panels of ``w_ih`` and ``w_hh``.
        zeros: at least as long as the longest row of a product.
        dh: gradient of the last hidden state, ``[batch, padded(size)]``; becomes the initial one's.
        dc: gradient of the last cell state, ``[batch, size]``; becomes the initial one's.
        d: gradients of the sums, ``[steps, batch, 4 * size]``.
        dx: gradient of the input, ``[steps, batch, padded(inputs)]``, or empty.
        first, last, reverse: as in ``forward``.
    """
    steps, size = inner.shape[0], inner.shape[2]
    low, high = first * ROWS, min(last * ROWS, dh.shape[0])
    slope = dh[low:high]
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        now = d[t, low:high]
        cells_back(
            slope, g_output[t, low:high], dc[low:high], gates[t, low:high],
            cell[t + reverse, low:high], inner[t, low:high], now, dh.shape[1], gates.shape[2],
            size,
        )  # fmt: skip
        multiply(now, to_hidden, zeros, slope)
    multiply_steps(d, to_input, zeros, dx, low, high - low)
