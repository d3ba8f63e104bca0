"""What code can reach from a value: attributes that it mentions, classes, parts of containers."""

from __future__ import annotations

import abc
import builtins
import contextlib
import random
import threading
import types
import typing
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinynet.autograd.function import Function
from tinynet.capture.guard.builtin_calls import original
from tinynet.capture.guard.holdings import (
    ABSENT,
    BUFFERS,
    CONTAINERS,
    alike,
    bases_of,
    contents,
    is_a,
    is_fixed,
    is_hidden,
    is_immutable,
    is_iterator,
    is_library,
    is_simple_kind,
    members_of,
    module_of,
    name_of,
    namespace_of,
    size_of,
    value_of,
    written_in_c,
)
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import Repeating
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import TABLES, Table
from tinynet.random import Generator

SIZE = 10_000  # of a container or array whose items become a guard
_PASSING = (random.Random, np.random.Generator, np.random.RandomState)
_LEAVES: tuple[Any, ...] = (
    np.generic, np.dtype, Generator, Repeating, types.CodeType, types.FrameType, types.GenericAlias,
    type(NotImplemented), typing.TypeVar,
)  # fmt: skip
_IMMUTABLE = 1 << 8  # in the flags of a class: its attributes cannot be set
_RUNS = (types.FunctionType, property, staticmethod, classmethod, tuple)


def _defined_in(value: Any) -> str:
    """Return the name of a module, or of the module of a class or object."""
    if is_a(value, types.ModuleType):
        return str((namespace_of(value) or {}).get("__name__"))
    return module_of(value if is_a(value, type) else type(value))


def _is_layer(kind: type) -> bool:
    """Return whether a class or a base is one of tinynet's modules, whose code reads attributes."""
    return any(
        base is not Module and is_library(base) and issubclass(base, Module)
        for base in bases_of(kind)
    )


def _is_part(value: Any, package: Any) -> bool:
    """Return whether a value is a module in a package."""
    modules = is_a(value, types.ModuleType) and is_a(package, types.ModuleType)
    return modules and value.__name__.startswith(f"{package.__name__}.")


class Names:
    """Attributes of one object, class or module, or variables, that the code mentions.

    Attributes:
        owner: the object.
        held: its namespace.
        values: the values by name.
        size: the number of names in it, if another one would change what the code finds.
        missing: names that it must not have.
        order: all names in their order, if the code may ask for it.
        last: the last one, of a module, whose parameters may be put in another order.
        title: what it is called, for people.
    """

    def __init__(self, owner: Any, held: Any, size: int | None):
        self.owner, self.held, self.size = owner, held, size
        self.values: dict[str, Any] = {}
        self.missing: set[str] = set()
        self.order: list[str] | None = None
        self.last: str | None = None
        self.title = ""


