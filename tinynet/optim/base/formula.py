"""The update of an optimizer as a formula, written once and read by numpy and by native code.

``trace`` runs a formula on terms and records its operations. ``numpy_block`` writes them as numpy
calls that overwrite the parameter and its state, ``native_lines`` as a loop over elements for the
LLVM backend of ``tn.compile``. Both do the same operations in the same order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from tinynet.core.callsite import COMPILED, execute

SCRATCH = 3  # arrays of the parameter's shape that a block may overwrite


class Term:
    """A value of a formula: a parameter, its gradient, its state, a number or a result.

    Attributes:
        name: the name of an input, or the source text of a number.
        operation: the numpy function or the key of ``_SCALAR`` that gives a result.
        operands: its operands.
    """

    __slots__ = ("name", "operands", "operation", "trace")

    def __init__(self, trace: list[Term], name: str = "", operation: str = "", operands: Any = ()):
        self.trace, self.name, self.operation, self.operands = trace, name, operation, operands
        if operation:
            trace.append(self)

    def apply(self, operation: str, *operands: Any) -> Term:
        """Return the result of an operation on terms and Python numbers."""
        terms = [x if isinstance(x, Term) else Term(self.trace, repr(float(x))) for x in operands]
        return Term(self.trace, operation=operation, operands=tuple(terms))

    def __add__(self, other: Any) -> Term:
        return self.apply("add", self, other)

    def __sub__(self, other: Any) -> Term:
        return self.apply("subtract", self, other)

    def __mul__(self, other: Any) -> Term:
        return self.apply("multiply", self, other)

    def __truediv__(self, other: Any) -> Term:
        return self.apply("divide", self, other)

    def __neg__(self) -> Term:
        return self.apply("negative", self)

    def __lt__(self, other: Any) -> Term:
        return self.apply("less", self, other)

    def __gt__(self, other: Any) -> Term:
        return self.apply("greater", self, other)


def sqrt(x: Term) -> Term:
    """Return the square root."""
    return x.apply("sqrt", x)


def absolute(x: Term) -> Term:
    """Return the absolute value."""
    return x.apply("absolute", x)


def sign(x: Term) -> Term:
    """Return -1, 0 or 1; 0 for NaN."""
    signs = x.apply("sign", x)
    return where(x.apply("isnan", signs), 0.0, signs)


def maximum(x: Term, y: Term | float) -> Term:
    """Return the larger value; NaN if one is."""
    return x.apply("maximum", x, y)


def minimum(x: Term, y: Term | float) -> Term:
    """Return the smaller value; NaN if one is."""
    return x.apply("minimum", x, y)


def where(condition: Term, x: Term | float, y: Term | float) -> Term:
    """Return ``x`` where the condition holds, otherwise ``y``."""
    return condition.apply("where", condition, x, y)


class Formula:
    """A traced update.

    Args:
        update: returns the new parameter and state, from a namespace of numbers, the parameter,
            its gradient and its state.
        given: the numbers of a step by name; a bool or None, for what the options do not use,
            stays as it is.
        state: the names of the arrays of state.

    Attributes:
        numbers: the names of its numbers, in the order in which the readers expect them.
        state: the names of the arrays of state.
        steps: the operations, in order.
        results: by the name of the parameter or the state, its new value.
    """

    def __init__(self, update: Callable[..., Any], given: dict[str, Any], state: Sequence[str]):
        self.steps: list[Term] = []
        self.numbers = [name for name, value in given.items() if not isinstance(value, bool | None)]
        numbers = {name: Term(self.steps, name) for name in self.numbers}
        param, grad, *arrays = [Term(self.steps, name) for name in ("param", "grad", *state)]
        found = update(SimpleNamespace(**(given | numbers)), param, grad, *arrays)
        self.state = list(state)
        self.results = dict(zip(("param", *state), found, strict=True))

    @functools.cached_property
    def bind(self) -> Callable[[Sequence[Any]], Callable[..., None]]:
        """Return the function that binds numbers: ``block(param, grad, *scratch, *state)``."""
        work = [f"w{i}" for i in range(SCRATCH)]
        arrays = ", ".join(["param", "grad", *work, *self.state])
        lines = [
            "def bind(numbers):",
            f"    {', '.join(self.numbers)}, = numbers",
            f"    def block({arrays}):",
            *(f"        {line}" for line in _Writer(self, work).lines),
            "    return block",
        ]
        text = "\n".join(lines) + "\n"
        function = execute(f"{COMPILED} update of an optimizer", text, _NUMPY | {"copy": _copy})
        return function["bind"]

    def native_lines(self, prefix: str, index: str) -> list[str]:
        """Return the lines that update one element of arrays of float32.

        Args:
            prefix: of the names of the arrays and numbers, which are those of the formula, and of
                the values of the element.
            index: the name of the element's index.
        """
        arrays = ["param", "grad", *self.state]
        names: dict[Term, str] = {}
        lines = [f"{prefix}this_{name} = {prefix}{name}[{index}]" for name in arrays]

        def text(x: Term) -> str:
            if x in names:
                return names[x]
            if x.name in arrays:
                return f"{prefix}this_{x.name}"
            return f"{prefix}{x.name}" if x.name in self.numbers else f"float32({x.name})"

        for k, x in enumerate(self.steps):
            names[x] = f"{prefix}{k}"
            lines.append(f"{names[x]} = {_SCALAR[x.operation].format(*map(text, x.operands))}")
        return lines + [f"{prefix}{n}[{index}] = {text(x)}" for n, x in self.results.items()]


_LARGER = "({0} if {0} %s {1} or {0} != {0} else {1})"
_SCALAR = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "negative": "-{0}",
    "less": "{0} < {1}",
    "greater": "{0} > {1}",
    "sqrt": "np.sqrt({0})",
    "absolute": "abs({0})",
    "sign": "np.sign({0})",
    "isnan": "{0} != {0}",
    "maximum": _LARGER % ">=",
    "minimum": _LARGER % "<=",
    "where": "({1} if {0} else {2})",
}
_CONDITIONS = {"less", "greater", "isnan"}


_NUMPY = {name: getattr(np, name) for name in _SCALAR}


def _copy(out: Any, values: Any, condition: Any = True) -> None:
    np.copyto(out, values, where=condition)


class _Writer:
    """Writes the operations of a formula as numpy calls with ``out``.

    A result takes the array of the state that it becomes, of an operand that is not used again, or
    a free one, in this order.
    """

    def __init__(self, formula: Formula, work: list[str]):
        self.lines: list[str] = []
        self._free = work[::-1]
        self._uses: dict[Term, int] = {}
        for x in [o for step in formula.steps for o in step.operands] + [*formula.results.values()]:
            self._uses[x] = self._uses.get(x, 0) + 1
        self._becomes = {x: name for name, x in formula.results.items()}
        for step in reversed(formula.steps):
            into = step.operands[2 if step.operation == "where" else 0]
            if step in self._becomes and not into.name:
                self._becomes.setdefault(into, self._becomes[step])
        self._places: dict[Term, str] = {}
        self._held = {name: 0 for name in formula.results}  # uses left of what an array holds
        inputs = {x for x in self._uses if x.name in (*self._held, "grad")}
        for x in inputs:
            self._places[x] = x.name
            if x.name in self._held:
                self._held[x.name] = self._uses[x]
        for step in formula.steps:
            self._write(step)
        for name, x in formula.results.items():
            if self._places[x] != name:
                self.lines.append(f"copy({name}, {self._places[x]})")

    def _write(self, step: Term) -> None:
        operands = [self._places.get(x, x.name) for x in step.operands]
        for x in step.operands:
            self._uses[x] -= 1
            if (place := self._places.get(x)) in self._held:
                self._held[place] -= 1
        ends = [
            p
            for x, p in zip(step.operands, operands, strict=True)
            if not self._uses[x] and p.startswith("w") and x in self._places
        ]
        if step.operation in _CONDITIONS:
            self._places[step] = f"c{len(self.lines)}"
            self.lines.append(f"{self._places[step]} = {step.operation}({', '.join(operands)})")
        else:
            kept = operands[1:2] if step.operation == "where" else []
            out = self._out(step, [p for p in ends if p not in kept], kept)
            self._places[step] = out
            if step.operation != "where":
                named = "out=" if step.operation in ("maximum", "minimum") else ""  # numpy's wish
                self.lines.append(f"{step.operation}({', '.join([*operands, named + out])})")
            else:
                condition, x, y = operands
                self.lines += [f"copy({out}, {y})"] * (out != y)
                self.lines.append(f"copy({out}, {x}, {condition})")
        self._free += [p for p in dict.fromkeys(ends) if p != self._places[step]]

    def _out(self, step: Term, ends: list[str], kept: list[str]) -> str:
        name = self._becomes.get(step)
        if name is not None and not self._held[name] and name not in kept:
            self._held[name] = self._uses[step]
            return name
        return ends[0] if ends else self._free.pop()
