"""RNN, LSTM and GRU."""

from __future__ import annotations

from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.layers.recurrent.base import RNNBase

__all__ = ["RNN", "LSTM", "GRU"]


class RNN(RNNBase):
    """Processes sequences with ``h = tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu.

    Args:
        nonlinearity: ``"tanh"`` or ``"relu"``.

    The other arguments, shapes and attributes are those of ``LSTM``, with one state ``h`` instead
    of ``(h, c)`` and ``hidden_size`` rows per weight.

    Raises:
        ValueError: a size is not positive, ``dropout`` is not in [0, 1], or ``nonlinearity`` is
            unknown; in the call, another dtype, or neither two nor three dimensions.
        RuntimeError: the size of input or states does not match, or there are no steps (in the
            call).
        TypeError: a size is not an int, or an option is not a bool.

    Source: Elman, "Finding structure in time", 1990.

    Example:
        >>> rnn = nn.RNN(10, 20, num_layers=2)
        >>> output, h = rnn(tn.zeros(5, 3, 10))
        >>> output.shape, h.shape
        (tinynet.Size([5, 3, 20]), tinynet.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Return the outputs and the last hidden states; ``hx`` defaults to zeros."""
        output, (h,) = self._run(input, None if hx is None else (hx,))
        return output, h


class LSTM(RNNBase):
    """Processes sequences with long short-term memory: hidden state ``h``, cell state ``c``.

    With the four sums ``W_ih x + b_ih + W_hh h + b_hh``: ``i, f, o = sigmoid(...)``,
    ``g = tanh(...)``, ``c = f * c + i * g`` and ``h = o * tanh(c)``.

    Args:
        input_size: number of input features per step.
        hidden_size: size of the states.
        num_layers: number of stacked layers.
        bias: whether to add biases.
        batch_first: ``[batch, steps, ...]`` instead of ``[steps, batch, ...]``, for input and
            output; the layout of the states does not change.
        dropout: probability of zero for the values passed between layers, in training.
        bidirectional: also process the sequence in reverse.
        proj_size: if positive, project hidden states to this size with ``weight_hr``.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        input ``[steps, batch, input_size]``, states ``[layers * directions, batch, hidden_size]``
        to output ``[steps, batch, directions * hidden_size]`` and states; a single sequence has no
        batch dimension. The input may be a ``PackedSequence``; then the output is one, too.

    Attributes:
        weight_ih_l0: ``[4 * hidden_size, input_size]``, the rows of i, f, g and o.
        weight_hh_l0: ``[4 * hidden_size, hidden_size]``.
        bias_ih_l0, bias_hh_l0: ``[4 * hidden_size]``.
        weight_hr_l0: ``[proj_size, hidden_size]``, with ``proj_size`` only.

    Raises:
        ValueError: a size is not positive, ``dropout`` is not in [0, 1], or ``proj_size`` is not
            below ``hidden_size``; in the call, another dtype, or neither two nor three dimensions.
        RuntimeError: the size of input or states does not match, or there are no steps (in the
            call).
        TypeError: a size is not an int, an option is not a bool, or the states are not a pair.

    Source: Hochreiter and Schmidhuber, "Long short-term memory", 1997; projection: Sak et al.,
    2014.

    Example:
        >>> lstm = nn.LSTM(10, 20, bidirectional=True)
        >>> output, (h, c) = lstm(tn.zeros(5, 3, 10))
        >>> output.shape, h.shape
        (tinynet.Size([5, 3, 40]), tinynet.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def forward(
        self, input: Any, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Return the outputs and the last ``(h, c)``; ``hx`` defaults to zeros."""
        if hx is not None and (not isinstance(hx, (tuple, list)) or len(hx) != 2):
            raise TypeError(
                f"The 'hx' of LSTM must be a pair (h_0, c_0). Got {type(hx).__name__} instead."
            )
        return self._run(input, None if hx is None else tuple(hx))


class GRU(RNNBase):
    """Processes sequences with gated recurrent units.

    ``r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh)`` with two thirds of the rows, and with the
    last third ``n = tanh(W_ih x + b_ih + r * (W_hh h + b_hh))``; then ``h = (1 - z) * n + z * h``.

    Arguments, shapes and attributes are those of ``LSTM``, with one state ``h`` instead of
    ``(h, c)``, three times ``hidden_size`` rows per weight, and without ``proj_size``.

    Raises:
        ValueError: a size is not positive, or ``dropout`` is not in [0, 1]; in the call, another
            dtype, or neither two nor three dimensions.
        RuntimeError: the size of input or states does not match, or there are no steps (in the
            call).
        TypeError: a size is not an int, or an option is not a bool.

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder for statistical
    machine translation", 2014, arXiv:1406.1078.

    Example:
        >>> gru = nn.GRU(10, 20, batch_first=True)
        >>> output, h = gru(tn.zeros(3, 5, 10))
        >>> output.shape, h.shape
        (tinynet.Size([3, 5, 20]), tinynet.Size([1, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Return the outputs and the last hidden states; ``hx`` defaults to zeros."""
        output, (h,) = self._run(input, None if hx is None else (hx,))
        return output, h
