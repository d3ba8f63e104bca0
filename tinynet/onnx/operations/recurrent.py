"""Recurrent sequences, as ONNX's LSTM, GRU and RNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.arithmetic import isnan
from tinynet.onnx.operations.reductions import any_of
from tinynet.onnx.operations.table import choose, form


def _ordered(g: Graph, weight: Ref, gates: Sequence[int]) -> Any:
    """Return the gates of a weight in another order."""
    if len(gates) == 1:
        return weight
    parts = g("Split", weight, outputs=len(gates), axis=0, num_outputs=len(gates))
    return g("Concat", *(parts[i] for i in gates), axis=0)


def _sequence(
    g: Graph,
    op: str,
    gates: Sequence[int],
    x: Ref,
    states: Sequence[Ref],
    weights: Sequence[Ref],
    biases: Sequence[Ref],
    reverse: bool,
    **options: Any,
) -> Any:
    """Add a recurrent node.

    Args:
        gates: the number in PyTorch's order of each gate in ONNX's order.
        x: ``[steps, batch, inputs]``.
        states: ``[batch, size]`` or ``[1, batch, size]``.
        weights: by input and by hidden state, ``[gates * size, ...]``.
        biases: the same, or their sum alone.
    """
    size = weights[1].shape[1]
    first = g.integers(0)
    inner = [g("Unsqueeze", _ordered(g, w, gates), first) for w in weights]
    vectors = [_ordered(g, b, gates) for b in biases]
    if len(vectors) == 1:
        vectors.append(g.constant(np.zeros(len(gates) * size, x.dtype)))
    bias = g("Unsqueeze", g("Concat", *vectors, axis=0), first)
    given = [s if s.rank == 3 else g("Unsqueeze", s, first) for s in states]
    output, *last = g(
        op,
        x,
        *inner,
        bias,
        None,  # the length of each sequence: all are full
        *given,
        outputs=1 + len(states),
        hidden_size=size,
        direction="reverse" if reverse else "forward",
        **options,
    )
    output = g("Squeeze", output, g.integers(1))
    output, last = _with_nan(g, x, states, output, last, reverse)
    if states[0].rank == 2:
        last = [g("Squeeze", s, first) for s in last]
    return output, *last


def _with_nan(
    g: Graph, x: Ref, states: Sequence[Ref], output: Ref, last: Sequence[Ref], reverse: bool
) -> Any:
    """Return the results of sequences, NaN from the first NaN on: gates of onnxruntime clip it."""
    batch = x.shape[1]
    steps = any_of(g, isnan(g, x), -1, True)
    counts = g("CumSum", g.cast(steps, np.int32), g.constant(0, np.int64), reverse=int(reverse))
    missing = g("Greater", counts, 0, dtype=bool)
    steps.shape = (*x.shape[:2], 1)
    some = any_of(g, steps, 0, True)
    for state in states:
        begun = g.reshape(any_of(g, isnan(g, state), -1, True), (1, batch, 1))
        missing, some = g("Or", missing, begun), g("Or", some, begun)
    made = [choose(g, some, np.nan, s, x.dtype) for s in last]
    return choose(g, missing, np.nan, output, x.dtype), made


@form("lstm_sequence")
def lstm(
    g: Graph, x: Ref, h_0: Ref, c_0: Ref, w_ih: Ref, w_hh: Ref, bias: Ref, reverse: bool
) -> Any:
    """Return the hidden states of all steps, and the last states."""
    return _sequence(g, "LSTM", (0, 3, 1, 2), x, [h_0, c_0], [w_ih, w_hh], [bias], reverse)


@form("gru_sequence")
def gru(
    g: Graph, x: Ref, h_0: Ref, w_ih: Ref, w_hh: Ref, b_ih: Ref, b_hh: Ref, reverse: bool
) -> Any:
    """Return the hidden states of all steps, and the last one."""
    weights, biases = [w_ih, w_hh], [b_ih, b_hh]
    return _sequence(g, "GRU", (1, 0, 2), x, [h_0], weights, biases, reverse, linear_before_reset=1)


@form("rnn_sequence")
def rnn(
    g: Graph, x: Ref, h_0: Ref, w_ih: Ref, w_hh: Ref, bias: Ref, relu: bool, reverse: bool
) -> Any:
    """Return the hidden states of all steps, and the last one."""
    activation = ["Relu" if relu else "Tanh"]
    return _sequence(
        g, "RNN", (0,), x, [h_0], [w_ih, w_hh], [bias], reverse, activations=activation
    )
