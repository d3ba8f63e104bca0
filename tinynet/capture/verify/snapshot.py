"""Snapshots: the state that a replay may change, to put it back."""

from __future__ import annotations

import functools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tinynet.capture.guard.holdings import bases_of, is_a, module_of
from tinynet.capture.program import root
from tinynet.capture.record.stores import Store
from tinynet.core.graph.accumulate_grad import Rows
from tinynet.core.graph.views import View
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import INFERENCE, Version
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import attributes
from tinynet.optim.base.elementwise import Pack, Plan
from tinynet.optim.base.groups import Scratch, Slot

_OF_TENSOR = ("_array", "_counter", "_edge", "_grad", "_hooks", "_requires_grad", "_view")
# Parts of tinynet whose objects a program changes, such as optimizers.
_CHANGED = tuple(f"tinynet.{part}" for part in ("amp", "nn", "optim", "random", "train"))
_CACHES = (Plan, Pack, Scratch, Slot)  # views of parameters and state, and scratch memory
# Of optimizers: they check themselves, and the native step after an undone one needs its plan.
_OF_CACHES = "_plans", "_slots"
_ABSENT = object()


class Snapshot:
    """What tensors, optimizers and other objects hold now.

    Args:
        roots: the objects; what they refer to belongs to the snapshot, too.
    """

    def __init__(self, roots: Iterable[Any]):
        self._undo: list[Callable[[], None]] = []
        self._seen: dict[int, Any] = {}  # keeps the objects alive, so that ids stay unique
        self._arrays: list[Any] = []
        self._copies: dict[int, Any] = {}  # of arrays, by their ids
        waiting = [*roots]
        while waiting:
            thing = waiting.pop()
            if id(thing) not in self._seen:
                self._seen[id(thing)] = thing
                waiting += self._add(thing)

    def restore(self) -> None:
        """Put everything back as it was."""
        self.exchange(keep=False)

    def exchange(self, keep: bool = True) -> None:
        """Put everything back as it was, and keep what arrays held instead if asked."""
        for array in self._arrays:
            before = self._copies[id(array)]
            if keep:
                self._copies[id(array)] = array.copy(order="K")
            np.copyto(array, before)
        for undo in self._undo:
            undo()

    def copied(self, array: Any) -> Any:
        """Return the copy of an array; of one that the snapshot does not have, a new copy."""
        return self._copies[id(array)] if id(array) in self._copies else np.array(array)

    def uncopied(self, array: Any) -> Any:
        """Return an array if the snapshot has a copy or no one else has it; else a copy."""
        lasts = id(array) in self._copies or array.base is None
        return array if lasts else np.array(array)

    def content(self, value: Any) -> Any:
        """Return the copy of an array; others as they are."""
        return self._copies.get(id(value), value)

    def _add(self, thing: Any) -> Iterable[Any]:
        """Add one object; return what it refers to."""
        kind = type(thing)
        if kind is np.ndarray:
            self._add_array(thing)
        elif is_a(thing, Tensor):
            self._add_names(thing, _OF_TENSOR)
            parts = [thing._array, thing._counter, thing._grad, thing._view]
            return [*parts, *thing.__dict__.values()]
        elif is_a(thing, Version):
            self._add_version(thing)
        elif kind is View:
            self._add_names(thing, View.__slots__)
        elif kind is Rows:
            return self._add_names(thing, Rows.__slots__)
        elif is_a(thing, dict):
            return self._add_dict(thing)
        elif is_a(thing, (list, deque, set)):
            return self._add_items(thing)
        elif is_a(thing, tuple):
            return thing
        elif kind is np.random.Generator:
            bits = thing.bit_generator
            state = bits.state
            self._undo.append(lambda: setattr(bits, "state", state))
        elif is_a(thing, Module):
            return [value for value in attributes(thing).values() if is_a(value, (Tensor, Module))]
        elif kind is Store:
            self._undo.append(functools.partial(thing.put, value := thing.value()))
            return [value]
        elif kind in _CACHES:
            return ()
        elif any(module_of(base).startswith(_CHANGED) for base in bases_of(kind)):
            return self._add_object(thing)
        return ()

    def _add_array(self, array: Any) -> None:
        memory = root(array)
        if type(memory) is np.ndarray and memory.nbytes <= 2 * array.nbytes:
            array = memory  # one copy for all views of it
        if array.flags.writeable and id(array) not in self._copies:
            self._arrays.append(array)
            self._copies[id(array)] = array.copy(order="K")

    def _add_version(self, version: Any) -> None:
        if version is not INFERENCE:
            self._add_names(version, ("n", "writes", "reshaped"))
            for name in ("writes", "reshaped"):
                if hasattr(version, name):
                    self._add_items(getattr(version, name))

    def _add_names(self, thing: Any, names: Iterable[str]) -> list[Any]:
        """Add attributes; return their values."""
        held = {name: getattr(thing, name, _ABSENT) for name in names}

        def undo() -> None:
            for name, value in held.items():
                if value is not _ABSENT:
                    setattr(thing, name, value)
                elif hasattr(thing, name):
                    delattr(thing, name)

        self._undo.append(undo)
        return [*held.values()]

    def _add_dict(self, held: dict[Any, Any]) -> list[Any]:
        kind: Any = OrderedDict if is_a(held, OrderedDict) else dict  # not Counter, which adds
        before = [*kind.items(held)]

        def undo() -> None:
            kind.clear(held)
            kind.update(held, before)

        self._undo.append(undo)
        return [value for _, value in before]

    def _add_items(self, held: Any) -> list[Any]:
        kind: Any = next(kind for kind in (list, deque, set) if is_a(held, kind))
        before = [*kind.__iter__(held)]

        def undo() -> None:
            kind.clear(held)
            (kind.update if kind is set else kind.extend)(held, before)

        self._undo.append(undo)
        return before

    def _add_object(self, thing: Any) -> list[Any]:
        slots = [s for base in type(thing).__mro__ for s in vars(base).get("__slots__", ())]
        parts = self._add_names(thing, [s for s in slots if s[:2] != "__"])
        own = getattr(thing, "__dict__", None)
        if own is None:
            return parts
        self._add_dict(own)
        return parts + [value for name, value in own.items() if name not in _OF_CACHES]
