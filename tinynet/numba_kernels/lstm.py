"""A sequence through long short-term memory, for some rows of a batch; see ``lstm_ops``.

With ``s`` the sums of the gates, which stand in the order i f g o, ``[4 * size]`` for each row:
``i, f, o = sigmoid(s)``, ``g = tanh(s)``, ``c' = f c + i g``, ``h' = o tanh(c')``.
Cell states have a place more than there are steps: that which enters the first one.
"""

from __future__ import annotations

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import ONE, sigmoid, tanh
from tinynet.numba_kernels.products import multiply, multiply_steps


def add_sigmoid(sums: Array, more: Array) -> None:
    """Write the sigmoid of ``sums + more`` to ``sums``."""
    for j in range(sums.size):
        sums[j] = sigmoid(sums[j] + more[j])


def add_tanh(sums: Array, more: Array) -> None:
    """Write the hyperbolic tangent of ``sums + more`` to ``sums``."""
    for j in range(sums.size):
        sums[j] = tanh(sums[j] + more[j])


def cell(gates: Array, before: Array, after: Array, inner: Array, hidden: Array) -> None:
    """Write the next cell state, its hyperbolic tangent and the next hidden state, ``[size]``."""
    size = before.size
    i, f, g, o = (
        gates[:size],
        gates[size : 2 * size],
        gates[2 * size : 3 * size],
        gates[3 * size : 4 * size],
    )
    for j in range(size):
        c = f[j] * before[j] + i[j] * g[j]
        t = tanh(c)
        after[j] = c
        inner[j] = t
        hidden[j] = o[j] * t


def forward(
    input: Array,
    from_input: Array,
    from_hidden: Array,
    gates: Array,
    hidden: Array,
    cells: Array,
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
        from_hidden: panels of the transposed ``w_hh`` and, as a last row, the bias.
        gates: for the gates, ``[steps, batch, padded(4 * size)]``.
        hidden: ``[rows, size + 1]``: the first hidden state and a one. Overwritten.
        cells: ``[steps + 1, batch, size]``, of which the first one is set.
        inner, output: ``[steps, batch, size]``, for ``tanh(c)`` and ``h``.
        sums: ``[rows, padded(4 * size)]``. Overwritten.
        low: first row of the batch.
        reverse: 1 to go from the last step to the first, else 0.
    """
    steps, size = inner.shape[0], inner.shape[2]
    rows = hidden.shape[0]
    multiply_steps(input, from_input, gates, low, rows)
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        multiply(hidden, from_hidden, sums)
        for row in range(rows):
            b = low + row
            now, more = gates[t, b], sums[row]
            add_sigmoid(now[: 2 * size], more[: 2 * size])
            add_tanh(now[2 * size : 3 * size], more[2 * size : 3 * size])
            add_sigmoid(now[3 * size : 4 * size], more[3 * size : 4 * size])
            cell(now, cells[t + reverse, b], cells[t + 1 - reverse, b], inner[t, b], output[t, b])
            copy(output[t, b], hidden[row])


def copy(source: Array, target: Array) -> None:
    """Write a row to the beginning of another."""
    for j in range(source.size):  # numba's own first makes a copy
        target[j] = source[j]


def cell_back(
    dh: Array, more: Array, dc: Array, gates: Array, before: Array, inner: Array, d: Array
) -> None:
    """Write the gradients of the sums to ``d``, and change ``dc`` to that of the state before.

    ``dh + more`` is the gradient of the hidden state.
    """
    size = before.size
    i, f, g, o = (
        gates[:size],
        gates[size : 2 * size],
        gates[2 * size : 3 * size],
        gates[3 * size : 4 * size],
    )
    to_i, to_f, to_g, to_o = d[:size], d[size : 2 * size], d[2 * size : 3 * size], d[3 * size :]
    for j in range(size):  # two loops: the more arrays, the longer takes the look for overlaps
        to_h = dh[j] + more[j]
        t = inner[j]
        dc[j] += to_h * o[j] * (ONE - t * t)
        to_o[j] = to_h * t * o[j] * (ONE - o[j])
    for j in range(size):
        to_c = dc[j]
        to_i[j] = to_c * g[j] * i[j] * (ONE - i[j])
        to_f[j] = to_c * before[j] * f[j] * (ONE - f[j])
        to_g[j] = to_c * i[j] * (ONE - g[j] * g[j])
        dc[j] = to_c * f[j]


def backward(
    g_output: Array,
    gates: Array,
    cells: Array,
    inner: Array,
    to_input: Array,
    to_hidden: Array,
    dh: Array,
    dc: Array,
    d: Array,
    dx: Array,
    low: int,
    reverse: int,
) -> None:
    """Go back through all steps for the rows of the batch from ``low`` on.

    Args:
        g_output: gradient of the output, ``[steps, batch, size]``.
        gates, cells, inner: what ``forward`` wrote.
        to_input, to_hidden: panels of ``w_ih`` and ``w_hh``.
        dh: gradient of the last hidden state, ``[rows, padded(size)]``; becomes the first one's.
        dc: gradient of the last cell state, ``[batch, size]``; becomes the first one's.
        d: for the gradients of the sums, ``[steps, batch, 4 * size]``.
        dx: for the gradient of the input, ``[steps, batch, padded(inputs)]``, or without steps.
        low, reverse: as in ``forward``.
    """
    steps, size = inner.shape[0], inner.shape[2]
    rows = dh.shape[0]
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        for row in range(rows):
            b = low + row
            cell_back(
                dh[row, :size], g_output[t, b], dc[b], gates[t, b], cells[t + reverse, b],
                inner[t, b], d[t, b],
            )  # fmt: skip
        multiply(d[t, low : low + rows], to_hidden, dh)
    multiply_steps(d, to_input, dx, low, rows)
