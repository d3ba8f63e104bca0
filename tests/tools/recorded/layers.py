"""Layers: modules that are built, called, differentiated, trained and drawn anew."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.tools.rounding import near

from . import describe
from .compare import answer_differences
from .rows import Input, i64, mask, stream
from .suite import Entries

RATE, STEPS = 0.05, 3  # of training
SAMPLES, MODULES = 2000, 50  # of initial values: the least number, the largest number of modules
OF_PYTORCH = "self args kwargs device dtype _weight _freeze min_value max_value".split()
"""Parameters of constructors that are not compared."""


def f(*shape: int) -> Input:
    """Return floats that require grad."""
    return Input(shape, "float64", lambda random, s: random.standard_normal(s), requires_grad=True)


def i(high: int, *shape: int) -> Input:
    """Return integers from 0 to high - 1."""
    return i64(*shape).upto(high)


def b(*shape: int) -> Input:
    """Return booleans."""
    return mask(*shape)


@dataclass(frozen=True)
class Layer:
    """A module, how it is called, and what of it is compared.

    Attributes:
        inputs: arguments of the call; each `Input` stands for a tensor.
        train: the mode.
        second: whether second derivatives are compared.
        steps: whether three steps of training are.
        initial: whether the distribution of the initial state is.
        tolerance: of numbers, relative to the largest, instead of the roundings of float64.
    """

    family: str
    name: str
    build: Callable[[Any], Any]
    inputs: tuple[Any, ...]
    call: Callable[..., Any] = lambda module, *inputs: module(*inputs)
    train: bool = True
    second: bool = True
    steps: bool = True
    initial: bool = True
    tolerance: float | None = None

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"

    @property
    def group(self) -> str:
        """Return the family and class: one test compares all entries about it."""
        return group_of(self)

    def answer(self, T: Any) -> dict[str, Any]:
        """Describe the constructor, the printed form, the initial state, and what is computed."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            found = self.computed(T, "float64")
            module = self.build(T)
            found["signature"] = signature(type(module))
            found["repr"] = describe.text(repr(module)).split("\n")
            if self.initial:
                found["initial"] = self._initial(T)
        if heard:
            found["warns"] = list(dict.fromkeys(describe.warned(heard)))
        return found

    def complaint(self, answer: dict[str, Any]) -> str | None:
        """Return None: a layer that raises has no answer."""
        return None

    def differences(self, expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
        """Return all differences; initial states need only have the same distribution."""
        expected, got = dict(expected), dict(got)
        initial, drawn = expected.pop("initial", {}), got.pop("initial", {})
        found = answer_differences(expected, got, self.tolerance)
        if initial.keys() != drawn.keys():
            return [*found, f"initial: {[*initial]} expected, got {[*drawn]}"]
        return found + [
            f"initial.{key}: mean, spread and largest {initial[key]} expected, got {drawn[key]}"
            for key in initial
            if not _same_distribution(initial[key], drawn[key])
        ]

    # ---- building -------------------------------------------------------------------------------

    def module(self, T: Any, dtype: str) -> Any:
        """Build the module, with numbers in its state that follow from their names."""
        module = self.build(T).to(getattr(T, dtype))
        state = {}
        for key, t in module.state_dict().items():
            if t.is_floating_point():
                random = stream(f"{self.name} {key}")
                array = np.asarray(random.standard_normal(tuple(t.shape)) * 0.4)
                array = np.abs(array) + 0.5 if key.endswith("running_var") else array
                state[key] = T.tensor(array.astype(_kind(t)))
        module.load_state_dict(state, strict=False)
        return module.train(self.train)

    def arguments(self, T: Any, dtype: str) -> list[Any]:
        """Return the arguments of the call, with floats of one dtype."""
        made = []
        for place, one in enumerate(self.inputs):
            if isinstance(one, Input):
                random = stream(f"{self.name} {place}")
                spec = replace(one, dtype=dtype) if one.dtype == "float64" else one
                one = spec.build(T, random)
            made.append(one)
        return made

    # ---- measuring ------------------------------------------------------------------------------

    def computed(self, T: Any, dtype: str) -> dict[str, Any]:
        """Describe the state, outputs, gradients of both orders, and three steps of training."""
        module, inputs = self.module(T, dtype), self.arguments(T, dtype)
        state = module.state_dict().items()
        found: dict[str, Any] = {"state": {k: [_kind(t), *t.shape] for k, t in state}}
        outputs = tensors_in(self.call(module, *inputs))
        found["outputs"] = [summary(t) for t in outputs]
        sources = [t for t in inputs if hasattr(t, "requires_grad") and t.requires_grad]
        sources += [p for p in module.parameters() if p.requires_grad]
        loss = _weighted(T, outputs, 0.0)
        if sources and hasattr(loss, "backward") and loss.requires_grad:
            grads = T.autograd.grad(loss, sources, create_graph=self.second, allow_unused=True)
            found["grads"] = [summary(g) for g in grads]
            slope = _weighted(T, [g for g in grads if g is not None], 1.0) if self.second else 0.0
            if hasattr(slope, "backward"):
                grads = T.autograd.grad(slope, sources, allow_unused=True)
                found["second"] = [summary(g) for g in grads]
        if self.steps and any(p.requires_grad for p in module.parameters()):
            found |= self._trained(T, dtype)
        return found

    def _trained(self, T: Any, dtype: str) -> dict[str, Any]:
        """Take three steps of gradient descent."""
        module, losses = self.module(T, dtype), []
        for _ in range(STEPS):
            outputs = tensors_in(self.call(module, *self.arguments(T, dtype)))
            loss = _weighted(T, outputs, 0.0) / max(sum(t.numel() for t in outputs), 1)
            module.zero_grad()
            loss.backward()
            losses.append(loss.item())
            with T.no_grad():
                for p in module.parameters():
                    if p.grad is not None:
                        p -= RATE * p.grad
        state = module.state_dict().items()
        return {"losses": np.array(losses), "trained": {k: summary(t) for k, t in state}}

    def _initial(self, T: Any) -> dict[str, np.ndarray]:
        """Return mean, spread and largest value of each entry of the state, over many modules."""
        T.manual_seed(0)
        first = self.build(T)
        entries = first.state_dict().items()
        state = [(key, _kind(t), *t.shape, t.numpy().tobytes()) for key, t in entries]
        drawn = type(first), *state  # what draws the same first is the same to the last
        if drawn not in _DISTRIBUTIONS:
            _DISTRIBUTIONS[drawn] = _distribution(first, lambda: self.build(T))
        return _DISTRIBUTIONS[drawn]


_DISTRIBUTIONS: dict[tuple[Any, ...], dict[str, np.ndarray]] = {}
"""Of initial states, by class and the first one: most layers of a class differ in their call."""


def _distribution(first: Any, build: Callable[[], Any]) -> dict[str, np.ndarray]:
    """Return mean, spread and largest value of each entry of the state, over many modules."""
    pooled: dict[str, list[np.ndarray]] = {}
    for number in range(MODULES):
        for key, t in (build() if number else first).state_dict().items():
            pooled.setdefault(key, []).append(t.numpy().astype("f8").reshape(-1))
        if all(sum(map(len, parts)) >= SAMPLES for parts in pooled.values()):
            break
    found = {}
    for key, parts in pooled.items():
        x = np.concatenate(parts)
        found[key] = np.array([x.mean(), x.std(), np.abs(x).max()] if x.size else [0.0] * 3)
    return found


@dataclass(frozen=True)
class Failure:
    """A function of the library that raises."""

    family: str
    name: str
    program: Callable[[Any], Any]

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"

    @property
    def group(self) -> str:
        """Return the family and class: one test compares all entries about it."""
        return group_of(self)

    def answer(self, T: Any) -> dict[str, Any]:
        """Describe the error."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.program(T)
            except Exception as error:  # whatever comes is the answer
                return {"ends": describe.error(error)}
        return {}

    def complaint(self, answer: dict[str, Any]) -> str | None:
        """Return what is wrong if PyTorch does not raise."""
        return None if "ends" in answer else f"{self.id} should raise, but did not"

    differences = staticmethod(answer_differences)


def group_of(entry: Layer | Failure) -> str:
    """Return the family of a layer or refusal, and its name up to the first hyphen."""
    return f"{entry.family}/{entry.name.rstrip('!').partition('-')[0]}"


class Table(Entries):
    """The layers of one file, and what they refuse."""

    def layer(self, name: str, build: Callable[[Any], Any], *inputs: Any, **options: Any) -> None:
        """Add a layer. Options are those of `Layer`."""
        self.put(Layer(self.name, name, build, inputs, **options))

    def fails(self, name: str, program: Callable[[Any], Any]) -> None:
        """Add a function that raises in PyTorch."""
        self.put(Failure(self.name, f"{name}!", program))


def tensors_in(value: Any) -> list[Any]:
    """Return the tensors in what a module returned, in order."""
    return [*_walk(value)]


def _walk(value: Any) -> Iterator[Any]:
    if hasattr(value, "detach"):
        yield value
    elif isinstance(value, (dict, tuple, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _walk(part)


def summary(t: Any) -> dict[str, Any] | None:
    """Describe a tensor by two projections, its largest element and its first four.

    An error in any element shows in the projections.
    """
    if t is None:
        return None
    array = describe.numbers(t).astype("f8").reshape(-1)
    known = np.where(np.isfinite(array), array, 7.0)
    places = np.arange(array.size)
    seen = [known @ np.cos(1.3 * places), known @ np.sin(0.7 * places + 1)]
    numbers = np.array([*seen, np.abs(known).max(initial=0), *array[:4]])
    return {"dtype": _kind(t), "shape": list(t.shape), "numbers": numbers}


def _weighted(T: Any, tensors: list[Any], phase: float) -> Any:
    """Return a number that depends on every element of every tensor."""
    total = 0.0
    for t in tensors:
        if t.is_floating_point() and t.requires_grad:
            weights = T.tensor(np.cos(phase + np.arange(t.numel())).astype(_kind(t)))
            total = total + (t * weights.reshape(t.shape)).sum() + 0.1 * (t * t).sum()
    return total


def _kind(t: Any) -> str:
    return str(t.dtype).rpartition(".")[2]


def _same_distribution(expected: np.ndarray, got: np.ndarray) -> bool:
    (mean, spread, largest), drawn = expected, got.tolist()
    if spread < 1e-12:
        return bool(drawn == near(expected))
    return (
        abs(drawn[0] - mean) <= 0.2 * spread
        and math.isclose(drawn[1], spread, rel_tol=0.15)
        and math.isclose(drawn[2], largest, rel_tol=0.35)
    )


# ---- constructors -------------------------------------------------------------------------------


def signature(kind: type) -> list[str]:
    """Return the parameters of a constructor, without those that only PyTorch has a use for."""
    shown = []
    found = inspect.signature(kind.__init__)
    if [*found.parameters] == ["self", "args", "kwargs"] and kind.__doc__:  # PyTorch's LSTM
        written = re.match(r"__init__(\(.*\))\n", kind.__doc__)
        if written is not None:
            found = inspect.signature(eval(f"lambda {written[1][1:-1]}: 0"))
    for p in found.parameters.values():
        if p.name not in OF_PYTORCH:
            default = "" if p.default is p.empty else f"={_default_text(p.default)}"
            shown.append(f"{p.name}{default}")
    return shown


def _default_text(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(float(value))
    return getattr(value, "__name__", repr(value))
