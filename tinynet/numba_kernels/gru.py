"""A sequence through gated recurrent units, for some rows of a batch; see ``gru_ops``.

With ``x`` and ``s`` the products of the input and of the hidden state for r, z and n, biases
included: ``r, z = sigmoid(x + s)``, ``n = tanh(x_n + r s_n)``, ``h' = n + z (h - n)``.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.numba_kernels.llvm.gate_code import gru_back_code, gru_code
from tinynet.numba_kernels.llvm.vectors import ROWS
from tinynet.numba_kernels.llvm.written import written
from tinynet.numba_kernels.products import multiply, multiply_steps
from tinynet.numba_kernels.shared import shared


@written(gru_code)
def units(
    gates: Array, sums: Array, before: Array, move: Array, inner: Array, hidden: Array,
    width: int, size: int,
) -> None:  # fmt: skip
    """Compute a step: overwrite the input's products with r, z and n, and write the new state.

    Args:
        gates, sums: products of the input and of the hidden state, ``[rows, width]``.
        before: the hidden state, ``[batch, size]``.
        move, inner, hidden: outputs ``h - n``, ``s_n`` and ``h'``, ``[rows, size]``.
        width, size: lengths of rows.
    """
    r, z, n = (gates[:, k * size : (k + 1) * size] for k in range(3))
    for k, gate in enumerate((r, z)):
        gate[...] = 0.5 * np.tanh(0.5 * (gate + sums[:, k * size : (k + 1) * size])) + 0.5
    inner[...] = sums[:, 2 * size : 3 * size]
    n[...] = np.tanh(n + r * inner)
    move[...] = before - n
    hidden[...] = n + z * move


@shared(
    span="first last",
    numbers="gates.shape[0] * gates.shape[1] * (from_input.size + from_hidden.size) // 8",
    parts="min(hands(), parts_of(_places, _work))",
)
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
    first: int,
    last: int,
    reverse: int,
) -> None:
    """Run all steps, for tiles of 8 rows of the batch.

    Args:
        input: ``[steps, batch, inputs]``.
        from_input, from_hidden: panels of the transposed ``w_ih`` and ``w_hh``.
        b_ih, b_hh: ``[padded(3 * size)]``.
        gates: output r, z and n, ``[steps, batch, padded(3 * size)]``.
        hidden: the initial hidden state, ``[batch, size]``.
        moves, inner, output: outputs ``h - n``, ``s_n`` and ``h``, ``[steps, batch, size]``.
        sums: ``[batch, padded(3 * size)]``. Overwritten.
        first, last: the first tile, and the end of the tiles.
        reverse: 1 to run from the last step to the first, else 0.
    """
    steps, size = output.shape[0], output.shape[2]
    low, high = first * ROWS, min(last * ROWS, hidden.shape[0])
    mine = sums[low:high]
    multiply_steps(input, from_input, b_ih, gates, low, high - low)
    for s in range(steps):
        t = steps - 1 - s if reverse else s
        before = output[t + 1 if reverse else t - 1, low:high] if s else hidden[low:high]
        multiply(before, from_hidden, b_hh, mine)
        units(
            gates[t, low:high], mine, before, moves[t, low:high], inner[t, low:high],
            output[t, low:high], gates.shape[2], size,
        )  # fmt: skip


@written(gru_back_code)
def units_back(
    dh: Array, more: Array, carried: Array, gates: Array, move: Array, inner: Array,
    of_input: Array, of_hidden: Array, dh_width: int, width: int, size: int,
) -> None:  # fmt: skip
    """Write the gradients of both products, and to ``carried`` the direct gradient of h.

    Args:
        dh, more, carried: the sum is the gradient of the hidden state, ``[rows, dh_width]``, the
            others ``[rows, size]``.
        gates, move, inner: outputs of ``units``.
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


@shared(
    span="first last",
    numbers="gates.shape[0] * gates.shape[1] * (to_input.size + to_hidden.size) // 8",
    parts="min(hands(), parts_of(_places, _work))",
)
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
    first: int,
    last: int,
    reverse: int,
) -> None:
    """Run all steps backward, for tiles of 8 rows of the batch.

    Args:
        g_output: gradient of the output, ``[steps, batch, size]``.
        gates, moves, inner: outputs of ``forward``.
        to_input, to_hidden: panels of ``w_ih`` and ``w_hh``.
        zeros: at least as long as the longest row of a product.
        dh: zeros, ``[batch, padded(size)]``.
        carried: gradient of the last hidden state, ``[batch, size]``. At the end, the gradient of
            the initial one is the sum of this and ``dh``.
        of_input, of_hidden: gradients of the products, ``[steps, batch, 3 * size]``.
        dx: gradient of the input, ``[steps, batch, padded(inputs)]``, or empty.
        first, last, reverse: as in ``forward``.
    """
    steps, size = inner.shape[0], inner.shape[2]
    low, high = first * ROWS, min(last * ROWS, dh.shape[0])
    slope = dh[low:high]
    for s in range(steps):
        t = s if reverse else steps - 1 - s
        now = of_hidden[t, low:high]
        units_back(
            slope, g_output[t, low:high], carried[low:high], gates[t, low:high], moves[t, low:high],
            inner[t, low:high], of_input[t, low:high], now, dh.shape[1], gates.shape[2], size,
        )  # fmt: skip
        multiply(now, to_hidden, zeros, slope)
    multiply_steps(of_input, to_input, zeros, dx, low, high - low)
