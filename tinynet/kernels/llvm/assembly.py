"""LLVM modules: a function and all that it calls, each for the forms of its arguments."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tinynet.kernels.llvm import memory
from tinynet.kernels.llvm.elementary import OVERLOADS
from tinynet.kernels.llvm.expressions import Expressions
from tinynet.kernels.llvm.functions import NO_MEMORY, Translation
from tinynet.kernels.llvm.scope import Widened
from tinynet.kernels.llvm.values import LLVM, ArrayValue, Number, Part, Static, type_of_results
from tinynet.kernels.llvm.writer import literal

# LLVM may reorder sums, fuse multiplications with additions, and ignore the sign of zero. NaN and
# infinity are preserved.
FLAGS = "reassoc nsz arcp contract afn"


class External(NamedTuple):
    """A C function: its name for LLVM, and the kinds of numbers that it returns and takes."""

    name: str
    result: str | None
    takes: tuple[str, ...]


class Module:
    """An LLVM module."""

    def __init__(self) -> None:
        self._declared: dict[str, str] = {}
        self._made: dict[Any, tuple[str, tuple[str, ...]]] = {}
        self._texts: list[str] = []
        self.globals: set[str] = set()  # objects of Python
        self._parts = 0  # functions that are parts of others

    def flags(self, space: Mapping[str, Any]) -> str:
        """Return what LLVM may assume in a function: ``FAST`` of its globals, or the usual."""
        return " ".join(sorted(space["FAST"])) if "FAST" in space else FLAGS

    def declare(self, name: str, result: str, takes: list[str]) -> None:
        """Declare a function of LLVM or C."""
        self._declared[name] = f"declare {result} @{name}({', '.join(takes)})"

    def unique(self, name: str) -> str:
        """Return a name for a part of a function."""
        self._parts += 1
        return f"{name}.{self._parts}.part"

    def note(self, name: str, value: str) -> str:
        """Return the text of a note to LLVM about a loop, for its last instruction."""
        self._parts += 1
        loop, what = f"!{2 * self._parts}", f"!{2 * self._parts + 1}"
        self.put(f'{loop} = distinct !{{{loop}, {what}}}\n{what} = !{{!"{name}", {value}}}')
        return f", !llvm.loop {loop}"

    def put(self, text: str) -> None:
        """Add a definition in LLVM's language."""
        self._texts.append(text)

    def text(self) -> str:
        """Return the module in LLVM's language."""
        objects = [f"@{name} = external global i8" for name in sorted(self.globals)]
        objects.append(f"@{NO_MEMORY} = internal global i8 0")
        return "\n".join([*objects, *self._declared.values(), *self._texts])

    def call(self, caller: Expressions, function: Any, args: list[Any]) -> Any:
        """Call a function; the result is a number, a tuple of numbers, or None."""
        w = caller.writer
        if isinstance(function, External):
            return self._external(caller, function, args)
        if function in SPECIAL:
            return SPECIAL[function](caller, *args)
        if function in OVERLOADS:
            return caller.called(OVERLOADS[function][args[0].kind], args)
        forms = tuple(arg.form for arg in args)
        name, kinds = self.function(function, forms)
        result = type_of_results(kinds)
        made = w.call(name, result, [part for arg in args for part in arg.parts()])
        if len(kinds) < 2:
            return Number(kinds[0], made) if kinds else None
        parts = (w.put(f"extractvalue {result} {made}, {k}") for k in range(len(kinds)))
        return tuple(map(Number, kinds, parts))

    def _external(self, caller: Expressions, function: External, args: list[Any]) -> Any:
        result = "void" if function.result is None else LLVM[function.result]
        self.declare(function.name, result, [LLVM[kind] for kind in function.takes])
        cast = caller.writer.cast
        takes = [(LLVM[k], cast(arg, k).text) for arg, k in zip(args, function.takes, strict=True)]
        made = caller.writer.call(function.name, result, takes)
        return None if function.result is None else Number(function.result, made)

    def function(self, function: Any, forms: tuple[Any, ...]) -> tuple[str, tuple[str, ...]]:
        """Return the name of a function for forms of arguments, and the kinds of its results."""
        function = getattr(function, "plain", function)
        key = function, forms
        if key not in self._made:
            name = f"{function.__name__}.{len(self._made)}"
            self._made[key] = name, ()
            self._made[key] = name, self.add(name, tree_of(function), function.__globals__, forms)
        return self._made[key]

    def add(
        self, name: str, tree: ast.FunctionDef, space: Mapping[str, Any], forms: tuple[Any, ...]
    ) -> tuple[str, ...]:
        """Add a function; return the kinds of its results."""
        widened: dict[str, Any] = {}
        while True:
            translation = Translation(self, tree, space, widened)
            try:
                self._texts.append(translation.text(name, forms))
            except Widened:
                continue
            return translation.result or ()


@functools.cache
def tree_of(function: Any) -> ast.FunctionDef:
    """Return the syntax tree of a function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


# ---- functions that compiled code has -----------------------------------------------------------


_FLOAT64 = Static(np.float64)


def _len(e: Expressions, x: ArrayValue) -> Number:
    return Number("int64", x.shape[0])


def _largest(e: Expressions, a: Number, b: Number) -> Number:
    return e.writer.select(e.writer.compare(">", b, a), b, a)


def _least(e: Expressions, a: Number, b: Number) -> Number:
    return e.writer.select(e.writer.compare("<", b, a), b, a)


def _slice(e: Expressions, start: Number, stop: Number) -> Part:
    return Part(start, stop)


def _empty(e: Expressions, shape: Any, dtype: Static = _FLOAT64) -> ArrayValue:
    return e.new(shape if type(shape) is tuple else (shape,), np.dtype(dtype.object).name)


def _zeros(e: Expressions, shape: Any, dtype: Static = _FLOAT64) -> ArrayValue:
    x = _empty(e, shape, dtype)
    e.fill(x, literal(0, x.kind))
    return x


def _view(e: Expressions, x: ArrayValue, shape: tuple[Number, ...]) -> ArrayValue:
    return e.reshaped(x, shape)


def _line(e: Expressions, address: Number, size: Number) -> ArrayValue:
    data = e.writer.put(f"inttoptr i64 {address.text} to ptr")
    return ArrayValue("float32", data, (size.text,))


SPECIAL: dict[Any, Callable[..., Any]] = {
    builtins.len: _len, builtins.max: _largest, builtins.min: _least, builtins.slice: _slice,
    np.empty: _empty, np.zeros: _zeros, memory.empty: _empty, memory.view: _view,
    memory.line: _line,
}  # fmt: skip
