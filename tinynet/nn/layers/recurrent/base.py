"""The base class of RNN, LSTM and GRU."""

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

__all__ = ["RNNBase"]

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
