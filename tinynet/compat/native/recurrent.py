"""Recurrent networks as functions, which copies of PyTorch's classes call: ``torch.lstm``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tinynet import errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional import recurrent
from tinynet.nn.functional.recurrent import Run, State, Weights, one_step

_STATES = {"lstm": 2, "gru": 1, "rnn_tanh": 1, "rnn_relu": 1}


def _weights(params: Sequence[Tensor], biases: bool, projected: bool) -> list[Weights]:
    """Return the parameters of each layer and direction.

    Raises:
        RuntimeError: one is missing.
    """
    size = 2 + 2 * biases + projected
    if len(params) % size:
        raise RuntimeError("got an incorrect number of RNN parameters")
    found = []
    for start in range(0, len(params), size):
        own = params[start : start + size]
        part = Weights(*own[: 2 + 2 * biases])
        found.append(part._replace(hr=own[-1]) if projected else part)
    return found


def _check(states: State, weights: list[Weights], num_layers: int, bidirectional: bool) -> None:
    """Raise RuntimeError unless there is a state, and weights, for each layer and direction."""
    counts = [min(len(s) for s in states), len(weights)]
    if bidirectional and any(n % 2 for n in counts):
        raise RuntimeError("Odd number of params or hiddens given to a bidirectional RNN")
    for what, count in zip(("hidden states", "weights"), counts, strict=True):
        if count != num_layers * (1 + bidirectional):
            raise RuntimeError(f"Expected more {what} in stacked_rnn")


def _check_data(data: Tensor, weights: Weights, ndim: int) -> None:
    """Raise IndexError or RuntimeError unless the input has the dimensions and the size."""
    if data.ndim < ndim:
        raise errors.dim_range(1, 1)
    rows, size = math.prod(data.shape[:-1]), weights.ih.shape[::-1]
    if data.shape[-1] != size[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{data.shape[-1]} and "
            f"{size[0]}x{size[1]})"
        )


def _apply(
    name: str,
    data: Tensor,
    batch_sizes: Tensor | None,
    hx: Any,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
) -> State:
    """Return the outputs and the last states of all layers."""
    states = tuple(hx) if _STATES[name] == 2 else (hx,)
    if len(states) != _STATES[name]:
        raise RuntimeError(f"{name} expects two hidden states")
    projected = len(states) == 2 and states[0].shape[2] != states[1].shape[2]
    weights = _weights(params, has_biases, projected)
    _check(states, weights, num_layers, bidirectional)
    _check_data(data, weights[0], 2 if batch_sizes is not None else 3)
    data = data.transpose(0, 1) if batch_first else data
    if not data.shape[0]:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    output, *last = recurrent.run_layers(
        getattr(recurrent, f"run_{name}"),
        data,
        states,
        weights,
        batch_sizes=None if batch_sizes is None else batch_sizes.tolist(),
        bidirectional=bidirectional,
        dropout_p=dropout if train else 0.0,
    )
    return output.transpose(0, 1) if batch_first else output, *last


def _layers(name: str, hx: str) -> Callable[..., State]:
    """Return the function of a network with PyTorch's two signatures."""

    def layers(*args: Any, **options: Any) -> State:
        packed = "batch_sizes" in options or isinstance((*args, *[None] * 4)[3], (tuple, list))
        names = _PACKED if packed else _BATCH
        given = {**dict(zip(names, args, strict=False)), **options}
        data, sizes = given.pop(names[0]), given.pop("batch_sizes", None)
        return _apply(name, data, sizes, **given)

    layers.__name__ = layers.__qualname__ = name
    layers.__doc__ = f"""Return the outputs and the last states of a recurrent network.

    ``{name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first)``, or, of a packed sequence, ``{name}(data, batch_sizes, hx, params, has_biases,
    num_layers, dropout, train, bidirectional)``.

    Args:
        input: ``[steps, batch, inputs]``, the first two exchanged for ``batch_first``.
        data, batch_sizes: those of a ``PackedSequence``.
        hx: {hx}, ``[layers * directions, batch, size]``.
        params: of each layer and direction ``weight_ih``, ``weight_hh``, and ``bias_ih``,
            ``bias_hh`` if ``has_biases``.
        has_biases, num_layers, dropout, train, bidirectional, batch_first: as of the module.

    Raises:
        RuntimeError: the numbers of parameters or states, or shapes or dtypes, do not match.
    """
    return layers


_BATCH, _PACKED = (
    f"{first} params has_biases num_layers dropout train bidirectional {last}".split()
    for first, last in (("input hx", "batch_first"), ("data batch_sizes hx", ""))
)
lstm = _layers("lstm", "the hidden and the cell states")
gru = _layers("gru", "the hidden states")
rnn_tanh = _layers("rnn_tanh", "the hidden states")
rnn_relu = _layers("rnn_relu", "the hidden states")


def _cell(name: str, run: Run) -> Callable[..., Any]:
    """Return the function of one step."""

    def cell(
        input: Tensor,
        hx: Any,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Any:
        states = tuple(hx) if name == "lstm_cell" else (hx,)
        if name == "lstm_cell" and len(states) != 2:
            raise RuntimeError("lstm_cell expects two hidden states")
        if input.ndim < 2:
            raise errors.dim_range(1, 1)
        last = one_step(run, input, states, Weights(w_ih, w_hh, b_ih, b_hh))
        return last if len(last) > 1 else last[0]

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = f"""Return the next state, or states, of a recurrent network: ``torch.{name}``.

    Args:
        input: ``[batch, inputs]``.
        hx: the state, ``[batch, size]``; for ``lstm_cell`` the hidden and the cell state.
        w_ih, w_hh, b_ih, b_hh: the parameters of the cell; biases may be None.

    Raises:
        RuntimeError: sizes or dtypes do not match.
    """
    return cell


lstm_cell = _cell("lstm_cell", recurrent.run_lstm)
gru_cell = _cell("gru_cell", recurrent.run_gru)
rnn_tanh_cell = _cell("rnn_tanh_cell", recurrent.run_rnn_tanh)
rnn_relu_cell = _cell("rnn_relu_cell", recurrent.run_rnn_relu)
