"""RNNCell, LSTMCell and GRUCell: one step of RNN, LSTM and GRU."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.functional import recurrent
from tinynet.nn.functional.recurrent import Run, State, Weights, one_step
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation.constructors import empty, zeros

__all__ = [
    "GRUCell",
    "LSTMCell",
    "RNNCell",
    "RNNCellBase",
]


class RNNCellBase(Module):
    """Base class of recurrent cells.

    All parameters are initialised from U(-k, k) with ``k = 1 / sqrt(hidden_size)``.

    Args:
        input_size: number of input features.
        hidden_size: size of the hidden state.
        bias: whether to add biases.
        num_chunks: number of gates; the weights have ``num_chunks * hidden_size`` rows.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Attributes:
        weight_ih: ``[num_chunks * hidden_size, input_size]``.
        weight_hh: ``[num_chunks * hidden_size, hidden_size]``.
        bias_ih, bias_hh: ``[num_chunks * hidden_size]``, or None.

    Raises:
        RuntimeError: a size is negative.
        NotImplementedError: the module is called.

    Source: see ``RNNCell``, ``LSTMCell`` and ``GRUCell``.

    Example:
        >>> cell = nn.GRUCell(3, 5)
        >>> isinstance(cell, nn.RNNCellBase), cell.weight_ih.shape
        (True, tinynet.Size([15, 3]))
    """

    __constants__: ClassVar[list[str]] = ["input_size", "hidden_size", "bias"]

    bias_ih: Parameter | None
    bias_hh: Parameter | None

    _expected_shapes = ("[N, {input_size}]", "[{input_size}]")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, dtype=dtype, device=device))
        self.weight_hh = Parameter(empty(rows, hidden_size, dtype=dtype, device=device))
        for name in ("bias_ih", "bias_hh"):
            made = Parameter(empty(rows, dtype=dtype, device=device)) if bias else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values for all parameters."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        """Return the sizes and options that differ from their defaults."""
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            shown += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return shown if nonlinearity == "tanh" else f"{shown}, nonlinearity={nonlinearity}"


def _step(layer: Any, run: Run, input: Tensor, state: State | None, count: int = 1) -> State:
    """Return the next state, of ``count`` tensors; for a batch or a single input."""
    if input.ndim == 1:
        input = input.unsqueeze(0)
        state = None if state is None else tuple(s.unsqueeze(0) for s in state)
        return tuple(s.squeeze(0) for s in _step(layer, run, input, state, count))
    if state is None:
        state = (zeros(len(input), layer.hidden_size, dtype=input.dtype),) * count
    weights = Weights(layer.weight_ih, layer.weight_hh, layer.bias_ih, layer.bias_hh)
    return one_step(run, input, state, weights)


def _check_dims(layer: Any, **given: Tensor) -> None:
    """Raise ValueError unless all are vectors or matrices."""
    for name, t in given.items():
        if t.ndim not in (1, 2):
            raise ValueError(
                f"{type(layer).__name__}: Expected {name} to be 1D or 2D, got {t.ndim}D instead"
            )


class RNNCell(RNNCellBase):
    """An Elman RNN cell: ``tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu.

    Args:
        input_size: number of input features.
        hidden_size: size of the hidden state.
        bias: whether to add biases.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        input ``[batch, input_size]`` and state ``[batch, hidden_size]`` to the next state; a single
        input has no batch dimension.

    Raises:
        ValueError: input or state is neither a vector nor a matrix.
        RuntimeError: size or dtype of input or state do not match, or ``nonlinearity`` is unknown
            (in the call).

    Source: Elman, "Finding structure in time", 1990.

    Example:
        >>> cell = nn.RNNCell(10, 20)
        >>> cell(tn.zeros(3, 10), tn.zeros(3, 20)).shape
        tinynet.Size([3, 20])
    """

    __constants__ = [*RNNCellBase.__constants__, "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state; the previous one is zero unless given."""
        _check_dims(self, input=input)
        if hx is not None:
            _check_dims(self, hidden=hx)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        run = recurrent.run_rnn_relu if self.nonlinearity == "relu" else recurrent.run_rnn_tanh
        return _step(self, run, input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """A long short-term memory cell: one step of ``LSTM``.

    Args:
        input_size: number of input features.
        hidden_size: size of the states.
        bias: whether to add biases.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        input ``[batch, input_size]`` and states ``[batch, hidden_size]`` to the next states; a
        single input has no batch dimension.

    Raises:
        ValueError: input or state is neither a vector nor a matrix.
        RuntimeError: size or dtype of input or state do not match.
        TypeError: the states are not a pair.

    Source: ``c = f * c + i * g`` and ``h = o * tanh(c)`` with the gates of ``LSTM``; Hochreiter
    and Schmidhuber, "Long short-term memory", 1997.

    Example:
        >>> cell = nn.LSTMCell(10, 20)
        >>> h, c = cell(tn.zeros(3, 10))
        >>> h.shape, c.shape
        (tinynet.Size([3, 20]), tinynet.Size([3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next ``(h, c)``; the previous ones are zero unless given."""
        _check_dims(self, input=input)
        if hx is not None:
            if not isinstance(hx, (tuple, list)) or len(hx) != 2:
                raise TypeError(
                    "The 'hx' of LSTMCell must be a pair (h_0, c_0). "
                    f"Got {type(hx).__name__} instead."
                )
            _check_dims(self, **{"hx[0]": hx[0], "hx[1]": hx[1]})
        h, c = _step(self, recurrent.run_lstm, input, None if hx is None else tuple(hx), 2)
        return h, c


class GRUCell(RNNCellBase):
    """A gated recurrent unit cell: one step of ``GRU``.

    Args:
        input_size: number of input features.
        hidden_size: size of the hidden state.
        bias: whether to add biases.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        input ``[batch, input_size]`` and state ``[batch, hidden_size]`` to the next state; a single
        input has no batch dimension.

    Raises:
        ValueError: input or state is neither a vector nor a matrix.
        RuntimeError: size or dtype of input or state do not match.

    Source: ``h = (1 - z) * n + z * h`` with the gates of ``GRU``; Cho et al., "Learning phrase
    representations using RNN encoder-decoder for statistical machine translation", 2014,
    arXiv:1406.1078.

    Example:
        >>> cell = nn.GRUCell(10, 20)
        >>> cell(tn.zeros(10)).shape
        tinynet.Size([20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state; the previous one is zero unless given."""
        _check_dims(self, input=input)
        if hx is not None:
            _check_dims(self, hidden=hx)
        return _step(self, recurrent.run_gru, input, None if hx is None else (hx,))[0]
