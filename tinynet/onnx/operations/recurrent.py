"""Recurrent sequences, as ONNX's LSTM, GRU and RNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.onnx.graph import Graph, Ref
from tinynet.onnx.operations.table import form


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
    if states[0].rank == 2:
        last = [g("Squeeze", s, first) for s in last]
    return g("Squeeze", output, g.integers(1)), *last


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
