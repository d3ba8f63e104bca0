"""The rows of the table, and their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Run = Callable[..., Any]
Inputs = Callable[[np.random.Generator], list[Array]]


class Case(NamedTuple):
    """One row of the table.

    Attributes:
        name: the computation and its inputs.
        run: called with a library and a tensor for each input; returns a tensor.
        inputs: creates the arrays from a generator; float arrays get gradients.
        terms: lengths of the longest sums, in the result and in gradients, in an order that BLAS
            chooses: it depends on the processor.
    """

    name: str
    run: Run
    inputs: Inputs
    terms: tuple[int, int] = (0, 0)


class Cases(list[Case]):
    """The rows of one part of the table."""

    def add(self, name: str, run: Run, inputs: Inputs, terms: tuple[int, int] = (0, 0)) -> None:
        """Add a case."""
        self.append(Case(name, run, inputs, terms))

    def each(self, name: str, run: Run, kinds: str, *shape: int) -> None:
        """Add a case for each kind of numbers, which are separated by ``|``."""
        for kind in kinds.split("|"):
            self.add(f"{name}, {kind}", run, numbers(kind, *shape))


# ---- numbers ------------------------------------------------------------------------------------

# Scaled: from 1e-7 to 1e7 in one sum; the roots of such numbers, where squares are summed.
NUMBERS: dict[str, Callable[[np.random.Generator, Sequence[int]], Array]] = {
    "uniform": lambda rng, shape: rng.random(shape),
    "around 0": lambda rng, shape: rng.standard_normal(shape),
    "around 100": lambda rng, shape: rng.standard_normal(shape) + 100,
    "scaled": lambda rng, shape: np.exp(4 * rng.standard_normal(shape)),
    "roots of scaled": lambda rng, shape: np.exp(2 * rng.standard_normal(shape)),
    "near 1": lambda rng, shape: np.exp(rng.standard_normal(shape) / 512),
    "around 0, wide": lambda rng, shape: 8 * rng.standard_normal(shape),
    "probabilities": lambda rng, shape: rng.uniform(0.001, 0.999, shape),
    "logarithms": lambda rng, shape: np.log(rng.uniform(0.001, 0.999, shape)),
    "signs": lambda rng, shape: rng.choice([-1.0, 1.0], shape),
}


def numbers(kind: str, *shape: int) -> Inputs:
    """Return a function that creates one array."""
    return lambda rng: [NUMBERS[kind](rng, shape)]


def together(*parts: Inputs) -> Inputs:
    """Return a function that creates the arrays of several functions, in order."""
    return lambda rng: [array for part in parts for array in part(rng)]


def classes(count: int, *shape: int) -> Inputs:
    """Return a function that creates class indices."""
    return lambda rng: [rng.integers(0, count, shape)]


def functional(name: str) -> Run:
    """Return a function of ``nn.functional`` for a case to run."""
    return lambda tn, *given, **options: getattr(tn.nn.functional, name)(*given, **options)
