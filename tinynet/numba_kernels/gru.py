"""A sequence through gated recurrent units, for some rows of a batch; see ``gru_ops``.

With ``x`` and ``s`` the products with the input and with the hidden state, biases included, of r, z
and n: ``r, z = sigmoid(x + s)``, ``n = tanh(x_n + r s_n)``, ``h' = n + z (h - n)``.
"""

from __future__ import annotations

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import ONE, tanh
from tinynet.numba_kernels.lstm import add_sigmoid
from tinynet.numba_kernels.products import multiply, multiply_steps


def unit(
    gates: Array, ahead: Array, inner: Array, hidden: Array, move: Array, kept: Array, output: Array
) -> None:
    """Write n in the place of its product, ``h - n``, ``s_n``, and the next hidden state, twice."""
    size = output.size
    r, z, n = gates[:size], gates[size : 2 * size], gates[2 * size : 3 * size]
    for j in range(size):
        s = inner[j]
        found = tanh(n[j] + ahead[j] + r[j] * s)
        difference = hidden[j] - found
        h = found + z[j] * difference
        n[j] = found
        move[j] = difference
        kept[j] = s
        hidden[j] = h
        output[j] = h


def forward(
    input: Array,
    from_input: Array,
    from_hidden: Array,
    ahead: Array,
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
        from_input: panels of the transposed ``w_ih``.
        from_hidden: panels of the transposed ``w_hh`` and, as a last row, its bias, to which that
            of the input is added for r and z.
        ahead: the bias of the input for n, ``[size]``.
        gates: for r, z and n, ``[steps, batch, padded(3 * size)]``.
        hidden: ``[rows, size + 1]``: the first hidden state and a one. Overwritten.
        moves, inner, output: ``[steps, batch, size]``, for ``h - n``, ``s_n`` and ``h``.
        sums: ``[rows, padded(3 * size)]``. Overwritten.
        low: first row of the batch.
        reverse: 1 to go from the last step to the first, else 0.
    """
    steps, size, rows = output.shape[0], output.shape[2], hidden.shape[0]
    multiply_steps(input, from_input, gates, low, rows)
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        multiply(hidden, from_hidden, sums)
        for row in range(rows):
            b = low + row
            now, more = gates[t, b], sums[row]
            add_sigmoid(now[: 2 * size], more[: 2 * size])
            last = more[2 * size : 3 * size]
            unit(now, ahead, last, hidden[row], moves[t, b], inner[t, b], output[t, b])


def unit_back(
    dh: Array, more: Array, carried: Array, gates: Array, move: Array, inner: Array,
    of_input: Array, of_hidden: Array,
) -> None:  # fmt: skip
    """Write the gradients of both products, and to ``carried`` what reaches h past them.

    ``dh + more + carried`` is the gradient of the hidden state.
    """
    size = move.size
    r, z, n = gates[:size], gates[size : 2 * size], gates[2 * size : 3 * size]
    to_r, to_z, to_s = of_hidden[:size], of_hidden[size : 2 * size], of_hidden[2 * size :]
    to_n = of_input[2 * size :]
    for j in range(size):
        g = dh[j] + more[j] + carried[j]
        to_sum = g * (ONE - z[j]) * (ONE - n[j] * n[j])
        to_product = to_sum * r[j]
        to_n[j] = to_sum
        to_s[j] = to_product
        to_r[j] = to_product * inner[j] * (ONE - r[j])
        to_z[j] = g * move[j] * z[j] * (ONE - z[j])
        carried[j] = g * z[j]
    for j in range(2 * size):
        of_input[j] = of_hidden[j]


def backward(
    g_output: Array,
    gates: Array,
    moves: Array,
    inner: Array,
    to_input: Array,
    to_hidden: Array,
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
        dh: zeros, ``[rows, padded(size)]``.
        carried: gradient of the last hidden state, ``[batch, size]``. In the end that of the first
            one is the sum of this and ``dh``.
        of_input, of_hidden: for the gradients of the products, ``[steps, batch, 3 * size]``.
        dx: for the gradient of the input, ``[steps, batch, padded(inputs)]``, or without steps.
        low, reverse: as in ``forward``.
    """
    steps, size, rows = inner.shape[0], inner.shape[2], dh.shape[0]
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        for row in range(rows):
            b = low + row
            unit_back(
                dh[row, :size], g_output[t, b], carried[b], gates[t, b], moves[t, b], inner[t, b],
                of_input[t, b], of_hidden[t, b],
            )  # fmt: skip
        multiply(of_hidden[t, low : low + rows], to_hidden, dh)
    multiply_steps(of_input, to_input, dx, low, rows)
