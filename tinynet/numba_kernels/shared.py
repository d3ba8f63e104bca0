"""Kernels whose parts threads share, each of them declared by a line above it.

    @shared("x out", cost=3)
    def relu(x, out): ...

Callers call ``relu(x, out)``. Compiled, and where it is much work, it is cut into parts, which
``sharing`` hands out. How it is cut depends on the shapes alone, so that no result depends on the
number of threads. From the declaration two functions are written, and compiled: ``relu_part``,
which does a part of the rows, and ``relu_shared``, which callers get in the place of ``relu``. It
calls the part by its address: numba would compile all once more for each function on the way. For
that reason no other compiled function calls a shared kernel.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from tinynet.numba_kernels import sharing

F = TypeVar("F", bound=Callable[..., None])

_USED = "parts_of", "hands", "share", "part_of", "address_of"
_SPLIT = """
_places = {places}
_low, _high = _places * _part // _parts, _places * (_part + 1) // _parts
"""
_SHARED = """
def {name}_shared({takes}):
    _places, _work = {places}, {work}
    _kept = ({takes},)
    share(part_of({name}_part, _kept), address_of(_kept), {parts}, _work)
"""
_PLAIN = """
def {name}({takes}):
    _places, _work = {places}, {work}
    _parts = {parts}
    for _part in range(_parts):
        {name}_part(_part, _parts, {takes})
"""


class Shared:
    """A kernel that was declared.

    Args:
        whole: the function.
        rows, sums, span: as ``shared`` takes them.
        work, parts: how much work it is, and how many parts there are, in Python.
    """

    def __init__(self, whole: Any, rows: str, sums: str, span: str, work: str, parts: str):
        self.whole, self._rows, self._sums, self._span = whole, rows, sums, span
        takes = ", ".join(inspect.signature(whole).parameters)
        low, _, high = span.partition(" ")
        places = f"{high} - {low}" if span else f"{rows.partition(' ')[0]}.shape[0]"
        self._words = {"name": whole.__name__, "takes": takes, "places": places}
        self._words |= {"work": work, "parts": parts}

    def part(self) -> FunctionType:
        """Return the function that does a part: the kernel, after lines that cut its arguments.

        It takes the number of the part, how many there are, and what the kernel takes. Not a
        function that calls the kernel: numba would compile all that the kernel calls once more.
        """
        lines = [f"{name} = {name}[_low:_high]" for name in self._rows.split()]
        lines += [f"{name} = {name}[_part]" for name in self._sums.split()]
        if self._span:
            low, high = self._span.split()
            lines += [f"{low}, {high} = {low} + _low, {low} + _high"]
        made: Any = ast.parse(inspect.getsource(self.whole)).body[0]
        made.name, made.decorator_list = f"{made.name}_part", []
        made.args.args = [ast.arg("_part"), ast.arg("_parts"), *made.args.args]
        # Its docstring goes.
        made.body[:1] = ast.parse(_SPLIT.format(**self._words) + "\n".join(lines)).body
        ast.increment_lineno(made, self.whole.__code__.co_firstlineno - 1)
        found = self._run(ast.fix_missing_locations(ast.Module([made], [])))[made.name]
        return FunctionType(found.__code__, self.whole.__globals__, found.__name__)

    def all_parts(self, part: Any) -> FunctionType:
        """Return the function that shares all parts, which are compiled."""
        return self._written(f"{self.whole.__name__}_shared", _SHARED, part)

    def plain(self) -> FunctionType:
        """Return a function that does the parts in turn, in plain Python."""
        return self._written(self.whole.__name__, _PLAIN, self.part())

    def _written(self, name: str, text: str, part: Any) -> FunctionType:
        space = self._run(ast.parse(text.format(**self._words)))
        space |= {f"{self.whole.__name__}_part": part}
        space |= {name: getattr(sharing, name) for name in _USED}
        made: FunctionType = space[name]
        return made

    def _run(self, code: ast.Module) -> dict[str, Any]:
        """Run a definition as one of the kernel's file: numba keeps what it compiles beside it."""
        space: dict[str, Any] = {"__name__": self.whole.__module__}
        exec(compile(code, inspect.getfile(self.whole), "exec"), space)
        return space


declared: dict[Any, Shared] = {}  # by the kernel


def shared(
    rows: str = "",
    *,
    sums: str = "",
    span: str = "",
    cost: int = 1,
    numbers: str = "",
    parts: str = "",
) -> Callable[[F], F]:
    """Return a decorator for kernels whose parts threads share.

    Args:
        rows: names of arguments of which a part is given rows.
        sums: names of those of which a part is given one element, by its number: memory for sums,
            as many elements as there are to be parts.
        span: names of two arguments, the first place and that after the last, of which a part is
            given a part; instead of rows.
        cost: what a number takes, in about 0.1 ns.
        numbers: how many there are, in Python; by default those of the first of ``rows``.
        parts: how many parts there are to be, in Python; by default as many as the work is worth.
    """

    def declare(whole: F) -> F:
        counted = numbers or f"{rows.partition(' ')[0]}.size"
        wanted = parts or "parts_of(_places, _work)"
        if sums:
            wanted = f"{sums.partition(' ')[0]}.shape[0]"
        work = f"({counted}) * {cost}"
        declared[whole] = Shared(whole, rows, sums, span, work, wanted)
        return whole

    return declare
