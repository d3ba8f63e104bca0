"""What Python objects hold: the parts of a container, and whether they are still the same."""

from __future__ import annotations

import array
import functools
import gc
import operator
import sys
import threading
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tinynet.core.tensors.size import Size
from tinynet.dtypes.kinds import HOMES
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import attributes

SIMPLE = frozenset({int, float, bool, str, bytes, type(None), type(...), complex, slice, range})
ABSENT = object()
CONTAINERS = (list, dict, set, frozenset, tuple, deque)
BUFFERS = (bytearray, array.array, np.ndarray, memoryview)
# They are the same as long as they live; what they refer to is looked at.
_FIXED: tuple[Any, ...] = (
    types.MethodType, types.BuiltinFunctionType, types.MappingProxyType, property, staticmethod,
    classmethod, type({}.keys()), type({}.values()), type({}.items()), operator.attrgetter,
    operator.methodcaller, operator.itemgetter, functools.partialmethod, types.GenericAlias,
    types.UnionType, types.MethodWrapperType, types.CellType,
)  # fmt: skip
# Under ``as_torch``, modules of tinynet have the names of PyTorch's.
_LIBRARIES = {"tinynet", "torch", "numpy", *sys.stdlib_module_names} - {"__main__"}
# What reads an object without asking it.
_BASES, _MEMBERS, _MODULE, _NAME = (
    vars(type)[name].__get__ for name in ("__mro__", "__dict__", "__module__", "__name__")
)
_LOOKING_UP = [vars(kind)["__getattribute__"] for kind in (object, type, threading.local)]
_READING = object.__getattribute__, type.__getattribute__, threading.local.__getattribute__
_OWN_METHODS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)


def is_a(thing: Any, kinds: Any) -> bool:
    """Return whether an object is an instance of a class, without asking the object."""
    return issubclass(type(thing), kinds)


def is_simple_kind(kind: type) -> bool:
    """Return whether a class is one of ``SIMPLE``, without asking its metaclass."""
    return type(kind) is type and kind in SIMPLE


def name_of(kind: type) -> str:
    """Return the name of a class."""
    return str(_NAME(kind))


def bases_of(kind: type) -> tuple[type, ...]:
    """Return a class and its bases in the order in which attributes are looked up."""
    found: tuple[type, ...] = _BASES(kind)
    return found


def members_of(kind: type) -> Mapping[str, Any]:
    """Return the attributes that a class itself has."""
    found: Mapping[str, Any] = _MEMBERS(kind)
    return found


def of_class(kind: type, name: str) -> Any:
    """Return an attribute of a class as it was set there or in a base, or ``ABSENT``."""
    return next((members_of(b)[name] for b in bases_of(kind) if name in members_of(b)), ABSENT)


def module_of(kind: type) -> str:
    """Return the name of the module that defines a class; an empty one if the class has none."""
    if id(kind) in HOMES:
        return HOMES[id(kind)]
    try:
        name = _MODULE(kind)
    except AttributeError:
        return ""
    return name if type(name) is str else ""


def value_of(thing: Any, name: str) -> Any:
    """Return an attribute, or ``ABSENT`` if there is none, or if code in Python would give it."""
    if _is_computed(thing, name):
        return ABSENT
    reading = _READING[is_a(thing, type) + 2 * is_a(thing, threading.local)]
    try:
        return reading(thing, name)
    except AttributeError:
        return ABSENT


def is_direct(thing: Any, name: str) -> bool:
    """Return whether ``thing.name`` runs no code in Python if there is such an attribute."""
    kind = type(thing)
    looks_up = of_class(kind, "__getattribute__")
    return looks_up in _LOOKING_UP and not _is_computed(thing, name)


def _is_computed(thing: Any, name: str) -> bool:
    """Return whether code in Python computes an attribute: a property or another descriptor."""
    found = [of_class(type(thing), name), of_class(thing, name) if is_a(thing, type) else ABSENT]
    return any(
        is_a(f, property) or is_a(of_class(type(f), "__get__"), types.FunctionType) for f in found
    )


def contents(container: Any) -> list[Any]:
    """Return what a container holds as a flat list."""
    if is_a(container, dict):
        kind: Any = OrderedDict if is_a(container, OrderedDict) else dict  # it has its own order
        return [x for item in kind.items(container) for x in item]
    if is_a(container, np.ndarray):
        form = [container.shape, str(container.dtype), container.strides, container.flags.writeable]
        if container.dtype.hasobject:
            return [*form, *container.ravel().tolist()]
        return [*form, container.tobytes()]
    if is_a(container, (bytearray, memoryview, array.array)):
        return [bytes(container)]
    for kind in CONTAINERS:
        if is_a(container, kind):
            each: Callable[[Any], Iterator[Any]] = kind.__iter__
            return [*each(container)]
    # An object of a class in C: what the garbage collector finds in it, in no order.
    return sorted(gc.get_referents(container), key=id)


