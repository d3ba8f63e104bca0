"""The numpy backend: a program as the source of one straight-line Python function.

It calls the functions that eager execution calls, in the same order and on the same values, so its
results are the same to the bit. What it saves is everything between the calls. Where an elementwise
operation is the last user of an array of its own shape, it writes over that array.
"""

from __future__ import annotations

import itertools
import linecache
import math
import weakref
from typing import Any

import numpy as np

from tinynet.capture.guard.holdings import ABSENT, is_a, is_simple_kind, of_class
from tinynet.capture.program import Call, Handle, Value, leaves
from tinynet.core.callsite import COMPILED, OUTSIDE, execute

LARGE = 1 << 16  # bytes: of an array that is worth a native function of its own
FREED = 1 << 11  # bytes: larger arrays are freed at once, smaller ones when a name is reused
_number = itertools.count().__next__


class Source:
    """Writes the function of a list of calls.

    Args:
        calls: the calls, in order.
        kept: values that are needed after the last call.
    """

    def __init__(self, calls: list[Call], kept: list[Value]):
        self.calls = calls
        self.namespace: dict[str, Any] = {"asarray": np.asanyarray, "unexpected": unexpected}
        self.lines: list[str] = []
        self.handled = 0
        self.overwritten: list[int] = []  # the calls that write over an argument
        self._constants: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._handles: set[int] = set()
        self._free: list[str] = []
        self._registers = itertools.count()
        self._last: dict[int, int] = {}
        self._ends: dict[int, list[Value]] = {}
        self._find_last_uses(kept)

    def _find_last_uses(self, kept: list[Value]) -> None:
        end = len(self.calls)
        defined: dict[int, Value] = {}
        for at, call in enumerate(self.calls):
            for value in itertools.chain(call.inputs(), call.outputs()):
                self._last[value.number] = at
                defined[value.number] = value
            for leaf in leaves((call.args, call.kwargs)):
                if is_a(leaf, Handle) and leaf.value is not None:
                    self._last[leaf.value.number] = end
        for value in kept:
            self._last[value.number] = end
            defined[value.number] = value
        # When the last value in a memory dies, and whether anything outside may refer to it.
        self._dies: dict[int, int] = {}
        self._shared: set[int] = set()
        for number, value in defined.items():
            self._dies[value.memory] = max(self._dies.get(value.memory, -1), self._last[number])
        for call in self.calls:
            # Objects that are not arrays, such as rows, may refer to arrays that they came from.
            if call.kind in ("perform", "read") or any(v.dtype is None for v in call.outputs()):
                self._shared.update(v.memory for v in (*call.inputs(), *call.outputs()))
        for number, at in self._last.items():
            if at < end:
                self._ends.setdefault(at, []).append(defined[number])

    # ---- text -------------------------------------------------------------------------------

    def name(self, value: Value) -> str:
        """Return the local name of a value."""
        return self._names[value.number]

    def define(self, value: Value) -> str:
        """Return a local name for a new value."""
        name = self._free.pop() if self._free else f"r{next(self._registers)}"
        self._names[value.number] = name
        return name

    def outside(self, value: Value) -> None:
        """Note that the memory of a value belongs to others."""
        self._shared.add(value.memory)

    def constant(self, thing: Any) -> str:
        """Return text for a constant."""
        kind = type(thing)
        if (
            kind is int
            or kind is bool
            or kind is str
            or thing is None
            or (kind is float and math.isfinite(thing))
        ):
            return repr(thing)
        return self.keep(thing)

    def keep(self, thing: Any) -> str:
        """Return a name for an object."""
        name = self._constants.get(id(thing))
        if name is None:
            name = self._constants[id(thing)] = f"k{len(self._constants)}"
            self.namespace[name] = thing
            if of_class(type(thing), "put_into") is not ABSENT:  # a step, whose function may change
                thing.put_into(self.namespace, name)
        return name

    def text(self, structure: Any) -> str:
        """Return text for arguments or results."""
        kind = type(structure)
        if is_a(structure, Value):
            return self.name(structure)
        if is_a(structure, Handle):
            return f"A{structure.place}" if structure.place >= 0 else self._handle(structure)
        if not any(is_a(leaf, (Value, Handle)) for leaf in leaves(structure)):
            simple = kind in (tuple, list) and all(is_simple_kind(type(x)) for x in structure)
            if not simple:
                return self.constant(structure)
        if kind is tuple:
            return f"({''.join(self.text(x) + ', ' for x in structure)})"
        if kind is list:
            return f"[{', '.join(map(self.text, structure))}]"
        if kind is dict:
            items = (f"{self.constant(k)}: {self.text(v)}" for k, v in structure.items())
            return f"{{{', '.join(items)}}}"
        if is_a(structure, tuple):
            fields = of_class(kind, "_fields") is not ABSENT
            parts = ", ".join(map(self.text, structure))
            return f"{self.constant(kind)}({parts if fields else f'({parts},)'})"
        return self.constant(structure)

    def _handle(self, handle: Handle) -> str:
        name = f"t{handle.number}"
        if handle.number not in self._handles:
            self._handles.add(handle.number)
            self.lines.append(f"{name} = wrap({self.text(handle.value)})")
            if handle.requires_grad:
                self.lines.append(f"{name}._requires_grad = True")
        return name

    # ---- calls ------------------------------------------------------------------------------

    def write(self, handled: int = 0) -> None:
        """Write all calls.

        Args:
            handled: the number of calls until the last one whose error the user's code handles;
                the attribute of this name becomes the number of lines until its end.
        """
        for at, call in enumerate(self.calls):
            if at == handled:
                self.handled = len(self.lines)
            self._write(at, call)
            dead = [v for v in self._ends.get(at, ()) if v.number in self._names]
            large = [self.name(v) for v in dead if v.nbytes >= FREED]
            if large:
                self.lines.append(f"del {', '.join(large)}")
            self._free += [self._names.pop(v.number) for v in dead]
        if handled == len(self.calls):
            self.handled = len(self.lines)

    def _write(self, at: int, call: Call) -> None:
        function, args = self.constant(call.function), [self.text(a) for a in call.args]
        args += [f"{k}={self.text(v)}" for k, v in call.kwargs.items()]
        over = self._overwritten(at, call)
        if over is not None:
            args.append(over)
            self.overwritten.append(at)
        text = f"{function}({', '.join(args)})"
        results = [v for v in leaves(call.result) if is_a(v, Value)]
        if not results:
            self.lines.append(text)
        elif isinstance(call.result, Value):
            if call.tensor:
                text = f"{text}._array"
            elif call.result.shape == ():  # numpy returns scalars from arithmetic
                text = f"asarray({text})"
            self.lines.append(f"{self.define(call.result)} = {text}")
        else:
            self._missing = 0
            self.lines.append(f"{self._pattern(call.result)} = {text}")
            for i in range(self._missing):
                self.lines.append(f"if n{i} is not None: raise unexpected({call.title!r})")
            for v in results:
                name = self.name(v)
                if call.tensor:
                    self.lines.append(f"{name} = {name}._array")
                elif v.shape == ():
                    self.lines.append(f"{name} = asarray({name})")

    def _pattern(self, structure: Any) -> str:
        if isinstance(structure, Value):
            return self.define(structure)
        if isinstance(structure, (tuple, list)):
            return f"({''.join(self._pattern(part) + ', ' for part in structure)})"
        self._missing += 1
        return f"n{self._missing - 1}"

    def _overwritten(self, at: int, call: Call) -> str | None:
        """Return an argument of a ufunc that its result may replace in memory."""
        if not isinstance(call.function, np.ufunc) or call.kind != "compute" or call.kwargs:
            return None
        result = call.result
        if call.function.nout != 1 or call.function.signature or len(call.args) > 2:
            return None
        if not isinstance(result, Value) or not result.whole or not result.shape:
            return None
        for arg in call.args:
            if (
                isinstance(arg, Value)
                and arg.whole
                and (arg.shape, arg.dtype) == (result.shape, result.dtype)
                and self._dies[arg.memory] == at
                and arg.memory not in self._shared
                and all(not isinstance(x, Value) or x.whole for x in call.args)
            ):
                return self.name(arg)
        return None


def unexpected(title: str) -> RuntimeError:
    """Return the error for a result that was None at the capture, and is not now."""
    return RuntimeError(f"tn.compile: {title} returned another kind of result: please report this")


def compiled(title: str, name: str, lines: list[str], namespace: dict[str, Any]) -> Any:
    """Execute the source of a function and return it; tracebacks show the source."""
    source = "\n".join(lines) + "\n"
    filename = f"{COMPILED} compiled {title} {_number()}"
    function = execute(filename, source, namespace)[name]
    function.source = source
    weakref.finalize(function, _forget, filename).atexit = False
    return function


def _forget(filename: str) -> None:
    """Remove the source of a function that no longer exists."""
    linecache.cache.pop(filename, None)
    OUTSIDE.pop(filename, None)
