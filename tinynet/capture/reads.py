"""What a captured function reads outside of its arguments: each value becomes a guard.

Of names that the code mentions, the values at the capture count: global and outer variables,
attributes of objects and classes, what containers hold, defaults of functions. A name may be
mentioned and not read; then a guard fails without need, and the function is captured again.
"""

from __future__ import annotations

import array
import functools
import gc
import os
import random
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet.capture.program import SIMPLE, CaptureError
from tinynet.core.tensors.tensor import Tensor
from tinynet.random import Generator

ABSENT = object()
MAKES = ("__init__", "__new__", "__post_init__")  # they get a new object first
DEPTH = 30  # of containers and objects inside each other
SIZE = 10_000  # of an array whose numbers become a guard
_CONTAINERS = (list, dict, set, tuple)
_BUFFERS = (deque, bytearray, array.array, np.ndarray)
_PASSING = (Iterator, random.Random, np.random.Generator, np.random.RandomState)
_LEAVES: tuple[Any, ...] = (*SIMPLE, np.generic, np.dtype, Tensor, Generator)


class Reads:
    """The values that a function reads.

    Attributes:
        dictionaries: by id of the owner, namespaces (attributes of modules, objects and classes,
            global variables), and the values of the names that the code mentions.
        cells: outer variables and their values.
        containers: lists, dictionaries, sets and small arrays, and what they hold.
        passed: lists and dictionaries that are arguments, and what they hold.
        attributes: other attributes of objects, and their values.
        passing: an iterator or random generator, whose state a program would not change.
    """

    def __init__(self, function: Callable[..., Any]):
        self.dictionaries: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.cells: dict[int, tuple[Any, Any]] = {}
        self.containers: dict[int, tuple[Any, list[Any]]] = {}
        self.passed: dict[int, tuple[Any, list[Any]]] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.passing: Any = None
        self._held: list[Any] = []
        self._visited: set[Any] = set()
        self._codes: set[Any] = set()
        self._function = function

    def values(self) -> Iterator[Any]:
        """Yield all values."""
        for _, names in self.dictionaries.values():
            yield from names.values()
        yield from (value for _, value in self.cells.values())
        for _, items in self.containers.values():
            yield from items

    def changed(self) -> Iterator[tuple[str, str]]:
        """Yield what the code changed, in words, and the word for it."""
        for container, items in self.passed.values():
            if not unchanged(container, items):
                yield f"{_named(container)} that is passed to it", "container"
        for container, items in self.containers.values():
            if not unchanged(container, items):
                yield f"{_named(container)} from outside", "container"
        for held, names in self.dictionaries.values():
            for name, value in names.items():
                if held.get(name, ABSENT) is not value:
                    yield f"{name!r} of an object from outside", "object"

    def finish(self) -> None:
        """Let go of what is not in a guard."""
        self._held, self._visited, self._codes = [], set(), set()

    def of_arguments(self, structure: Any) -> None:
        """Note what the lists and dictionaries hold that are passed to the function."""
        if isinstance(structure, list | dict):
            self.passed[id(structure)] = structure, contents(structure)
        if isinstance(structure, list | tuple | dict):
            parts = structure.values() if isinstance(structure, dict) else structure
            for part in parts:
                self.of_arguments(part)

    def require_new(self, result: Any) -> None:
        """Raise CaptureError if a result has a container in it that was there before."""
        if not isinstance(result, list | tuple | dict):
            return
        if id(result) in self.passed or id(result) in self.containers:
            reason = f"the function returns {_named(result)} from outside"
            raise CaptureError(reason, "return a copy of it")
        for part in result.values() if isinstance(result, dict) else result:
            self.require_new(part)

    def of_training(self, module: Any) -> None:
        """Note the mode of a module that is set."""
        self._names(module.__dict__, id(module.__dict__), ["training"], frozenset(), 0)

    def of_environment(self) -> None:
        """Note the variables of the environment."""
        self._value(os.environ.__dict__["_data"], frozenset(), 0)

    def of_module(self, module: Any) -> None:
        """Note the attributes of a module that runs, and that it has no hooks."""
        self._attribute(module, "_hooks")
        held = module.__dict__
        chosen = [name for name in held if name != "_non_persistent_buffers_set"]
        self._names(held, id(held), chosen, frozenset(), 0)

    def of_frame(self, frame: Any, code: Any) -> None:
        """Note what the code of a frame that begins may read."""
        names = _mentioned(code)
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        for name in code.co_varnames[code.co_name in MAKES : count]:
            value = frame.f_locals.get(name, ABSENT)
            # Containers and iterators that are passed inside are mostly made there.
            if id(value) in self.passed:
                for item in contents(value)[:1000]:
                    self._value(item, names, 1)
            elif not isinstance(value, (*_CONTAINERS, *_BUFFERS, Iterator)):
                self._value(value, names, 0)
        if code in self._codes:
            return
        self._codes.add(code)
        held = frame.f_globals
        self._names(held, id(held), [n for n in names if n in held], names, 0)
        functions = self._functions_of(code)
        for function in functions:
            self._of_function(function)
        if code.co_freevars:
            for function in functions:
                cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
                for name, cell in cells:
                    if name != "__class__":
                        self._cell(cell, names)

    def _functions_of(self, code: Any) -> list[Any]:
        inner = getattr(self._function, "__func__", self._function)
        if getattr(inner, "__code__", None) is code:
            return [inner]
        if not code.co_freevars:
            return []
        return [f for f in gc.get_referrers(code) if isinstance(f, types.FunctionType)]

    def _of_function(self, function: Any) -> None:
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self._attribute(function, name)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._value(value, _mentioned(function.__code__), 0)

    def _attribute(self, owner: Any, name: str) -> None:
        self.attributes.setdefault((id(owner), name), (owner, name, getattr(owner, name)))

    def _cell(self, cell: Any, names: frozenset[str]) -> None:
        try:
            value = cell.cell_contents
        except ValueError:
            return
        self.cells.setdefault(id(cell), (cell, value))
        self._value(value, names, 0)

    def _names(
        self, held: Any, key: int, chosen: list[str], names: frozenset[str], depth: int
    ) -> None:
        """Note the values of some names of a namespace."""
        _, known = self.dictionaries.setdefault(key, (held, {}))
        for name in chosen:
            value = held.get(name, ABSENT)
            if name not in known and not is_fixed(value):
                known[name] = value
            self._value(value, names, depth + 1)

    def _value(self, value: Any, names: frozenset[str], depth: int) -> None:
        """Note what code that mentions ``names`` may read in a value."""
        if type(value) in SIMPLE or isinstance(value, _LEAVES) or depth > DEPTH:
            return
        if (id(value), names) in self._visited:
            return
        self._visited.add((id(value), names))
        self._held.append(value)
        if isinstance(value, _PASSING):
            self.passing = self.passing or value
        elif isinstance(value, weakref.ref):
            self._value(value(), names, depth + 1)
        elif isinstance(value, _BUFFERS) and not isinstance(value, deque):
            if np.size(value) <= SIZE:
                self.containers.setdefault(id(value), (value, contents(value)))
        elif isinstance(value, list | dict | set | tuple | deque):
            if hasattr(value, "_module"):  # a table of a module's members
                return
            items = contents(value)
            if not isinstance(value, tuple):
                self.containers.setdefault(id(value), (value, items))
            for item in items[:1000]:
                self._value(item, names, depth + 1)
        elif isinstance(value, types.FunctionType):
            if not _is_library(value):
                self._of_function(value)
        elif isinstance(value, types.ModuleType):
            if not _is_library(value):
                held = value.__dict__
                self._names(held, id(held), [n for n in names if n in held], names, depth)
        elif isinstance(value, type):
            self._class(value, names, depth, ())
        else:
            own = getattr(value, "__dict__", None)
            if type(own) is dict:
                chosen = [name for name in names if name in own]
                self._names(own, id(own), chosen, names, depth)
                self._class(type(value), names, depth, own)
            self._slots(value, names, depth)

    def _slots(self, value: Any, names: frozenset[str], depth: int) -> None:
        """Note attributes of an object that lie in the slots of its class."""
        for base in type(value).__mro__:
            if "__slots__" not in base.__dict__ or _is_library(base):
                continue
            for name in names:
                slot = base.__dict__.get(name)
                if isinstance(slot, types.MemberDescriptorType) and hasattr(value, name):
                    self._attribute(value, name)
                    self._value(getattr(value, name), names, depth + 1)

    def _class(self, kind: type, names: frozenset[str], depth: int, own: Any) -> None:
        """Note attributes of a class and its bases that an object does not have itself."""
        for base in kind.__mro__:
            if _is_library(base):
                continue
            held = base.__dict__
            chosen = [name for name in names if name in held and name not in own]
            self._names(held, id(base), chosen, names, depth)
            if type(own) is dict:
                self._names(own, id(own), chosen, frozenset(), DEPTH)


