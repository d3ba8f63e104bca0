"""Keys of calls: two calls with one key have arguments that a function cannot tell apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.capture.guard.holdings import (
    ABSENT,
    bounds,
    contents,
    is_a,
    is_iterator,
    is_simple_kind,
    module_of,
    name_of,
    namespace_of,
    of_class,
    shown,
    value_of,
)
from tinynet.capture.program import root
from tinynet.capture.source import Source, compiled
from tinynet.core.graph.views import requires_grad
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import VIEW, Tensor
from tinynet.core.tensors.version import INFERENCE
from tinynet.dtypes import default_float

_EXACT = frozenset({int, bool, str, bytes, type(None), type(...)})


def modes() -> tuple[Any, ...]:
    """Return the modes that operations depend on."""
    return bool(mode.grad), mode.inference, mode.autocast, default_float()


def form(t: Tensor) -> tuple[Any, ...]:
    """Return what a program depends on in a tensor that is passed to it."""
    array = t._array
    if t._requires_grad is False and t._counter is not INFERENCE:
        return array.shape, array.dtype, array.strides, False
    leaf = t._edge is None and t._view is None
    origin = None if t._view is None else t._view.origin
    requires = requires_grad(t), leaf, t._counter is INFERENCE, origin
    return array.shape, array.dtype, array.strides, *requires


class Identity:
    """An object that is equal to itself only, whatever its class compares."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any):
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __repr__(self) -> str:
        return shown(self.thing)


def key_of(structure: Any, tensors: list[Tensor]) -> Any:
    """Return what distinguishes calls; collect the tensors.

    Raises:
        TypeError: an argument that cannot be part of a key.
    """
    kind = type(structure)
    if is_a(structure, Tensor):
        tensors.append(structure)
        if type(structure._array) is not np.ndarray:
            raise TypeError("an argument is a sparse or batched tensor")
        return kind, form(structure)
    if type(kind) is type and kind in _EXACT:
        return kind, structure
    if is_a(structure, tuple) or kind is list or kind is frozenset:
        own = namespace_of(structure)  # of a class derived from tuple
        parts = [key_of(part, tensors) for part in contents(structure)]
        return (kind, *parts, key_of(own, tensors)) if own else (kind, *parts)
    if kind is range or kind is slice:
        return kind, key_of(bounds(structure), tensors)
    if kind is dict:
        items = structure.items()
        return kind, *[(_name(name), key_of(part, tensors)) for name, part in items]
    asks = of_class(type(kind), "__hash__") is not object.__hash__  # a metaclass
    return Identity(kind) if asks else kind, _of_object(structure, kind)


def sharing_of(tensors: list[Tensor]) -> tuple[tuple[int, ...], ...]:
    """Return which tensors are the same, and where they lie in the memory that they share."""
    arrays = [t._array for t in tensors]
    memories = [a if a.base is None else root(a) for a in arrays]
    if len({*map(id, memories)}) == len(memories):
        return ()
    firsts = [next(i for i, m in enumerate(memories) if m is memory) for memory in memories]
    places = [a.ctypes.data - arrays[i].ctypes.data for a, i in zip(arrays, firsts, strict=True)]
    same, held = [*map(id, tensors)], [*map(id, arrays)]
    return tuple(
        (same.index(id(t)), held.index(id(t._array)), first, place)
        for t, first, place in zip(tensors, firsts, places, strict=True)
    )


def _name(name: Any) -> Any:
    """Return the key of a key of a dictionary."""
    return name if type(name) is str else key_of(name, [])


def _of_object(thing: Any, kind: type) -> Any:
    """Return the key of an object that is neither a tensor nor a container."""
    if kind is complex or (kind is float and not thing) or is_a(thing, np.generic):
        return repr(thing)  # 0.0 == -0.0
    if is_iterator(thing):
        raise TypeError("an argument is an iterator")
    if of_class(kind, "__hash__") is None or is_a(thing, list | dict):
        raise TypeError(f"an argument of type {name_of(kind)} is not hashable")
    compares, hashes = of_class(kind, "__eq__"), of_class(kind, "__hash__")
    if compares is object.__eq__ and hashes is object.__hash__:
        return thing
    if of_class(kind, "__dataclass_fields__") is not ABSENT and compares is not object.__eq__:
        values = {field.name: value_of(thing, field.name) for field in dataclasses.fields(kind)}
        own = namespace_of(thing) or {}
        if all(map(_is_plain, values.values())) and own.keys() <= values.keys():
            return tuple(key_of(value, []) for value in values.values())
    root = module_of(kind).partition(".")[0]
    return thing if root in ("builtins", "numpy", "tinynet") else Identity(thing)


def _is_plain(value: Any) -> bool:
    """Return whether no one can change a value."""
    return is_simple_kind(type(value)) and type(value) not in (slice, range)


# ---- recognition --------------------------------------------------------------------------------
# Recognizing a call like the last one, without the key of its arguments.


class _Stale:
    """What a program returns if its guards do not hold."""


STALE = _Stale()
_NAMES = {
    "INFERENCE": INFERENCE,
    "STALE": STALE,
    "VIEW": VIEW,
    "apart": lambda a, b: root(a) is not root(b),
    "array": np.ndarray,
    "default_float": default_float,
    "mode": mode,
    "requires_grad": requires_grad,
}


def recognizer(run: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Callable[..., Any]:
    """Return a function of the arguments that runs a program if they are like a call's.

    It recognizes calls with different tensors that do not require grad, under the same modes. For
    others it returns ``STALE``; that they fit has to be found by their key.

    Args:
        run: the program as a function of the tensors.
        tensors: those that were passed.
        args, kwargs: all arguments.
    """
    plain = len(tensors) == len(args) and not kwargs and all(map(_is_plain_tensor, tensors))
    if not (plain and args) or sharing_of(tensors) or modes()[1:3] != (False, None):
        return recognize_nothing
    source = Source([], [])
    keep, names = source.keep, [f"A{i}" for i in range(len(args))]
    source.namespace.update(_NAMES)
    tests = [f"{'' if mode.grad else 'not '}mode.grad", "not mode.inference"]
    tests += ["mode.autocast is None", f"default_float() is {keep(default_float())}"]
    for i, (name, t) in enumerate(zip(names, tensors, strict=True)):
        tests.append(f"type({name}) is {keep(type(t))}")
        tests.append(f"(a{i} := {name}._array).__class__ is array")
        tests.append(f"a{i}.shape == {t._array.shape!r} and a{i}.strides == {t._array.strides!r}")
        tests.append(f"a{i}.dtype is {keep(t._array.dtype)}")
        flag = "VIEW" if t._requires_grad is VIEW else "False"
        tests.append(f"{name}._requires_grad is {flag} and {name}._counter is not INFERENCE")
        tests += [f"not requires_grad({name})"] if flag == "VIEW" else []
        tests += [
            f"(a{i}.base is None is a{j}.base and a{i} is not a{j} or apart(a{i}, a{j}))"
            for j in range(i)
        ]
    given = ", ".join(names)
    lines = [
        "def recognize(args):",
        f"    if len(args) != {len(args)}: return STALE",
        f"    {given}, = args",
        f"    if not ({' and '.join(tests)}): return STALE",
        f"    return {keep(run)}({given})",
    ]
    made: Callable[..., Any] = compiled("recognition", "recognize", lines, source.namespace)
    return made


def _is_plain_tensor(t: Tensor) -> bool:
    return not requires_grad(t) and t._edge is None and t._counter is not INFERENCE


def recognize_nothing(args: Any) -> Any:
    """Return ``STALE``: the key has to tell."""
    return STALE