class Reach:
    """What code can reach.

    Attributes:
        names: by id of the owner, attributes of modules, objects and classes, and variables.
        cells: outer variables and their values.
        containers: lists, dictionaries, sets and small arrays, and what they hold.
        attributes: other attributes of objects, and their values.
        kinds: objects and their classes.
        orders: classes and the classes that Python searches for their attributes.
        lacking: classes, and names that they and their bases lack.
        references: weak references, and whether they are alive.
        tensors: tensors of which the code may read the shape.
        hidden: what no guard can compare, in words, and a remedy.
        registered: the number of registrations of abstract classes, if the code may ask for one.
    """

    def __init__(self) -> None:
        self.names: dict[int, Names] = {}
        self.cells: dict[int, tuple[Any, Any]] = {}
        self.containers: dict[int, tuple[Any, list[Any]]] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.kinds: dict[int, tuple[Any, type]] = {}
        self.orders: dict[int, tuple[type, tuple[type, ...]]] = {}
        self.lacking: dict[tuple[int, str], tuple[type, str]] = {}
        self.references: dict[int, tuple[Any, bool]] = {}
        self.tensors: dict[int, Tensor] = {}
        self.hidden: list[tuple[Any, str, str]] = []
        self.registered: Any = None
        self.all = False  # any attribute may be read, not only those that the code mentions
        self.mentioned: set[str] = set()
        self._visited: dict[int, Any] = {}
        self._parents: dict[int, Any] = {}
        self._waiting: list[Any] = []
        self._in_c: dict[int, type] = {}

    def mention(self, names: Iterable[str]) -> None:
        """Look names up in all that was reached so far, and in what will be."""
        new = {*names} - self.mentioned
        if new:
            self.mentioned |= new
            for value in [*self._visited.values()]:
                self._members(value, new)

    def mention_all(self) -> None:
        """Look at all attributes of all objects from now on."""
        if not self.all:
            self.all = True
            for value in [*self._visited.values()]:
                self._members(value, self.mentioned)

    def reach(self, value: Any, parent: Any = None) -> None:
        """Note what hangs on a value."""
        self._add(value, parent)
        while self._waiting:
            self._visit(self._waiting.pop())

    def reach_items(self, container: Any) -> None:
        """Note what a container holds, and what hangs on that."""
        self._parts(container)
        while self._waiting:
            self._visit(self._waiting.pop())

    def _add(self, value: Any, parent: Any) -> None:
        if is_simple_kind(type(value)) or id(value) in self._visited or is_a(value, _LEAVES):
            return
        if value is vars(builtins) or module_of(type(value)).startswith("tinynet.capture."):
            return  # a capture changes them
        self._visited[id(value)] = value
        self._parents[id(value)] = parent
        self._waiting.append(value)

    def _add_all(self, values: Iterable[Any], parent: Any) -> None:
        for value in values:
            self._add(value, parent)

    def _visit(self, value: Any) -> None:
        if is_a(value, Tensor):
            self.tensors[id(value)] = value
        elif _defined_in(value) == "decimal":
            words = "may use decimal numbers, whose precision is set elsewhere"
            self.hidden.append((value, words, "use floats, or pass the result"))
            return
        elif is_a(value, _PASSING) or is_iterator(value):
            words = (
                f"may use a {name_of(type(value))} from outside, an iterator or random generator"
            )
            self.hidden.append((value, words, "pass what it gives as an argument of the function"))
            return
        elif is_a(value, weakref.ref):
            thing = weakref.ref.__call__(value)
            self.references[id(value)] = value, thing is not None
            return self._add(thing, value)
        elif is_a(value, types.FunctionType | types.ModuleType | type):
            if is_a(value, types.FunctionType) and not is_library(value):
                self._add_function(value)
        elif not is_a(value, Table):
            self._parts(value)
        self._members(value, self.mentioned)

    def _add_function(self, function: Any) -> None:
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self.attribute(function, name)
        self._add_all(function.__defaults__ or (), function)
        self._add_all((function.__kwdefaults__ or {}).values(), function)
        for cell in function.__closure__ or ():
            self.cell(cell)

    def cell(self, cell: Any) -> None:
        """Note the value of an outer variable."""
        if id(cell) in self.cells:
            return
        try:
            value = cell.cell_contents
        except ValueError:
            value = ABSENT
        self.cells[id(cell)] = cell, value
        self._add(value, cell)

    def slot(self, owner: Any, name: str, slot: Any) -> None:
        """Note an attribute that lies in a slot of the class, or that it has no value."""
        try:
            value = slot.__get__(owner)
        except AttributeError:
            value = ABSENT
        if (id(owner), name) not in self.attributes:
            self.attributes[id(owner), name] = owner, name, value
            self._add(value, owner)

    def attribute(self, owner: Any, name: str) -> None:
        """Note the value of an attribute that lies in no namespace."""
        if (id(owner), name) not in self.attributes:
            value = value_of(owner, name)
            self.attributes[id(owner), name] = owner, name, value
            self._add(value, owner)

    def _parts(self, value: Any) -> None:
        """Note what a container holds, and an object of a class in C."""
        known = is_a(value, (*CONTAINERS, *BUFFERS))
        if known and size_of(value) > SIZE:
            if not (is_a(value, np.ndarray) and is_immutable(value)):
                words = f"may read a {name_of(type(value))} with {size_of(value):,} items"
                self.hidden.append((value, words, _LARGE))
            return
        kind = type(value)
        base = self._in_c.get(id(kind)) or self._in_c.setdefault(id(kind), written_in_c(kind))
        if not known and (base is object or is_a(value, Module)):
            return
        items = contents(value)
        if not known:
            items = [item for item in items if item is not kind and item is not namespace_of(value)]
            if not items:
                if is_hidden(value) and not (callable(value) and is_library(value)):
                    words = f"may use a {name_of(kind)} from outside, which cannot be compared"
                    self.hidden.append((value, words, "do that outside of the function"))
                return
        if not is_fixed(value) and kind not in (tuple, frozenset):
            self.containers[id(value)] = value, contents(value)
        if kind is tuple and len(items) < 100:  # __match_args__, or the names of an attrgetter
            self.mention([i for i in items if type(i) is str and i.isidentifier()])
        wrapped: Any = (namespace_of(value) or {}).get("__wrapped__")
        if is_a(wrapped, types.FunctionType):  # a cache may have to compute anew
            self.code(wrapped.__code__, wrapped.__globals__)
        self._add_all(items, value)

    def code(self, code: types.CodeType, variables: dict[str, Any]) -> None:
        """Note what code mentions."""
        raise NotImplementedError

    # ---- attributes -------------------------------------------------------------------------

    def _members(self, value: Any, names: set[str]) -> None:
        """Note attributes of a value that the code mentions."""
        if is_a(value, types.ModuleType):
            library = is_library(value)
            held = namespace_of(value) or {}
            grows = library or held.get("__name__") == "__main__"
            self._names(value, held, held.keys() & names, sized=not grows, follow=not library)
        elif is_a(value, type):
            self._class(value, names)
        elif is_a(value, Table):
            if not names.isdisjoint(TABLES):
                self._parts(value)
        elif is_a(value, threading.local):  # each thread has its own attributes
            for name in vars(value).keys() & names:
                self.attribute(value, name)
        elif not is_a(value, weakref.ref):
            self._object(value, names)

    def _object(self, value: Any, names: set[str]) -> None:
        own, kind = namespace_of(value), type(value)
        if own is not None and (own or not is_a(value, Tensor | types.FunctionType)):
            chosen: Any = own.keys() & (names | _OF_MODULES if is_a(value, Module) else names)
            if self.all or is_a(value, types.SimpleNamespace) or _is_layer(kind):
                chosen = [name for name in own if name != "_non_persistent_buffers_set"]
            found = self._names(value, own, chosen, sized=True)
            if self.all or own.get("_modules"):
                found.order = [*own]
            found.last = next(reversed(own), None) if is_a(value, Module) else None
        if is_a(value, Tensor):
            self._add(kind, value)
            return
        if not is_a(value, np.ndarray | Module):
            self._slots(value, names)
        if is_a(value, types.FunctionType):
            return
        if is_a(value, Module):
            self.attribute(kind, "forward")
            self.attribute(value, "_hooks")
        weak = is_a(self._parents.get(id(value)), weakref.ref)
        if not weak and (not is_library(kind) or is_a(value, Module)):
            self.kinds[id(value)] = value, kind
            self._add(kind, value)

    def _slots(self, value: Any, names: set[str]) -> None:
        """Note attributes that lie in slots of the class, or in an object of a class in C."""
        for base in bases_of(type(value)):
            held = members_of(base)
            for name in (held.keys() & names) - _UNREAD_SLOTS:
                slot = held[name]
                if is_a(slot, types.MemberDescriptorType):
                    self.slot(value, name, slot)
                elif is_a(slot, types.GetSetDescriptorType):
                    with contextlib.suppress(Exception):
                        if alike(slot.__get__(value), slot.__get__(value)):  # not new each time
                            self.attribute(value, name)

    def _class(self, kind: type, names: set[str]) -> None:
        """Note attributes of a class and of its bases."""
        for name in names & {"__name__", "__qualname__"}:
            self.attribute(kind, name)
        if is_library(kind):
            if not kind.__flags__ & _IMMUTABLE:
                for base in bases_of(kind)[1:]:
                    self._add(base, kind)
                held = members_of(kind)
                self._names(kind, held, held.keys() & names, sized=False)
            self._count_registrations(kind)
            return
        self.orders[id(kind)] = kind, bases_of(kind)
        self._count_registrations(kind)
        for base in bases_of(kind):
            if base is not kind:
                self._add(base, kind)
        self._add(type(kind), kind)
        held = members_of(kind)
        implied = {n for n in held if n[:2] == "__" == n[-2:] and is_a(held[n], _RUNS)}
        for name in ("__new__", "__init__"):  # run when the code makes an object
            made = held.get(name)
            made = made.__func__ if isinstance(made, staticmethod) else made
            if isinstance(made, types.FunctionType):
                self._add(made, kind)
        if issubclass(kind, Function):
            implied |= held.keys() & {"forward", "backward", "setup_context"}
        self._names(kind, held, (held.keys() & names) | implied - _UNREAD, sized=True)

    def _count_registrations(self, kind: type) -> None:
        if is_a(kind, abc.ABCMeta):
            self.registered = abc.get_cache_token()

    def variables(
        self, owner: Any, held: dict[str, Any], chosen: Iterable[str], follow: bool = True
    ) -> None:
        """Note variables of a module."""
        self._names(owner, held, chosen, sized=False, follow=follow)

    def _names(
        self, owner: Any, held: Any, chosen: Iterable[str], sized: bool, follow: bool = True
    ) -> Names:
        found = self.names.get(id(owner))
        if found is None:
            found = self.names[id(owner)] = Names(owner, held, len(held) if sized else None)
        for name in chosen:
            if name not in found.values:
                value = found.values[name] = original(held[name])
                if follow or is_a(value, CONTAINERS) or _is_part(value, owner):
                    self._add(value, owner)
                elif is_a(value, type):
                    self._count_registrations(value)
                elif name == "get_state" and is_a(value, types.MethodType):
                    words = "may ask for the state of numpy's random numbers"
                    self.hidden.append((value, words, "ask outside of the function"))
        return found


_OF_MODULES = {*vars(Module()), "forward"} - {"_non_persistent_buffers_set"}
_UNREAD_SLOTS = {"__dict__", "__weakref__"}  # the newest reference is no part of an object
_UNREAD = {"__init__", "__new__", "__init_subclass__", "__classcell__", "__post_init__"}
_UNREAD |= {"__static_attributes__"}  # the names that methods set, from Python 3.13 on
_LARGE = (
    "make it a tensor, or an array that can never be written to (`np.frombuffer(array.tobytes(), "
    "array.dtype)`), or pass what the function needs"
)
