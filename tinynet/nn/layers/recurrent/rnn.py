"""RNN, LSTM and GRU."""

from __future__ import annotations

import math
import numbers
from typing import Any

from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.functional.recurrent import recurrent
from tinynet.nn.functional.recurrent.recurrent import Weights
from tinynet.nn.parameter import Parameter
from tinynet.nn.utils.rnn import PackedSequence
from tinynet.ops.creation.constructors import empty, zeros

__all__ = ["RNNBase", "RNN", "LSTM", "GRU"]


# ---- base ---------------------------------------------------------------------------------------
# The base class of RNN, LSTM and GRU.


GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    """Base class of RNN, LSTM and GRU.

    All parameters are initialised from U(-k, k) with ``k = 1 / sqrt(hidden_size)``.

    Args:
        mode: ``"RNN_TANH"``, ``"RNN_RELU"``, ``"LSTM"`` or ``"GRU"``.

    The other arguments are those of ``LSTM``.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: parameters of the first layer; the
            others end in ``_l1`` and so on, and in ``_reverse`` for the reverse direction.
        all_weights: all of them, one list per layer and direction.

    Raises:
        ValueError, TypeError: the mode is unknown, or an argument is invalid for ``LSTM``.
        NotImplementedError: the module is called.

    Source: see ``RNN``, ``LSTM`` and ``GRU``.

    Example:
        >>> nn.RNNBase("GRU", 3, 4)
        RNNBase(3, 4)
    """

    _expected_shapes = ("[{order}, {input_size}]", "[L, {input_size}]")

    def __init__(
        self,
        mode: str,
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
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check()
        self.dropout = float(dropout)
        directions = self._directions()
        for place, suffix in enumerate(self._suffixes):
            inputs = input_size if place < len(directions) else self._sizes()[0] * len(directions)
            for name, shape in self._shapes(inputs).items():
                setattr(self, name + suffix, Parameter(empty(shape, dtype=dtype, device=device)))
        self.reset_parameters()

    def _check(self) -> None:
        """Raise for invalid arguments."""
        p = self.dropout
        if not isinstance(p, numbers.Number) or isinstance(p, bool) or not 0 <= p <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                "element being zeroed"
            )
        if p > 0 and self.num_layers == 1:
            warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={p} and num_layers=1"
            )
        for name, kind in (("bias", bool), ("batch_first", bool)):
            if not isinstance(getattr(self, name), kind):
                got = type(getattr(self, name)).__name__
                raise TypeError(f"{name} should be of type bool, got: {got}")
        for name in ("input_size", "hidden_size"):
            value = getattr(self, name)
            if not isinstance(value, int):
                raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
            if value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {self.mode}")

    # ---- parameters -------------------------------------------------------------------------

    def _directions(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    @property
    def _suffixes(self) -> list[str]:
        """The name suffixes of the parameters of each layer and direction."""
        return [f"_l{layer}{d}" for layer in range(self.num_layers) for d in self._directions()]

    def _sizes(self) -> tuple[int, ...]:
        """Return the sizes of the states: hidden, and cell for LSTM."""
        hidden = self.proj_size or self.hidden_size
        return (hidden, self.hidden_size) if self.mode == "LSTM" else (hidden,)

    def _shapes(self, inputs: int) -> dict[str, tuple[int, ...]]:
        """Return the parameters of one layer and direction, and their shapes."""
        rows = GATES[self.mode] * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, inputs),
            "weight_hh": (rows, self._sizes()[0]),
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    def _weights(self) -> list[Weights]:
        """Return the parameters of each layer and direction."""
        found = []
        for suffix in self._suffixes:
            own = {name: getattr(self, name + suffix) for name in self._shapes(0)}
            found.append(Weights(**{k.removeprefix("weight_"): p for k, p in own.items()}))
        return found

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """All parameters, one list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._names()]

    @property
    def _all_weights(self) -> list[list[str]]:
        """The names of ``all_weights``; programs written for PyTorch use these three."""
        return self._names()

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._names() for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def _names(self) -> list[list[str]]:
        """Return the names of the parameters of each layer and direction."""
        return [[name + suffix for name in self._shapes(0)] for suffix in self._suffixes]

    def reset_parameters(self) -> None:
        """Draw new values for all parameters."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: parameters need no contiguous memory on the CPU."""

    # ---- running ----------------------------------------------------------------------------

    def _run(self, input: Any, states: tuple[Tensor, ...] | None) -> Any:
        """Return the output, packed if the input is, and the last states as a tuple."""
        packed = isinstance(input, PackedSequence)
        whole: Any = (input, None, None, None)
        data, sizes, order, back = input if packed else whole
        batched = packed or data.ndim == 3
        if not packed:
            self._check_dims(data, states, batched)
        if not batched:
            data = data.unsqueeze(1)
            states = None if states is None else tuple(s.unsqueeze(1) for s in states)
        elif self.batch_first and not packed:
            data = data.transpose(0, 1)
        self._check_input(data, 2 if packed else 3)
        states = self._initial(data, int(sizes[0]) if packed else data.shape[1], states)
        if order is not None:
            states = tuple(s.index_select(1, order) for s in states)
        output, *last = recurrent.run_layers(
            getattr(recurrent, f"run_{self.mode.lower()}"),
            data,
            states,
            self._weights(),
            batch_sizes=sizes.tolist() if packed else None,
            bidirectional=self.bidirectional,
            dropout_p=self.dropout if self.training else 0.0,
        )
        if back is not None:
            last = [s.index_select(1, back) for s in last]
        if packed:
            return PackedSequence(output, sizes, order, back), tuple(last)
        if not batched:
            return output.squeeze(1), tuple(s.squeeze(1) for s in last)
        return output.transpose(0, 1) if self.batch_first else output, tuple(last)

    def _initial(
        self, data: Tensor, batch: int, states: tuple[Tensor, ...] | None
    ) -> tuple[Tensor, ...]:
        """Return the initial states: the given ones, or zeros.

        Raises:
            RuntimeError: the states have the wrong shape.
        """
        shapes = [(len(self._suffixes), batch, size) for size in self._sizes()]
        if states is None:
            return tuple(zeros(*shape, dtype=data.dtype) for shape in shapes)
        for place, (state, shape) in enumerate(zip(states, shapes, strict=True)):
            if state.shape != shape:
                which = "hidden" if len(shapes) == 1 else f"hidden[{place}]"
                raise RuntimeError(f"Expected {which} size {shape}, got {list(state.shape)}")
        return states

    def _check_dims(self, data: Tensor, states: Any, batched: bool) -> None:
        """Raise unless the tensors are one sequence or a batch."""
        name = self.mode.partition("_")[0]
        if data.ndim not in (2, 3):
            tensor = " tensor" if name == "RNN" else ""
            raise ValueError(
                f"{name}: Expected input to be 2D or 3D, got {data.ndim}D{tensor} instead"
            )
        dims = [s.ndim for s in states or ()]
        if any(n != data.ndim for n in dims):
            kind = "batched 3-D" if batched else "unbatched 2-D"
            states_are, found = "hx", f"{dims[0]}-D tensor"
            if len(dims) > 1:
                states_are, found = "hx and cx", f"({dims[0]}-D, {dims[1]}-D) tensors"
            raise RuntimeError(
                f"For {kind} input, {states_are} should also be {data.ndim}-D but got {found}"
            )

    def _check_input(self, data: Tensor, ndim: int) -> None:
        """Raise if dtype or size of the input do not match."""
        kind = getattr(self, f"weight_ih{self._suffixes[0]}").dtype
        if data.dtype != kind:
            raise ValueError(
                f"RNN input dtype ({data.dtype}) does not match weight dtype ({kind}). Convert "
                f"input: input.to({kind}), or convert model: model.to({data.dtype})"
            )
        if data.ndim != ndim:
            raise RuntimeError(f"input must have {ndim} dimensions, got {data.ndim}")
        if data.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {data.shape[-1]}"
            )
        if not data.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")

    def extra_repr(self) -> str:
        """Return the sizes and options that differ from their defaults."""
        shown = f"{self.input_size}, {self.hidden_size}"
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        for name, value in usual.items():
            if getattr(self, name) != value:
                shown += f", {name}={getattr(self, name)}"
        return shown


# ---- rnn ----------------------------------------------------------------------------------------


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