@functools.cache
def _mentioned(code: types.CodeType) -> frozenset[str]:
    """Return the names in some code, and the strings that may be names: ``getattr(x, "y")``."""
    found = {*code.co_names}
    for constant in code.co_consts:
        strings = constant if type(constant) is tuple else (constant,)
        found.update(s for s in strings if type(s) is str and s.isidentifier())
    return frozenset(found)


def is_fixed(value: Any) -> bool:
    """Return whether a value needs no guard: a module, and what is not the user's."""
    if isinstance(value, types.ModuleType | types.BuiltinFunctionType):
        return True
    return isinstance(value, type | types.FunctionType) and _is_library(value)


def _is_library(value: Any) -> bool:
    """Return whether a function, class or module belongs to Python, tinynet or an installed one."""
    name = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
    root = str(name).partition(".")[0]
    if root in ("tinynet", "numpy", "builtins") or root in sys.stdlib_module_names - {"__main__"}:
        return True
    file = getattr(sys.modules.get(str(name)), "__file__", None) or ""
    return "-packages" in file


def _named(container: Any) -> str:
    name = type(container).__name__
    return f"an {name}" if name[0] in "aeiou" or name == "ndarray" else f"a {name}"


def contents(container: Any) -> list[Any]:
    """Return what a container holds as a flat list."""
    if isinstance(container, dict):
        return [x for item in container.items() for x in item]
    if isinstance(container, np.ndarray):
        return [container.shape, str(container.dtype), container.tobytes()]
    return [bytes(container)] if isinstance(container, bytearray) else [*container]


def unchanged(container: Any, items: list[Any]) -> bool:
    """Return whether a container still holds the same."""
    now = contents(container)
    return len(now) == len(items) and all(map(alike, now, items))


def alike(a: Any, b: Any) -> bool:
    """Return whether code cannot tell two values apart: one object, or equal simple values."""
    if a is b:
        return True
    if type(a) is not type(b) or not is_simple(a):
        return False
    if type(a) is tuple:
        return len(a) == len(b) and all(map(alike, a, b))
    return bool(a == b) and (type(a) not in (float, complex) or repr(a) == repr(b))


def is_simple(value: Any) -> bool:
    """Return whether a guard compares a value by ``==``; others are compared by identity."""
    kind = type(value)
    return kind in SIMPLE or (kind is tuple and all(map(is_simple, value)))