def size_of(container: Any) -> int:
    """Return the number of items of a container, or of the numbers in an array."""
    if is_a(container, np.ndarray):
        return container.size
    for kind in (*CONTAINERS, *BUFFERS):
        if is_a(container, kind):
            return int(kind.__len__(container))
    return 0


def unchanged(container: Any, items: list[Any]) -> bool:
    """Return whether a container still holds the same."""
    now = contents(container)
    if len(now) != len(items):
        return False
    return all(map(operator.is_, now, items)) or all(map(alike, now, items))


def alike(a: Any, b: Any) -> bool:
    """Return whether code cannot tell two values apart: one object, or equal simple values."""
    if a is b:
        return True
    if type(a) is not type(b) or not is_simple(a):
        return False
    if type(a) is tuple or type(a) is Size:
        return len(a) == len(b) and all(map(alike, a, b))
    if type(a) in (range, slice):  # ranges of the same numbers are equal
        return all(map(alike, bounds(a), bounds(b)))
    return bool(a == b) and (type(a) not in (float, complex) or repr(a) == repr(b))


def is_simple(value: Any) -> bool:
    """Return whether a guard compares a value by ``==``; others are compared by identity."""
    kind = type(value)
    if kind is tuple or kind is Size or kind is slice:  # ``in`` would ask a metaclass
        return all(map(is_simple, bounds(value) if kind is slice else value))
    return is_simple_kind(kind)


def bounds(value: range | slice) -> tuple[Any, Any, Any]:
    """Return what a range or slice is made of."""
    return value.start, value.stop, value.step


def is_empty(cell: Any) -> bool:
    """Return whether an outer variable has no value yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def namespace_of(thing: Any) -> dict[str, Any] | None:
    """Return the attributes of an object, without calling its code."""
    if is_a(thing, Module):
        return attributes(thing)
    try:
        own = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    return own if type(own) is dict else None


def is_iterator(value: Any) -> bool:
    """Return whether an object is an iterator."""
    return all(of_class(type(value), name) is not ABSENT for name in ("__iter__", "__next__"))


def is_immutable(array: Any) -> bool:
    """Return whether no one can write to an array, since a bytes object owns its memory."""
    base = array
    while type(base) is np.ndarray:
        base = base.base
    return type(base) is bytes


def is_fixed(value: Any) -> bool:
    """Return whether an object refers to the same objects as long as it lives."""
    return is_a(value, _FIXED)


def written_in_c(kind: type) -> type:
    """Return the first class written in C among a class and its bases; often ``object``."""
    for base in bases_of(kind):
        for method in members_of(base).values():
            if is_a(method, _OWN_METHODS) and method.__objclass__ is base:
                return base
    return object


def is_plain(value: Any) -> bool:
    """Return whether a value is an object of a class in Python, a function or a container."""
    known = is_a(value, (*CONTAINERS, types.FunctionType))
    return known or (written_in_c(type(value)) is object and not is_iterator(value))


def is_hidden(value: Any) -> bool:
    """Return whether an object of a class in C may change without anyone seeing it: a lock."""
    return of_class(type(value), "__eq__") is vars(object)["__eq__"] and not is_a(
        value, (np.ufunc, BaseException)
    )


def is_library(value: Any) -> bool:
    """Return whether a function, class or module belongs to Python, tinynet or an installed one."""
    if is_a(value, types.ModuleType):
        return _is_library(str((namespace_of(value) or {}).get("__name__")))
    if is_a(value, type):
        return _is_library(module_of(value))
    own = value_of(value, "__module__")
    return _is_library(own if type(own) is str else module_of(type(value)))


def _is_library(name: str) -> bool:
    if name.partition(".")[0] in _LIBRARIES:
        return True
    file = (namespace_of(sys.modules.get(name)) or {}).get("__file__")
    return type(file) is str and "-packages" in file


def named(container: Any) -> str:
    """Return the name of a class with its article."""
    name = name_of(type(container))
    return f"an {name}" if name[0] in "aeiouAEIOU" or name == "ndarray" else f"a {name}"


def shown(value: Any) -> str:
    """Return the beginning of an object's text, or its class if it has none."""
    try:
        return f"{value!r:.40}"
    except Exception:  # the object's own code may raise any
        return f"<{named(value)}>"
