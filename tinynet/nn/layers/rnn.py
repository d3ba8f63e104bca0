"""RNN, LSTM and GRU."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Callable
from typing import Any, ClassVar

from tinynet.core import modes
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.functional import recurrent
from tinynet.nn.functional.recurrent import Weights
from tinynet.nn.parameter import Parameter
from tinynet.nn.utils.rnn import PackedSequence
from tinynet.ops.creation.constructors import empty, zeros

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "RNNBase",
]


# ---- base ---------------------------------------------------------------------------------------
# The base class of RNN, LSTM and GRU.


GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


@functools.cache
def _names(layers: int, directions: int, bias: bool, projected: bool) -> tuple[dict[str, str], ...]:
    """Return the names of the parameters of each layer and direction, by field of ``Weights``."""
    kinds = ["weight_ih", "weight_hh", *["bias_ih", "bias_hh"] * bias, *["weight_hr"] * projected]
    suffixes = [f"_l{i}{d}" for i in range(layers) for d in ("", "_reverse")[:directions]]
    return tuple({k.removeprefix("weight_"): k + suffix for k in kinds} for suffix in suffixes)


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

    __constants__: ClassVar[list[str]] = [
        *("mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout"),
        *("bidirectional", "proj_size"),
    ]
    __jit_unused_properties__: ClassVar[list[str]] = ["all_weights"]

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
        hidden, rows = proj_size or hidden_size, GATES[mode] * hidden_size
        for place, names in enumerate(self._names):
            inputs = input_size if place < self._directions else hidden * self._directions
            shapes = {"ih": (rows, inputs), "hh": (rows, hidden), "hr": (hidden, hidden_size)}
            for kind, name in names.items():
                empty_one = empty(shapes.get(kind, (rows,)), dtype=dtype, device=device)
                setattr(self, name, Parameter(empty_one))
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

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _names(self) -> tuple[dict[str, str], ...]:
        return _names(self.num_layers, self._directions, self.bias, self.proj_size > 0)

    def _weights(self) -> list[Weights]:
        """Return the parameters of each layer and direction."""
        return [
            Weights(**{kind: getattr(self, name) for kind, name in names.items()})
            for names in self._names
        ]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """All parameters, one list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _all_weights(self) -> list[list[str]]:
        """The names of ``all_weights``; programs written for PyTorch use these three."""
        return [[*names.values()] for names in self._names]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [getattr(self, name) for name in self._flat_weights_names]

    def reset_parameters(self) -> None:
        """Draw new values for all parameters."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: parameters need no contiguous memory on the CPU."""

    # ---- what a subclass may replace --------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise unless the input has the dtype of the weights and the dimensions and size.

        Args:
            input: a batch, or the data of a packed sequence.
            batch_sizes: the number of sequences at each step of a packed sequence.

        Raises:
            ValueError: the dtypes differ, outside of autocast.
            RuntimeError: the number of dimensions, or the size of the last one, is another.
        """
        weight = self.weight_ih_l0
        if input._array.dtype != weight._array.dtype and modes.mode.autocast is None:
            kind = weight.dtype
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({kind}). Convert "
                f"input: input.to({kind}), or convert model: model.to({input.dtype})"
            )
        ndim = 3 if batch_sizes is None else 2
        if input.ndim != ndim:
            raise RuntimeError(f"input must have {ndim} dimensions, got {input.ndim}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.size(-1)}"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Return the shape of the hidden states of an input."""
        return self._expected(input, batch_sizes, self.proj_size or self.hidden_size)

    def _expected(self, input: Tensor, batch_sizes: Tensor | None, size: int) -> Any:
        if batch_sizes is None:
            batch = input.size(0 if self.batch_first else 1)
        else:
            batch = int(batch_sizes[0])
        return self.num_layers * self._directions, batch, size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raise RuntimeError with ``msg`` unless the states have the expected shape."""
        if hx.shape != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise unless input and states fit; see ``check_input`` and ``check_hidden_size``."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return the states with their batch in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # ---- running ----------------------------------------------------------------------------

    def _run(self, input: Any, hx: Any) -> Any:
        """Return the output, packed if the input is, and the last states in the form of ``hx``."""
        packed = isinstance(input, PackedSequence)
        whole: Any = (input, None, None, None)
        data, sizes, order, back = input if packed else whole
        batched, along = packed or data.ndim == 3, 0 if self.batch_first else 1
        if not packed:
            self._check_dims(data, hx)
        if not batched:
            data = data.unsqueeze(along)
            hx = None if hx is None else _each(lambda s: s.unsqueeze(1), hx)
        if hx is None:
            hx = self._zeros(data, sizes)
        self.check_forward_args(data, hx, sizes)
        hx = self.permute_hidden(hx, order)
        if self.batch_first and not packed:
            data = data.transpose(0, 1)
        if not data.size(0):
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        output: Any
        output, *last = recurrent.run_layers(
            getattr(recurrent, f"run_{self.mode.lower()}"),
            data,
            hx if isinstance(hx, tuple) else (hx,),
            self._weights(),
            batch_sizes=None if sizes is None else sizes.tolist(),
            bidirectional=self.bidirectional,
            dropout_p=self.dropout if self.training else 0.0,
        )
        hidden = tuple(last) if isinstance(hx, tuple) else last[0]
        if packed:
            output = PackedSequence(output, sizes, order, back)
        elif self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output, hidden = output.squeeze(along), _each(lambda s: s.squeeze(1), hidden)
        return output, self.permute_hidden(hidden, back)

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """Return the initial states of an input."""
        return zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype)

    def _check_dims(self, data: Tensor, hx: Any) -> None:
        """Raise unless the tensors are one sequence or a batch."""
        name = self.mode.partition("_")[0]
        if data.ndim not in (2, 3):
            tensor = " tensor" if name == "RNN" else ""
            raise ValueError(
                f"{name}: Expected input to be 2D or 3D, got {data.ndim}D{tensor} instead"
            )
        states = hx if isinstance(hx, tuple) else (hx,)
        dims = [s.ndim for s in states if s is not None]
        if any(n != data.ndim for n in dims):
            kind = "batched 3-D" if data.ndim == 3 else "unbatched 2-D"
            states_are, found = "hx", f"{dims[0]}-D tensor"
            if len(dims) > 1:
                states_are, found = "hx and cx", f"({dims[0]}-D, {dims[1]}-D) tensors"
            raise RuntimeError(
                f"For {kind} input, {states_are} should also be {data.ndim}-D but got {found}"
            )

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


def _each(function: Callable[[Tensor], Tensor], states: Any) -> Any:
    return tuple(map(function, states)) if isinstance(states, tuple) else function(states)


def _refuse_projection(options: dict[str, Any]) -> None:
    """Raise ValueError for an option of LSTM only."""
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


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
        **kwargs: Any,
    ):
        _refuse_projection(kwargs)
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
            **kwargs,
        )
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Return the outputs and the last hidden states; ``hx`` defaults to zeros."""
        return self._run(input, hx)


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

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Return the shape of the cell states of an input."""
        return self._expected(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise unless input and states fit; see ``check_input`` and ``check_hidden_size``."""
        self.check_input(input, batch_sizes)
        for place, size in enumerate((self.get_expected_hidden_size, self.get_expected_cell_size)):
            text = f"Expected hidden[{place}] size {{}}, got {{}}"
            self.check_hidden_size(hidden[place], size(input, batch_sizes), text)

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return both states with their batch in another order."""
        return hx if permutation is None else _each(lambda s: s.index_select(1, permutation), hx)

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        cell = zeros(self.get_expected_cell_size(input, batch_sizes), dtype=input.dtype)
        return super()._zeros(input, batch_sizes), cell

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
        **kwargs: Any,
    ):
        _refuse_projection(kwargs)
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
            **kwargs,
        )

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Return the outputs and the last hidden states; ``hx`` defaults to zeros."""
        return self._run(input, hx)
