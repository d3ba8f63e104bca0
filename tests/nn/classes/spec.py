"""Rows: a module of either library, its inputs, and what is measured of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Input:
    """An array of numbers that follow from the row's name and the place of the input."""

    kind: str
    shape: tuple[int, ...]
    values: str = "normal"
    numbers: tuple[float, ...] = ()
    grad: bool = True
    high: int = 2

    def array(self, seed: str) -> np.ndarray:
        random = np.random.RandomState(zlib.crc32(seed.encode()))
        if self.numbers:
            made = np.resize(np.asarray(self.numbers), self.shape)
        elif self.kind != "float":
            made = random.randint(0, self.high, self.shape)
        elif self.values == "normal":
            made = random.standard_normal(self.shape)
        else:
            made = random.uniform(
                *{"positive": (0.3, 2), "unit": (0.05, 0.95)}[self.values], self.shape
            )
        return np.asarray(made)

    @property
    def const(self) -> Input:
        return replace(self, grad=False)

    @property
    def positive(self) -> Input:
        return replace(self, values="positive")

    @property
    def unit(self) -> Input:
        return replace(self, values="unit")

    def of(self, *numbers: float) -> Input:
        """These numbers, repeated to the shape."""
        return replace(self, numbers=numbers)


def f(*shape: int) -> Input:
    """Floats that require grad."""
    return Input("float", shape)


def i(high: int, *shape: int) -> Input:
    """Integers from 0 to high - 1."""
    return Input("int", shape, grad=False, high=high)


def b(*shape: int) -> Input:
    """Booleans."""
    return Input("bool", shape, grad=False)


def plain_call(module: Any, *inputs: Any) -> Any:
    return module(*inputs)


@dataclass(frozen=True)
class Layer:
    """A row: how a module is built and called, and what of it is compared."""

    name: str
    build: Callable[[Any], Any]
    inputs: tuple[Any, ...]
    call: Callable[..., Any] = plain_call
    train: bool = True
    second: bool = True
    steps: bool = True
    initial: bool = True


@dataclass(frozen=True)
class Failure:
    """A row whose program raises."""

    name: str
    program: Callable[[Any], Any]


@dataclass
class Table:
    """The rows of one file."""

    name: str
    rows: dict[str, Layer | Failure] = field(default_factory=dict)

    def layer(self, name: str, build: Callable[[Any], Any], *inputs: Any, **options: Any) -> None:
        self._add(Layer(name, build, inputs, **options))

    def fails(self, name: str, program: Callable[[Any], Any]) -> None:
        self._add(Failure(f"{name}!", program))

    def _add(self, row: Layer | Failure) -> None:
        assert row.name not in self.rows, f"{row.name} is there twice"
        self.rows[row.name] = row


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in what a module returned, in order."""
    if hasattr(value, "detach"):
        yield value
    elif isinstance(value, dict):
        for key in value:
            yield from tensors_in(value[key])
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_in(one)
