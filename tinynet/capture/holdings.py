"""What Python objects hold: the parts of a container, and whether they are still the same."""

from __future__ import annotations

import array
import functools
import gc
import operator
import sys
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet.capture.program import SIMPLE

CONTAINERS = (list, dict, set, frozenset, tuple, deque)
BUFFERS = (bytearray, array.array, np.ndarray, memoryview)
# They are the same as long as they live; what they refer to is looked at.
_FIXED: tuple[Any, ...] = (
    types.MethodType, types.BuiltinFunctionType, types.MappingProxyType, property, staticmethod,
    classmethod, type({}.keys()), type({}.values()), type({}.items()), operator.attrgetter,
    operator.methodcaller, operator.itemgetter, functools.partialmethod, types.GenericAlias,
    types.UnionType, types.MethodWrapperType, types.CellType,
)  # fmt: skip
_OWN_METHODS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)


def is_a(thing: Any, kinds: Any) -> bool:
    """Return whether an object is an instance of a class, without asking the object."""
    return issubclass(type(thing), kinds)


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
    return len(container) if is_a(container, (*CONTAINERS, *BUFFERS)) else 0


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
    if type(a) is tuple:
        return len(a) == len(b) and all(map(alike, a, b))
    if type(a) in (range, slice):  # ranges of the same numbers are equal
        return all(map(alike, bounds(a), bounds(b)))
    return bool(a == b) and (type(a) not in (float, complex) or repr(a) == repr(b))


def is_simple(value: Any) -> bool:
    """Return whether a guard compares a value by ``==``; others are compared by identity."""
    kind = type(value)
    if kind is tuple or kind is slice:
        return all(map(is_simple, value if kind is tuple else bounds(value)))
    return kind in SIMPLE


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
    try:
        own = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    return own if type(own) is dict else None


def is_fixed(value: Any) -> bool:
    """Return whether an object refers to the same objects as long as it lives."""
    return is_a(value, _FIXED)


def written_in_c(kind: type) -> type:
    """Return the first class written in C among a class and its bases; often ``object``."""
    for base in kind.__mro__:
        for method in vars(base).values():
            if isinstance(method, _OWN_METHODS) and method.__objclass__ is base:
                return base
    return object


def is_plain(value: Any) -> bool:
    """Return whether a value is an object of a class in Python, a function or a container."""
    known = is_a(value, (*CONTAINERS, types.FunctionType))
    return known or (written_in_c(type(value)) is object and not is_a(value, Iterator))


def is_hidden(value: Any) -> bool:
    """Return whether an object of a class in C may change without anyone seeing it: a lock."""
    kind: Any = type(value)
    return kind.__eq__ is object.__eq__ and not is_a(value, (np.ufunc, BaseException))


def is_library(value: Any) -> bool:
    """Return whether a function, class or module belongs to Python, tinynet or an installed one."""
    name = value.__name__ if is_a(value, types.ModuleType) else value.__module__
    return _is_library(str(name))


def _is_library(name: str) -> bool:
    root = name.partition(".")[0]
    if root in ("tinynet", "numpy", "builtins") or root in sys.stdlib_module_names - {"__main__"}:
        return True
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return "-packages" in file


def named(container: Any) -> str:
    """Return the name of a class with its article."""
    name = type(container).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" or name == "ndarray" else f"a {name}"
