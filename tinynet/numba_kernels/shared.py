"""Kernels whose parts threads share, each of them declared by a line above it.

    @shared("x out", cost=3)
    def relu(x, out): ...

Callers call ``relu(x, out)``. Compiled, and where it is much work, it is cut into parts, which
``sharing`` hands out. How it is cut depends on the shapes alone, so that no result depends on the
number of threads. From the declaration two functions are written, and compiled: ``relu_part``, which
does a part of the rows, and ``relu_shared``, which callers get in the place of ``relu``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from tinynet.numba_kernels import sharing

F = TypeVar("F", bound=Callable[..., None])

_USED = sharing.parts_of, sharing.share, sharing.part_of, sharing.address_of
_PART = """
def {name}_part(part, parts, {takes}):
    places = {places}
    _low, _high = places * part // parts, places * (part + 1) // parts
    whole({gives})
"""
_PLAIN = """
def {name}({takes}):
    places = {places}
    parts = {parts}
    for part in range(parts):
        {name}_part(part, parts, {takes})
"""
_SHARED = """
def {name}_shared({takes}):
    places = {places}
    parts = {parts}
    if parts > 1:
        kept = ({takes},)
        share(part_of({name}_part, kept), address_of(kept), parts)
    else:
        {name}_part(0, 1, {takes})
"""


class Shared:
    """What is written for a kernel.

    Attributes:
        whole: the kernel, as it was declared.
        names: of the functions for a part, and for all parts.
    """

    def __init__(self, whole: FunctionType, rows: str, sums: str, span: str, parts: str):
        self.whole, self.names = whole, (f"{whole.__name__}_part", f"{whole.__name__}_shared")
        self._rows, self._sums, self._span, self._parts = rows.split(), sums.split(), span, parts

    def _source(self) -> str:
        name, takes = self.whole.__name__, inspect.signature(self.whole).parameters
        gives = {argument: argument for argument in takes}
        gives |= {argument: f"{argument}[_low:_high]" for argument in self._rows}
        gives |= {argument: f"{argument}[part]" for argument in self._sums}
        if self._span:
            low, high = self._span.split()
            places, gives[low], gives[high] = f"{high} - {low}", f"{low} + _low", f"{low} + _high"
        else:
            places = f"{self._rows[0]}.shape[0]"
        words = {
            "name": name,
            "takes": ", ".join(takes),
            "gives": ", ".join(gives.values()),
            "places": places,
            "parts": self._parts,
        }
        return "".join(text.format(**words) for text in (_PART, _PLAIN, _SHARED))

    def functions(self) -> dict[str, Any]:
        """Return what is written by name, with all that it uses: ``whole``, and ``sharing``'s.

        The function of the kernel's own name does the parts in turn, in plain Python.
        """
        space = {"__name__": self.whole.__module__, "whole": self.whole}
        space |= {f.__name__: f for f in _USED}
        # The file is that of the kernel: numba keeps what it compiles beside it.
        exec(compile(self._source(), inspect.getfile(self.whole), "exec"), space)
        return space


declared: dict[FunctionType, Shared] = {}  # by the kernel


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
        parts: how many parts there are to be, in Python, instead of ``cost`` and ``numbers``.
    """

    def declare(whole: F) -> F:
        wanted = parts
        if sums:
            wanted = f"{sums.split()[0]}.shape[0]"
        elif not parts:
            counted = numbers or f"{rows.split()[0]}.size"
            wanted = f"parts_of(places, ({counted}) * {cost})"
        declared[whole] = Shared(whole, rows, sums, span, wanted)  # type: ignore[index, arg-type]
        return whole

    return declare
