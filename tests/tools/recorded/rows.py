"""Rows: calls of one operation on described inputs.

An input describes its numbers and its layout in memory, not which library makes it, so PyTorch and
tinynet get the same numbers. They come from `RandomState`, whose stream numpy has frozen (the newer
`Generator` may change its stream between numpy releases).
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import describe
from .compare import answer_differences, close
from .suite import Entries

Values = Callable[[np.random.RandomState, tuple[int, ...]], np.ndarray]


def _normal(random: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    return np.round(random.standard_normal(shape) * 1.5, 3)


def _between(low: float, high: float) -> Values:
    return lambda random, shape: np.round(random.uniform(low, high, shape), 3)


def _distinct(random: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    """Values at least 0.5 apart, so that every maximum is reached once."""
    count = int(np.prod(shape))
    return (random.permutation(count) - count // 2).reshape(shape) * 0.5 + 0.125


def _integers(low: int, high: int) -> Values:
    return lambda random, shape: random.randint(low, high, shape)


@dataclass(frozen=True)
class Input:
    """One tensor argument of a case: shape, dtype, values, layout in memory, requires_grad."""

    shape: tuple[int, ...]
    dtype: str
    values: Values
    layout: str = "plain"
    requires_grad: bool = False

    @property
    def const(self) -> Input:
        """The same without requires_grad."""
        return replace(self, requires_grad=False)

    @property
    def float32(self) -> Input:
        """The same numbers in single precision."""
        return replace(self, dtype="float32")

    @property
    def t(self) -> Input:
        """The same numbers as a view with reversed dimensions (column-major memory)."""
        return replace(self, layout="transposed")

    @property
    def strided(self) -> Input:
        """The same numbers as every second element of the last dimension of a longer tensor."""
        return replace(self, layout="strided")

    @property
    def expanded(self) -> Input:
        """One row, repeated along the first dimension with stride 0."""
        return replace(self, layout="expanded")

    @property
    def positive(self) -> Input:
        return replace(self, values=_between(0.2, 3.0))

    @property
    def unit(self) -> Input:
        return replace(self, values=_between(-0.9, 0.9))

    @property
    def fraction(self) -> Input:
        return replace(self, values=_between(0.05, 0.95))

    @property
    def distinct(self) -> Input:
        return replace(self, values=_distinct)

    def upto(self, high: int, low: int = 0) -> Input:
        """Integers in [low, high)."""
        return replace(self, values=_integers(low, high))

    def of(self, *values: Any) -> Input:
        """Exactly these numbers, or those of one array, repeated to fill the shape."""
        return replace(self, values=lambda random, shape: np.resize(values, shape))

    def array(self, random: np.random.RandomState) -> np.ndarray:
        """The numbers, as a new numpy array; an expanded input repeats its first row."""
        array = np.array(self.values(random, self.shape)).astype(self.dtype)
        if self.layout == "expanded":
            array = np.broadcast_to(array[:1], self.shape).copy()
        return array

    def build(self, tn: Any, random: np.random.RandomState) -> Any:
        """The tensor, made by the library `tn` (torch or tinynet): a leaf, version 0."""
        array = self.array(random)
        if self.layout == "transposed":
            tensor = tn.tensor(array.T.copy()).permute(tuple(range(array.ndim))[::-1])
        elif self.layout == "strided":
            buffer = np.zeros((*self.shape[:-1], 2 * self.shape[-1] + 1), self.dtype)
            buffer[..., 1::2] = array
            tensor = tn.tensor(buffer)[..., 1::2]
        elif self.layout == "expanded":
            tensor = tn.tensor(array[:1].copy()).expand(self.shape)
        else:
            tensor = tn.tensor(array)
            if not array.size:  # numpy's arrays without elements have no strides
                tensor = tn.zeros(array.shape, dtype=tensor.dtype)
        tensor = tensor.detach()
        return tensor.requires_grad_() if self.requires_grad else tensor


def f64(*shape: int) -> Input:
    return Input(shape, "float64", _normal, requires_grad=True)


def f32(*shape: int) -> Input:
    return Input(shape, "float32", _normal, requires_grad=True)


def i64(*shape: int) -> Input:
    return Input(shape, "int64", _integers(-3, 5))


def i32(*shape: int) -> Input:
    return Input(shape, "int32", _integers(-3, 5))


def u8(*shape: int) -> Input:
    return Input(shape, "uint8", _integers(0, 9))


def mask(*shape: int) -> Input:
    return Input(shape, "bool", _integers(0, 2))


DTYPES: dict[str, Callable[..., Input]] = {
    "float32": f32,
    "float64": f64,
    "int64": i64,
    "int32": i32,
    "uint8": u8,
    "bool": mask,
}


def layouts(*shape: int) -> dict[str, Input]:
    """The float64 inputs that every operation on one tensor meets."""
    return {
        "plain": f64(*shape),
        "0d": f64(),
        "empty": f64(0, *shape[1:]),
        "transposed": f64(*shape).t,
        "strided": f64(*shape).strided,
        "expanded": f64(*shape).expanded,
    }


@dataclass(frozen=True)
class Row:
    """A name, a call, its inputs, and how far it is expected to come in PyTorch.

    Attributes:
        ends: "well", "in the call" or "in backward": where PyTorch raises. The recorder refuses a
            row that ends elsewhere, so that a slip is never recorded as an expected error.
        second_order: whether second derivatives are compared, in float64.
        composition: whether nodes, versions and views are compared.
        tolerance: of numbers, relative to the largest, instead of the roundings of the dtype.
    """

    family: str
    name: str
    call: Callable[..., Any]
    inputs: tuple[Input, ...]
    ends: str = "well"
    second_order: bool = True
    composition: bool = True
    tolerance: float | None = None

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"

    @property
    def op(self) -> str:
        """Return the operation that the row is about: its name up to the first hyphen."""
        return self.name.partition("-")[0]

    @property
    def group(self) -> str:
        """Return the family and operation: one test compares all rows about it."""
        return f"{self.family}/{self.op}"

    def random(self, purpose: str) -> np.random.RandomState:
        """Return the row's own stream of numbers for one purpose."""
        return stream(f"{self.id}:{purpose}")

    def answer(self, T: Any) -> dict[str, Any]:
        """Describe the result, the gradients of both orders, and the versions of the inputs."""
        random = self.random("inputs")
        inputs = [spec.build(T, random) for spec in self.inputs]
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            found = self._answer(T, inputs)
        if heard:  # once each: the gradients are computed twice
            found["warns"] = list(dict.fromkeys(describe.warned(heard)))
        return found

    def _answer(self, T: Any, inputs: list[Any]) -> dict[str, Any]:
        describer = describe.Describer(T, inputs, self.composition)
        try:
            result = self.call(T, *inputs)
        except Exception as error:  # whatever comes is the answer
            versions = [x._version for x in inputs]
            return {"ends": describe.error(error), "versions": versions}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = {"result": describer.describe(result, "result")}
        found["versions"] = [x._version for x in inputs]
        outputs = [t for t in describe.tensors_in(T, result) if t.requires_grad]
        sources = [x for x in inputs if x.requires_grad]
        if outputs and sources:
            try:
                found |= self._gradients(T, outputs, sources)
            except Exception as error:  # whatever comes is the answer
                found["backward"] = describe.error(error)
        return found

    def _gradients(self, T: Any, outputs: list[Any], inputs: list[Any]) -> dict[str, Any]:
        """Compute gradients of the first and, in float64, of the second order.

        The first order is computed twice, plain and with `create_graph`. The second result is part
        of the answer only if it differs from the first, which it never should.

        The second order differentiates sum(gradient * weights) by the inputs and by the incoming
        gradient. There, an unused input and a gradient of zeros are the same thing: which of the
        two comes out is not promised.
        """
        incoming = _random_like(T, outputs, self.random("incoming"))
        plain = T.autograd.grad(outputs, inputs, incoming, retain_graph=True, allow_unused=True)
        answer: dict[str, Any] = {"gradients": [_numbers(g) for g in plain]}
        if not self.second_order or any(x.dtype != T.float64 for x in inputs + outputs):
            return answer
        incoming = [g.requires_grad_() for g in incoming]
        recorded = T.autograd.grad(outputs, inputs, incoming, create_graph=True, allow_unused=True)
        graph = [_numbers(g) for g in recorded]
        if not _same_arrays(answer["gradients"], graph):
            answer["gradients_with_create_graph"] = graph
        weights = _random_like(T, inputs, self.random("weights"))
        differentiable = [n for n, g in enumerate(recorded) if g is not None and g.requires_grad]
        by = inputs + incoming
        second = [None] * len(by)
        if differentiable:
            first = [recorded[n] for n in differentiable]
            weights = [weights[n] for n in differentiable]
            second = T.autograd.grad(first, by, weights, allow_unused=True)
        answer["second"] = [
            np.zeros(tuple(x.shape)) if g is None else _numbers(g)
            for x, g in zip(by, second, strict=True)
        ]
        return answer

    def differences(self, expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
        """Return all differences between two answers."""
        return answer_differences(expected, got, self.tolerance)

    def complaint(self, answer: dict[str, Any]) -> str | None:
        """Return what is wrong if PyTorch does not end the row where its table says."""
        ended = (
            "in the call" if "ends" in answer else "in backward" if "backward" in answer else "well"
        )
        if ended == self.ends:
            return None
        raised = answer.get("ends", answer.get("backward"))
        return f"{self.id} should end {self.ends}, but ended {ended}: {raised}"


_STREAM = np.random.RandomState()


def stream(text: str) -> np.random.RandomState:
    """Return the numbers that follow from a text, until those of another text are asked for.

    To seed a generator takes 2 µs, to make one 100, and there are tens of thousands of texts.
    """
    _STREAM.seed(zlib.crc32(text.encode()))
    return _STREAM


def _random_like(T: Any, tensors: list[Any], random: np.random.RandomState) -> list[Any]:
    arrays = [t.detach().numpy() for t in tensors]
    return [T.tensor(np.round(random.uniform(-2, 2, a.shape), 3).astype(a.dtype)) for a in arrays]


def _numbers(gradient: Any) -> np.ndarray | None:
    return None if gradient is None else describe.numbers(gradient).copy()


def _same_arrays(one: list[Any], other: list[Any]) -> bool:
    return all(
        a is b if a is None or b is None else a.shape == b.shape and close(a, b)
        for a, b in zip(one, other, strict=True)
    )


class Table(Entries):
    """The rows of one family, in the order in which they were added.

    Args:
        name: the name of the file, after ``cases_``.
        options: those of `Row`, for all of them.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name)
        self.options = options

    def case(self, name: str, call: Callable[..., Any], *inputs: Input, **options: Any) -> None:
        """Add a row. Options are those of `Row`."""
        self.put(Row(self.name, name, call, tuple(inputs), **self.options | options))

    def fails(self, name: str, call: Callable[..., Any], *inputs: Input) -> None:
        """Add a row whose call raises in PyTorch."""
        self.case(f"{name}!", call, *inputs, ends="in the call")

    def fails_backward(self, name: str, call: Callable[..., Any], *inputs: Input) -> None:
        """Add a row whose call succeeds and whose backward raises in PyTorch."""
        self.case(f"{name}!", call, *inputs, ends="in backward")


def function(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return `tn.<name>(inputs..., *args, **kwargs)` as a call; the name may be dotted."""

    def call(tn: Any, *inputs: Any) -> Any:
        target = tn
        for part in name.split("."):
            target = getattr(target, part)
        return target(*inputs, *args, **kwargs)

    return call


def method(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return `x.<name>(other inputs..., *args, **kwargs)` as a call."""
    return lambda tn, x, *inputs: getattr(x, name)(*inputs, *args, **kwargs)


def inplace(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return a call of `x.clone().<name>(…)`: a leaf that requires grad may not be written.

    Its result has a second part: whether the first is the very tensor that was written.
    """

    def call(tn: Any, x: Any, *inputs: Any) -> Any:
        written = x.clone()
        result = getattr(written, name)(*inputs, *args, **kwargs)
        return result, result is written

    return call


def attempt(call: Callable[[], Any]) -> Any:
    """Return the result of `call`, or its error: for rows that try many combinations."""
    try:
        return call()
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return error


def each(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    return [attempt(call) for call in calls]
