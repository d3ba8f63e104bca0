"""The table: the form in ONNX of each operation, and functions that the families share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tinynet.onnx.graph import Graph, Ref

F = TypeVar("F", bound=Callable[..., Any])

FORMS: dict[str, Callable[..., Any]] = {}
"""The name of an operation, or ``module:name`` of another function on arrays -> its form.

A form gets the graph and the arguments of the kernel, with a `Ref` for each array. It adds nodes,
and returns the results; for an operation that writes to its first argument, its new value.
"""

PUT_BACK: dict[str, Callable[..., Any]] = {}
"""The name of a view -> a function of the graph, the viewed value, the new value of the view, and
the attributes of the view; it returns the new viewed value."""

RANDOM = (
    "random:", "ops.creation.random", "ops.creation.drawing:", "ops.creation.multinomial:",
    "ops.creation.reparameterized:",
    "nn.functional.dropouts:", "nn.functional.activation.", "nn.init:",
)  # fmt: skip
"""How the names of functions begin whose results are not constants."""


def form(*names: str) -> Callable[[F], F]:
    """Declare the form of operations."""

    def declare(function: F) -> F:
        FORMS.update(dict.fromkeys(names, function))
        return function

    return declare


def put_back(*names: str) -> Callable[[F], F]:
    """Declare how a write to views changes the viewed value."""

    def declare(function: F) -> F:
        PUT_BACK.update(dict.fromkeys(names, function))
        return function

    return declare


def same(names: dict[str, str]) -> None:
    """Declare operations of the inputs' dtype that ONNX has under other names."""
    for name, op in names.items():
        FORMS[name] = _computing(op)


_LOGICAL = {"Add": "Or", "Mul": "And", "Max": "Or", "Min": "And"}  # of bools


def _computing(op: str) -> Callable[..., Any]:
    def compute(g: Graph, *inputs: Any) -> Any:
        return g(_LOGICAL.get(op, op) if g.dtype == bool else op, *as_result(g, *inputs))

    return compute


def as_result(g: Graph, *inputs: Any) -> list[Ref]:
    """Return values and numbers in the dtype of the result."""
    return [g.cast(x, g.dtype) for x in inputs]


def together(g: Graph, *inputs: Any) -> list[Ref]:
    """Return values and numbers in their common dtype."""
    kinds = [x.dtype if isinstance(x, Ref) else x for x in inputs]
    common = np.result_type(*kinds)
    return [g.cast(x, common) for x in inputs]


def choose(g: Graph, condition: Any, x: Any, other: Any, kind: Any) -> Any:
    """Return elements of ``x`` where a condition holds, else of another value, in a dtype."""
    chosen, x, other = g.cast(condition, bool), g.cast(x, kind), g.cast(other, kind)
    if chosen.dtype == x.dtype:  # onnxruntime has no Where of bools
        return g("Or", g("And", chosen, x), g("And", g("Not", chosen), other))
    return g("Where", chosen, x, other, dtype=kind)


def fits(x: Ref, *numbers: float) -> bool:
    """Return whether numbers can be attributes of a node, which are in float32."""
    return x.dtype != np.float64 or all(float(np.float32(n)) == n for n in numbers)
