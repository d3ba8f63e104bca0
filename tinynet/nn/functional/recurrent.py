"""Recurrent networks: stacked layers, both directions, packed sequences, and single steps."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tinynet import errors
from tinynet.core import modes
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.dropouts import dropout
from tinynet.nn.functional.gated_rnn_ops import gru_sequence, lstm_sequence, lstm_steps
from tinynet.nn.functional.rnn_ops import rnn_sequence
from tinynet.ops.arguments import name_of
from tinynet.ops.creation.constructors import zeros
from tinynet.ops.shaping.joining import cat

State = tuple[Tensor, ...]


class Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    ih: Tensor
    hh: Tensor
    bias_ih: Tensor | None = None
    bias_hh: Tensor | None = None
    hr: Tensor | None = None

    def check(self, input: Tensor, state: State) -> None:
        """Raise RuntimeError unless all have the dtype of the weights; autocast converts them."""
        if modes.mode.autocast is not None:
            return
        for t in (*state, input):
            if t._array.dtype != self.ih._array.dtype:
                raise errors.mixed_dtypes(
                    "mat1 and mat2 must have the same dtype, but got "
                    f"{name_of(t._array)} and {name_of(self.ih._array)}"
                )

    def biases(self) -> tuple[Tensor, Tensor]:
        """Return both biases, or zeros."""
        if self.bias_ih is None or self.bias_hh is None:
            zero = zeros(len(self.ih), dtype=self.ih.dtype)
            return zero, zero
        return self.bias_ih, self.bias_hh

    def bias(self) -> Tensor:
        """Return the sum of both biases, or zeros."""
        if self.bias_ih is None or self.bias_hh is None:
            return self.biases()[0]
        return self.bias_ih + self.bias_hh


# ---- one layer in one direction: the outputs, then the last state -------------------------------

Run = Callable[[Tensor, State, Weights, bool], State]


def _run_rnn(relu: bool, input: Tensor, state: State, w: Weights, reverse: bool) -> State:
    """Return outputs and last hidden state for ``h = tanh(W_ih x + W_hh h + b)``, or with relu."""
    w.check(input, state)
    return rnn_sequence.function(input, *state, w.ih, w.hh, w.bias(), relu, reverse)


run_rnn_tanh: Run = functools.partial(_run_rnn, False)
run_rnn_relu: Run = functools.partial(_run_rnn, True)


def run_gru(input: Tensor, state: State, w: Weights, reverse: bool) -> State:
    """Return outputs and last hidden state of gated recurrent units."""
    w.check(input, state)
    return gru_sequence.function(input, *state, w.ih, w.hh, *w.biases(), reverse)


def run_lstm(input: Tensor, state: State, w: Weights, reverse: bool) -> State:
    """Return outputs, last hidden state and last cell state of long short-term memory."""
    w.check(input, state)
    if w.hr is not None:
        return lstm_steps((input, *state, w.ih, w.hh, w.bias()), reverse, w.hr)
    return lstm_sequence.function(input, *state, w.ih, w.hh, w.bias(), reverse)


def one_step(run: Run, input: Tensor, state: State, w: Weights) -> State:
    """Return the next state: a cell is a sequence of one step. The input is ``[batch, inputs]``.

    Raises:
        RuntimeError: sizes or dtypes do not match.
    """
    inputs, size = w.ih.shape[1], w.hh.shape[1]
    if input.shape[1] != inputs:
        raise RuntimeError(
            f"input has inconsistent input_size: got {input.shape[1]} expected {inputs}"
        )
    for place, s in enumerate(state):
        if s.shape[0] != len(input):
            raise RuntimeError(
                f"Input batch size {len(input)} doesn't match hidden{place} batch size {s.shape[0]}"
            )
        if s.shape[1:] != (size,):
            raise RuntimeError(
                f"hidden{place} has inconsistent hidden_size: got {s.shape[-1]}, expected {size}"
            )
    return run(input.unsqueeze(0), state, w, False)[1:]


# ---- packed sequences ---------------------------------------------------------------------------


def run_packed(
    run: Run, data: Tensor, batch_sizes: Sequence[int], state: State, w: Weights, reverse: bool
) -> State:
    """Return what ``run`` returns, for packed sequences of different lengths, longest first.

    Consecutive steps with the same number of sequences run as one segment. Between segments the
    last sequences of the batch end; in reverse, they begin.

    Raises:
        RuntimeError: a later step has more sequences than an earlier one.
    """
    if any(later > size for size, later in itertools.pairwise(batch_sizes)):
        raise RuntimeError(
            "The 'batch_sizes' of a PackedSequence must not increase. "
            f"Got {[*batch_sizes]} instead."
        )
    segments = [(size, len([*group])) for size, group in itertools.groupby(batch_sizes)]
    parts = data.split([size * steps for size, steps in segments])
    order = -1 if reverse else 1
    ended: list[State] = []
    outputs: list[Tensor] = []
    initial, current = state, tuple(s[:, :0] if reverse else s for s in state)
    for (size, steps), part in [*zip(segments, parts, strict=True)][::order]:
        count = current[0].shape[1]
        if reverse:
            pairs = zip(current, initial, strict=True)
            current = tuple(cat([c, s[:, count:size]], 1) for c, s in pairs)
        elif size < count:
            ended.append(tuple(c[:, size:] for c in current))
            current = tuple(c[:, :size] for c in current)
        output, *last = run(part.reshape(steps, size, -1), current, w, reverse)
        current = tuple(last)
        outputs.append(output.flatten(0, 1))
    ended.append(current)
    return cat(outputs[::order]), *(cat(each, 1) for each in zip(*ended[::-1], strict=True))


# ---- stacked layers -----------------------------------------------------------------------------


def run_layers(
    run: Run,
    input: Tensor,
    states: State,
    weights: Sequence[Weights],
    *,
    batch_sizes: Sequence[int] | None,
    bidirectional: bool,
    dropout_p: float,
) -> State:
    """Return the outputs of the last layer, and the last states of all layers.

    Args:
        run: runs one layer in one direction.
        input: ``[steps, batch, inputs]``, or packed, ``[all steps, inputs]``.
        states: each ``[layers * directions, batch, size]``.
        weights: for each layer and direction.
        batch_sizes: the number of sequences at each step; None for a full batch.
        dropout_p: probability of zero for the values passed between layers.
    """
    directions = 2 if bidirectional else 1
    each = [states]
    if len(weights) > 1:
        each = [*zip(*(s.split(1) for s in states), strict=True)]
    last: list[State] = []
    for layer in range(0, len(weights), directions):
        outputs = []
        if layer:
            input = dropout(input, dropout_p)
        for place in range(layer, layer + directions):
            reverse = place > layer
            if batch_sizes is None:
                output, *final = run(input, each[place], weights[place], reverse)
            else:
                output, *final = run_packed(
                    run, input, batch_sizes, each[place], weights[place], reverse
                )
            outputs.append(output)
            last.append(tuple(final))
        input = cat(outputs, -1) if bidirectional else outputs[0]
    if len(last) == 1:
        return input, *last[0]
    return input, *(cat(one) for one in zip(*last, strict=True))
