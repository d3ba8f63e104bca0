"""A decorator for kernels whose parts threads share, one line above the kernel.

    @shared("x out", cost=3)
    def relu(x, out): ...

Callers call ``relu(x, out)``. The compiled function divides large work into parts, which
``sharing`` distributes. The division depends on the shapes alone, so that no result depends on the
number of threads. Two functions are generated from the declaration and compiled: ``relu_part``,
which computes some of the rows, and ``relu_shared``, which replaces ``relu`` for callers. It
calls the part by its address: otherwise numba would compile everything again for each function in
between. For the same reason, no other compiled function calls a shared kernel.
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
    """A declared kernel.

    Args:
        whole: the function.
        rows, sums, span: as in ``shared``.
        work, parts: the amount of work and the number of parts, as Python expressions.
    """

    def __init__(self, whole: Any, rows: str, sums: str, span: str, work: str, parts: str):
        self.whole, self._rows, self._sums, self._span = whole, rows, sums, span
        takes = ", ".join(inspect.signature(whole).parameters)
        low, _, high = span.partition(" ")
        places = f"{high} - {low}" if span else f"{rows.partition(' ')[0]}.shape[0]"
        self._words = {"name": whole.__name__, "takes": takes, "places": places}
        self._words |= {"work": work, "parts": parts}

    def part(self) -> FunctionType:
        """Return the function that computes a part: the kernel, with sliced arguments.

        It takes the number of the part, the number of parts, and the kernel's arguments. It does
        not call the kernel, because numba would then compile the kernel's callees once more.
        """
        lines = [f"{name} = {name}[_low:_high]" for name in self._rows.split()]
        lines += [f"{name} = {name}[_part]" for name in self._sums.split()]
        if self._span:
            low, high = self._span.split()
            lines += [f"{low}, {high} = {low} + _low, {low} + _high"]
        made: Any = ast.parse(inspect.getsource(self.whole)).body[0]
        made.name, made.decorator_list = f"{made.name}_part", []
        made.args.args = [ast.arg("_part"), ast.arg("_parts"), *made.args.args]
        # Drops the docstring.
        made.body[:1] = ast.parse(_SPLIT.format(**self._words) + "\n".join(lines)).body
        ast.increment_lineno(made, self.whole.__code__.co_firstlineno - 1)
        found = self._run(ast.fix_missing_locations(ast.Module([made], [])))[made.name]
        return FunctionType(found.__code__, self.whole.__globals__, found.__name__)

    def all_parts(self, part: Any) -> FunctionType:
        """Return the function that shares all parts, which are compiled."""
        return self._written(f"{self.whole.__name__}_shared", _SHARED, part)

    def plain(self) -> FunctionType:
        """Return a function that computes the parts in turn, in plain Python."""
        return self._written(self.whole.__name__, _PLAIN, self.part())

    def _written(self, name: str, text: str, part: Any) -> FunctionType:
        space = self._run(ast.parse(text.format(**self._words)))
        space |= {f"{self.whole.__name__}_part": part}
        space |= {name: getattr(sharing, name) for name in _USED}
        made: FunctionType = space[name]
        return made

    def _run(self, code: ast.Module) -> dict[str, Any]:
        """Execute a definition in the kernel's file, beside which numba caches compiled code."""
        space: dict[str, Any] = {"__name__": self.whole.__module__}
        exec(compile(code, inspect.getfile(self.whole), "exec"), space)
        return space


declared: dict[Any, Shared] = {}  # kernel -> its declaration


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
        rows: names of the arguments of which each part receives a range of rows.
        sums: names of the arguments of which each part receives one element: memory for partial
            sums, with as many elements as there are parts.
        span: names of two arguments, the start and the end of a range that is divided among the
            parts; instead of rows.
        cost: the cost per number, in units of about 0.1 ns.
        numbers: the count of numbers, as a Python expression; by default that of the first of
            ``rows``.
        parts: the number of parts, as a Python expression; by default chosen by the work.
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
