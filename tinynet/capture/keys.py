"""Keys of calls: two calls with one key have arguments that a function cannot tell apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from tinynet.capture.holdings import bounds, namespace_of
from tinynet.capture.program import root
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import INFERENCE
from tinynet.core.tensors.views import requires_grad
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
        return repr(self.thing)


def key_of(structure: Any, tensors: list[Tensor]) -> Any:
    """Return what distinguishes calls; collect the tensors.

    Raises:
        TypeError: an argument that cannot be part of a key.
    """
    kind = type(structure)
    if isinstance(structure, Tensor):
        tensors.append(structure)
        if type(structure._array) is not np.ndarray:
            raise TypeError("an argument is a sparse or batched tensor")
        return kind, form(structure)
    if kind in _EXACT:
        return kind, structure
    if isinstance(structure, tuple) or kind is list or kind is frozenset:
        own = namespace_of(structure)  # of a class derived from tuple
        parts = [key_of(part, tensors) for part in structure]
        return (kind, *parts, key_of(own, tensors)) if own else (kind, *parts)
    if kind is range or kind is slice:
        return kind, key_of(bounds(structure), tensors)
    if kind is dict:
        items = structure.items()
        return kind, *[(_name(name), key_of(part, tensors)) for name, part in items]
    return kind, _of_object(structure, kind)


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
    """Return the key of an object that is no tensor and no container."""
    if kind is complex or (kind is float and not thing) or isinstance(thing, np.generic):
        return repr(thing)  # 0.0 == -0.0
    if isinstance(thing, Iterator):
        raise TypeError("an argument is an iterator")
    try:
        hash(thing)
    except TypeError:
        raise TypeError(f"an argument of type {kind.__name__} is not hashable") from None
    compares: Any = kind.__eq__
    if compares is object.__eq__:
        return thing
    if dataclasses.is_dataclass(thing) and _is_plain(thing):
        return tuple(key_of(getattr(thing, f.name), []) for f in dataclasses.fields(thing))
    root = kind.__module__.partition(".")[0]
    return thing if root in ("builtins", "numpy", "tinynet") else Identity(thing)


def _is_plain(thing: Any) -> bool:
    """Return whether all fields of a dataclass are values that no one can change."""
    own = namespace_of(thing)
    names = {f.name for f in dataclasses.fields(thing)}
    fields = (getattr(thing, name, ...) for name in names)
    plain = all(type(field) in _EXACT or type(field) in (float, complex) for field in fields)
    return plain and (own is None or own.keys() <= names)
