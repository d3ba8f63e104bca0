"""What a function of Python has while it is translated: names, blocks, and arrays of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tinynet.kernels.llvm.values import BYTES, ArrayValue, Number, united
from tinynet.kernels.llvm.writer import Variable, Writer, literal

ALIGNMENT = 64  # bytes: a line of the cache


class Widened(Exception):  # noqa: N818 - a message between two attempts, no error
    """A variable needs another form: the function is translated again."""


class Scope:
    """The names and the memory of a function.

    Args:
        module: the LLVM module that the function becomes part of.
        space: its global names.
        widened: the forms of variables that an earlier attempt has found.
    """

    def __init__(self, module: Any, space: Any, widened: dict[str, Any]):
        self.module, self.space, self.widened = module, space, widened
        self.writer = Writer(module.flags(space))
        self.names: dict[str, Any] = {}  # local names
        self.loops: list[tuple[str, str]] = []  # where ``continue`` and ``break`` go
        self.allocated: list[str] = []  # places of addresses that are freed at the end
        self._owned: dict[str, set[str]] = {}  # by place: the names for its array
        self._fresh: list[str] = []  # places whose arrays have no name yet
        self._pinned: set[str] = set()  # names of arrays whose addresses are in use

    # ---- variables --------------------------------------------------------------------------

    def assign(self, name: str, value: Any) -> None:
        """Set a variable, or what a name stands for at compile time."""
        if not isinstance(value, Number | ArrayValue):
            self.names[name] = value
            return
        variable = self.names.get(name)
        if not isinstance(variable, Variable):
            form = self.widened.get(name, value.form)
            variable = self.names[name] = Variable(self.writer, form)
        self.fit(name, variable.form, value.form)
        variable.set(value)

    def fit(self, name: str, form: Any, given: Any) -> None:
        """Require that a variable takes a value.

        Raises:
            Widened: it has to be wider.
            TypeError: no variable takes both.
        """
        whole = united(form, given)
        if whole != form:
            self.widened[name] = whole
            raise Widened(name)

    # ---- loops ------------------------------------------------------------------------------

    def loop(
        self,
        start: Number,
        stop: Number,
        step: Number,
        body: Callable[[Number], None],
        note: str = "",
    ) -> None:
        """Write a loop over a range of whole numbers, upwards; ``note`` is for LLVM."""
        w, kind = self.writer, stop.kind
        counter = Variable(w, kind)
        counter.set(start)
        head, inside, after, end = (w.name(part) for part in ("head", "inside", "after", "end"))
        w.begin(head)
        i = counter.number()
        w.branch(w.compare("<", i, stop), inside, end)
        w.begin(inside)
        self.loops.append((after, end))
        body(i)
        self.loops.pop()
        w.begin(after)
        counter.set(w.arithmetic("+", i, w.cast(step, kind)))
        w.line(f"br label %{head}{note}")
        w.begin(end)

    def fill(self, x: ArrayValue, value: Number) -> None:
        """Write a number to each element of a contiguous array."""
        if x.steps is not None:
            raise TypeError("only a contiguous array is filled")
        w, same = self.writer, self.writer.cast(value, x.kind)
        size = Number("int64", w.size(x))
        zero, one = literal(0, "int64"), literal(1, "int64")
        self.loop(zero, size, one, lambda i: w.write(x, i.text, same))

    # ---- memory -----------------------------------------------------------------------------

    def new(self, shape: tuple[Number, ...], kind: str) -> ArrayValue:
        """Return a new array; the function frees it."""
        if self.loops:
            raise TypeError("arrays are made outside of loops")
        w = self.writer
        sizes = tuple(w.cast(n, "int64").text for n in shape)
        size = str(BYTES[kind])
        for n in sizes:
            size = w.times(size, n)
        self.module.declare("PyMem_RawMalloc", "noalias ptr", ["i64"])
        self.module.declare("PyMem_RawFree", "void", ["ptr"])
        self.module.declare("llvm.ptrmask.p0.i64", "ptr", ["ptr", "i64"])
        place, wide = w.slot("ptr"), w.plus(size, str(ALIGNMENT))
        raw = w.call("PyMem_RawMalloc", "ptr", [("i64", wide)])
        w.store("ptr", raw, place)
        self.allocated.append(place)
        self._fresh.append(place)
        there = w.name("there")
        w.branch(Number("bool", w.put(f"icmp ne ptr {raw}, null")), there, "failed")
        w.begin(there)
        after = w.put(f"getelementptr i8, ptr {raw}, i64 {ALIGNMENT}")
        data = w.call("llvm.ptrmask.p0.i64", "ptr", [("ptr", after), ("i64", str(-ALIGNMENT))])
        return ArrayValue(kind, data, sizes)

    def address_of(self, x: ArrayValue, node: ast.AST) -> Number:
        """Return the address of an array as a number; ``node`` names the array."""
        self._pinned |= names_in(node)
        return Number("int64", self.writer.put(f"ptrtoint ptr {x.data} to i64"))

    def share(self, given: set[str], names: set[str]) -> None:
        """Note that names may now stand for the arrays that others stand for."""
        for own in self._owned.values():
            if own & given:
                own |= names
        self._owned |= {place: {*names} for place in self._fresh}
        self._fresh.clear()

    def free_unused(self, rest: list[ast.stmt]) -> None:
        """Free the arrays that the rest of the function does not use."""
        if self.writer.has_ended():
            return
        later = names_in(*rest) | self._pinned
        for place in [place for place, names in self._owned.items() if not names & later]:
            self._free(place)
            self.writer.store("ptr", "null", place)
            del self._owned[place]

    def free_all(self) -> None:
        """Free all arrays of the function."""
        for place in self.allocated:
            self._free(place)

    def _free(self, place: str) -> None:
        self.writer.call("PyMem_RawFree", "void", [("ptr", self.writer.load("ptr", place))])


def unknown(node: ast.AST) -> TypeError:
    """Return the error for what a compiled function may not contain."""
    return TypeError(f"native code has no {ast.unparse(node)}")


def names_in(*nodes: ast.AST) -> set[str]:
    """Return the names in syntax trees."""
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}
