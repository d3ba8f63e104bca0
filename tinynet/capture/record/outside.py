"""The tensors that exist before a captured call: what the call changes in them, and reads."""

from __future__ import annotations

import collections
import gc
import itertools
from collections.abc import Iterator
from typing import Any

from tinynet.capture.program import CaptureError, root
from tinynet.capture.record.stores import CarryError, Data
from tinynet.core.graph.node import Hooks
from tinynet.core.graph.views import requires_grad
from tinynet.core.tensors.tensor import Tensor, counter_of
from tinynet.core.tensors.version import INFERENCE

_STATE = "the data", "the history", "requires_grad", "the base", "the hooks"


class Outside:
    """The tensors that exist when a capture begins.

    Attributes:
        tensors: all of them.
        gradients_read: by id, those whose ``.grad`` was read: the tensor, whether it had a gradient
            before, and that gradient if it was the one that was read.
    """

    def __init__(self) -> None:
        objects = gc.get_objects()  # tens of thousands: this is written for speed
        are_tensors = map(issubclass, map(type, objects), itertools.repeat(Tensor))
        found = itertools.compress(objects, are_tensors)
        self.tensors = [t for t in found if type(t)._array is Tensor._array]  # initialized
        self.gradients_read: dict[int, tuple[Tensor, bool, Tensor | None]] = {}
        self._ids = {id(t) for t in self.tensors}
        # Several tensors may have one array; the parameter is the one that users replace.
        order = sorted(self.tensors, key=lambda t: bool(t._requires_grad))
        self._owners = {id(t._array): t for t in order}
        self._roots = {id(root(t._array)) for t in self.tensors}
        self._states = [_state_of(t) for t in self.tensors]
        self._kept = [(t._array, t._view) for t in self.tensors]  # so that ids stay unique
        self._gradients = {id(t): t._grad for t in self.tensors if t._grad is not None}
        counters = [(t._counter, t) for t in self.tensors if t._counter not in (None, INFERENCE)]
        self._counted = {id(counter): (counter, t) for counter, t in counters}
        self._versions = {key: counter.count for key, (counter, _) in self._counted.items()}
        self._recorded: collections.Counter[int] = collections.Counter()

    def __contains__(self, t: Tensor) -> bool:
        return id(t) in self._ids

    def owner(self, array: Any) -> Tensor | None:
        """Return the tensor that has an array."""
        return self._owners.get(id(array))

    def has_memory(self, array: Any) -> bool:
        """Return whether a tensor has the memory of an array."""
        return id(root(array)) in self._roots

    def gradients(self) -> dict[int, Tensor]:
        """Return the tensors with gradients, by the ids of the gradients' arrays."""
        return {id(t._grad._array): t for t in self.tensors if t._grad is not None}

    def shared(self, arguments: list[Tensor], read: set[int]) -> dict[int, Any]:
        """Return the arrays of arguments that the function may also get from outside.

        Args:
            arguments: the tensors that are passed.
            read: ids of the objects that the function reads.
        """
        times = collections.Counter(id(t._array) for t in self.tensors)
        return {
            place: t._array
            for place, t in enumerate(arguments)
            if (t._edge is None and requires_grad(t)) or times[id(t._array)] > 1 or id(t) in read
        }

    def relatives(self, arguments: list[Tensor], read: dict[int, Tensor]) -> list[Any]:
        """Return arguments, by their numbers, with a tensor that has their memory or versions.

        Args:
            arguments: the tensors that are passed.
            read: the tensors that the function may read otherwise, by their ids.

        Returns:
            (number, tensor, whether it has the memory); its versions otherwise.
        """
        memories = {id(root(t._array)): t for t in read.values()}
        counted = (t for t in read.values() if t._counter not in (None, INFERENCE))
        counters = {id(t._counter): t for t in counted}
        found = []
        for place, t in enumerate(arguments):
            found.append((place, memories.get(id(root(t._array))), True))
            found.append((place, counters.get(id(t._counter)), False))
        return [relative for relative in found if relative[1] is not None]

    def gradient_before(self, t: Tensor) -> Tensor | None:
        """Return the gradient that a tensor had before the call."""
        return self._gradients.get(id(t))

    # ---- what the call reads and writes -----------------------------------------------------

    def read_gradient(self, t: Tensor) -> None:
        """Note whether a tensor had a gradient before, and the one that is read."""
        if t in self:
            before = self._gradients.get(id(t))
            _, _, read = self.gradients_read.get(id(t), (t, True, None))
            read = before if t._grad is before else read
            self.gradients_read[id(t)] = t, before is not None, read

    def writes(self) -> list[int]:
        """Return the number of writes that are counted for each tensor."""
        return [0 if t._counter in (None, INFERENCE) else t._counter.count for t in self.tensors]

    def record_writes(self, before: list[int]) -> None:
        """Note that all writes since ``writes()`` are recorded."""
        made = {}  # several tensors may share a counter
        for t, earlier, now in zip(self.tensors, before, self.writes(), strict=True):
            if now != earlier:
                made[id(t._counter)] = t, now - earlier
        for key, (t, count) in made.items():
            self._counted.setdefault(key, (counter_of(t), t))
            self._recorded[key] += count

    def record_write(self, t: Tensor, memory: int) -> Tensor | None:
        """Note that a write is recorded; return the tensor that counts it, or None if it is new.

        Args:
            t: what was written to.
            memory: the id of the array that owns its memory.
        """
        key = id(t._counter)
        _, owner = self._counted.get(key, (None, None))
        if owner is None and memory in self._roots:  # its counter may be new
            owner = next((u for u in self.tensors if u._counter is t._counter), None)
            if owner is not None:
                self._counted[key] = counter_of(t), owner
        if owner is not None:
            self._recorded[key] += 1
        return owner

    def has_new_data(self, t: Tensor) -> bool:
        """Return whether the call has replaced the data of a tensor."""
        states = zip(self.tensors, self._states, strict=True)
        return any(u is t and state[0] != id(t._array) for u, state in states)

    def problems(self, passed: set[int]) -> Iterator[tuple[Tensor, CarryError]]:
        """Yield what was changed without a record, and how.

        Args:
            passed: the ids of the arguments of the program, whose data it may replace.
        """
        for t, before in zip(self.tensors, self._states, strict=True):
            for what, old, new in zip(_STATE, before, _state_of(t), strict=True):
                if old is new or old == new or (what == _STATE[0] and id(t) in passed):
                    continue
                reason = f"the function changes {what} of a tensor from outside"
                remedy = "do that outside of the function"
                yield t, CarryError(reason, remedy, [Data(t)] if what == _STATE[0] else ())
        for t in self.tensors:
            counter, key = t._counter, id(t._counter)
            if counter in (None, INFERENCE):
                continue
            if counter.count - self._versions.get(key, 0) != self._recorded[key]:
                yield (
                    t,
                    CarryError(
                        "a tensor from outside is changed by something that is not an operation",
                        "change it by operations, or outside of the function",
                    ),
                )


def _state_of(t: Tensor) -> tuple[Any, ...]:
    """Return what a program leaves as it is in a tensor."""
    node = t._edge[0] if t._edge else None
    hooks = [hooks_of(t._hooks), hooks_of(getattr(node, "hooks", None))]
    return id(t._array), t._edge, t._requires_grad, id(t._view), hooks


def hooks_of(hooks: Hooks | None) -> Any:
    """Return the hooks of a node or leaf."""
    if hooks is None:
        return None
    tensor = [[*of_one] for of_one in hooks.tensor.values()]
    return tensor, [*hooks.retained], [*hooks.pre], [*hooks.post], [*hooks.accumulated]


def require_alone(t: Tensor) -> None:
    """Raise CaptureError unless a new tensor has its memory and its count of writes to itself."""
    if t._counter is not None or t._view is not None:
        raise CaptureError(
            "a tensor that shares its memory, or was written to, is stored in another one",
            "store a clone of it",
        )
