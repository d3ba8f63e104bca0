"""A sequence through gated recurrent units, for some rows of a batch; see ``gru_ops``.

With ``x`` and ``s`` the products with the input and with the hidden state, biases included, of r, z
and n: ``r, z = sigmoid(x + s)``, ``n = tanh(x_n + r s_n)``, ``h' = n + z (h - n)``.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels.gate_code import gru_back_code, gru_code
from tinynet.numba_kernels.products import multiply, multiply_steps
from tinynet.numba_kernels.written import written


@written(gru_code)
def units(
    gates: Array, sums: Array, before: Array, move: Array, inner: Array, hidden: Array,
    width: int, size: int,
) -> None:  # fmt: skip
    """Write r, z and n of a step to the place of the input's products, and what follows.

    Args:
        gates, sums: products with the input and with the hidden state, ``[rows, width]``.
        before: the hidden state, ``[rows, size]``.
        move, inner, hidden: for ``h - n``, ``s_n`` and ``h'``, ``[rows, size]``.
        width, size: lengths of rows.
    """
    r, z, n = (gates[:, k * size : (k + 1) * size] for k in range(3))
    for k, gate in enumerate((r, z)):
        gate[...] = 0.5 * np.tanh(0.5 * (gate + sums[:, k * size : (k + 1) * size])) + 0.5
    inner[...] = sums[:, 2 * size : 3 * size]
    n[...] = np.tanh(n + r * inner)
    move[...] = before - n
    hidden[...] = n + z * move


def forward(
    input: Array,
    from_input: Array,
    from_hidden: Array,
    b_ih: Array,
    b_hh: Array,
    gates: Array,
    hidden: Array,
    moves: Array,
    inner: Array,
    output: Array,
    sums: Array,
    low: int,
    reverse: int,
) -> None:
    """Run all steps for the rows of the batch from ``low`` on.

    Args:
        input: ``[steps, batch, inputs]``.
        from_input, from_hidden: panels of the transposed ``w_ih`` and ``w_hh``.
        b_ih, b_hh: ``[padded(3 * size)]``.
        gates: for r, z and n, ``[steps, batch, padded(3 * size)]``.
        hidden: the first hidden state, ``[rows, size]``.
        moves, inner, output: ``[steps, batch, size]``, for ``h - n``, ``s_n`` and ``h``.
        sums: ``[rows, padded(3 * size)]``. Overwritten.
        low: first row of the batch.
        reverse: 1 to go from the last step to the first, else 0.
    """
    steps, size, high = output.shape[0], output.shape[2], low + hidden.shape[0]
    multiply_steps(input, from_input, b_ih, gates, low, hidden.shape[0])
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        before = output[t + 1 if reverse else t - 1, low:high] if s else hidden
        multiply(before, from_hidden, b_hh, sums)
        units(
            gates[t, low:high], sums, before, moves[t, low:high], inner[t, low:high],
            output[t, low:high], gates.shape[2], size,
        )  # fmt: skip


@written(gru_back_code)
def units_back(
    dh: Array, more: Array, carried: Array, gates: Array, move: Array, inner: Array,
    of_input: Array, of_hidden: Array, dh_width: int, width: int, size: int,
) -> None:  # fmt: skip
    """Write the gradients of both products, and to ``carried`` what reaches h past them.

    Args:
        dh, more, carried: the sum is the gradient of the hidden state, ``[rows, dh_width]``, the
            others ``[rows, size]``.
        gates, move, inner: what ``units`` wrote.
        of_input, of_hidden: ``[rows, 3 * size]``.
        dh_width, width, size: lengths of rows.
    """
    r, z, n = (gates[:, k * size : (k + 1) * size] for k in range(3))
    g = dh[:, :size] + more + carried
    to_sum = g * (1 - z) * (1 - n * n)
    to_r, to_z = to_sum * inner * r * (1 - r), g * move * z * (1 - z)
    of_input[...] = np.concatenate([to_r, to_z, to_sum], 1)
    of_hidden[...] = np.concatenate([to_r, to_z, to_sum * r], 1)
    carried[...] = g * z


def backward(
    g_output: Array,
    gates: Array,
    moves: Array,
    inner: Array,
    to_input: Array,
    to_hidden: Array,
    zeros: Array,
    dh: Array,
    carried: Array,
    of_input: Array,
    of_hidden: Array,
    dx: Array,
    low: int,
    reverse: int,
) -> None:
    """Go back through all steps for the rows of the batch from ``low`` on.

    Args:
        g_output: gradient of the output, ``[steps, batch, size]``.
        gates, moves, inner: what ``forward`` wrote.
        to_input, to_hidden: panels of ``w_ih`` and ``w_hh``.
        zeros: as many as the longest row of a product has.
        dh: zeros, ``[rows, padded(size)]``.
        carried: gradient of the last hidden state, ``[batch, size]``. In the end that of the first
            one is the sum of this and ``dh``.
        of_input, of_hidden: for the gradients of the products, ``[steps, batch, 3 * size]``.
        dx: for the gradient of the input, ``[steps, batch, padded(inputs)]``, or without steps.
        low, reverse: as in ``forward``.
    """
    steps, size, high = inner.shape[0], inner.shape[2], low + dh.shape[0]
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        now = of_hidden[t, low:high]
        units_back(
            dh, g_output[t, low:high], carried[low:high], gates[t, low:high], moves[t, low:high],
            inner[t, low:high], of_input[t, low:high], now, dh.shape[1], gates.shape[2], size,
        )  # fmt: skip
        multiply(now, to_hidden, zeros, dh)
    multiply_steps(of_input, to_input, zeros, dx, low, dh.shape[0])
