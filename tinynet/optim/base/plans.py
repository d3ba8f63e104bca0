"""The fast path of a step: one update for all parameters of a group.

A step checks for each parameter that its values and its state have not been replaced. A ``Plan``
checks all of them at once. It also updates small parameters together: a dozen operations on 64
numbers cost as much as on a thousand, because the calls dominate, not the arithmetic. Their values,
gradients and state are copied into contiguous memory, updated, and copied back. Elementwise updates
give bitwise the same numbers wherever an element is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter, is_
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.optim.base.parameter_state import Rule, Slot

TOGETHER = 32 * 1024  # maximum number of elements updated together
_array, _shape = attrgetter("_array"), attrgetter("shape")
_DENSE = {np.ndarray}


class Plan:
    """Parameters of a group that differ only in their values.

    Attributes:
        numbers: the 0-d state of the first, by name; equal for the others.
        kind: their dtype.
    """

    __slots__ = (
        "alone", "arrays", "copies", "held", "kind", "names", "numbers", "others", "packs",
        "params", "shapes", "slots", "state", "tensors",
    )  # fmt: skip

    def __init__(
        self, slots: list[Slot], params: Sequence[Tensor], scratch: int, together_from: int
    ):
        self.params = params
        self.slots = slots
        self.names = slots[0].names
        self.arrays = [slot.array for slot in slots]
        self.shapes = [array.shape for array in self.arrays]
        self.kind = self.arrays[0].dtype
        self.held = [slot.held for slot in slots]
        self.tensors = [t for held in self.held for t in (held or {}).values()]
        self.state = [t._array for t in self.tensors]
        self.numbers = slots[0].numbers
        self.others = [[*slot.numbers.values()] for slot in slots[1:]]
        self.copies = [
            (mine, [s.numbers[n] for s in slots[1:]]) for n, mine in self.numbers.items()
        ]
        together = [i for i, slot in enumerate(slots) if slot.is_small]
        cuts = _cut([slots[i].array.size for i in together], together_from)
        self.packs = [
            Pack([slots[i] for i in together[cut]], together[cut], scratch) for cut in cuts
        ]
        packed = set(chain.from_iterable(pack.places for pack in self.packs))
        self.alone = [(i, slot) for i, slot in enumerate(slots) if i not in packed]

    @classmethod
    def of(
        cls, params: Sequence[Tensor], slots: list[Slot], scratch: int, together_from: int
    ) -> Plan | None:
        """Return a plan for the next step; None if parameters must be checked individually.

        Args:
            params: all parameters that take part in a step.
            slots: the slot of each.
            scratch: number of arrays the update may overwrite.
            together_from: minimum number of small parameters to update together.
        """
        state = chain.from_iterable((slot.held or {}).values() for slot in slots)
        alike = {slot.kind for slot in slots}
        if len(alike) > 1 or not all(isinstance(value, Tensor) for value in state):
            return None
        return cls(slots, params, scratch, together_from)

    def fits(self, params: Any, grads: Any, state: Any, names: tuple[str, ...]) -> bool:
        """Return whether nothing was replaced since the last step, and the plan applies."""
        held = self.held
        if len(params) != len(self.params) or not all(map(is_, params, self.params)):
            return False
        if names != self.names or {*map(type, grads)} != _DENSE:
            return False
        if not all(map(is_, map(_array, params), self.arrays)):
            return False
        if not all(map(is_, map(state.get, params), held)) or [*map(_shape, grads)] != self.shapes:
            return False
        if self.tensors:
            now = [*chain.from_iterable(map(dict.values, held))]  # type: ignore[arg-type]
            if len(now) != len(self.tensors) or not all(map(is_, now, self.tensors)):
                return False
            if not all(map(is_, map(_array, now), self.state)):
                return False
        mine = [*self.numbers.values()]
        return not mine or all(other == mine for other in self.others)

    def copy_numbers(self) -> None:
        """Copy the 0-d state of the first parameter to the others."""
        for mine, others in self.copies:
            value = mine.item()
            for one in others:
                one.fill(value)

    def run(self, block: Rule, grads: Any) -> None:
        """Update the parameters; ``numbers`` have already been advanced."""
        self.copy_numbers()
        for pack in self.packs:
            pack.run(block, grads)
        for i, slot in self.alone:
            slot.run(block, grads[i])


class Pack:
    """Several small parameters, with contiguous memory for all of them.

    Args:
        slots: the parameters.
        places: the number of each in its group.
        scratch: number of arrays the update may overwrite.
    """

    __slots__ = ("own", "parts", "places", "rest", "theirs")

    def __init__(self, slots: list[Slot], places: list[int], scratch: int):
        self.places = places
        each = [(slot.array, *slot.buffers) for slot in slots]
        self.theirs = [[a.reshape(-1) for a in arrays] for arrays in zip(*each, strict=True)]
        size, kind = sum(slot.array.size for slot in slots), slots[0].array.dtype
        self.own = [np.empty(size, kind) for _ in self.theirs]
        ends = np.cumsum([slot.array.size for slot in slots]).tolist()
        cuts = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]
        self.parts = [
            (their, own[cut])
            for theirs, own in zip(self.theirs, self.own, strict=True)
            for their, cut in zip(theirs, cuts, strict=True)
        ]
        grad, *work = [np.empty(size, kind) for _ in range(scratch + 1)]
        self.rest = (grad, *work, *self.own[1:])

    def run(self, block: Rule, grads: Any) -> None:
        """Update the parameters."""
        for theirs, own in zip(self.theirs, self.own, strict=True):
            np.concatenate(theirs, out=own)
        np.concatenate([grads[i].reshape(-1) for i in self.places], out=self.rest[0])
        block(self.own[0], *self.rest)
        for their, part in self.parts:
            their[...] = part


def _cut(sizes: list[int], together_from: int) -> list[slice]:
    """Return slices that split small parameters into packs; too few form none."""
    cuts, start, room = [], 0, TOGETHER
    for i, size in enumerate(sizes):
        if size > room:
            cuts.append(slice(start, i))
            start, room = i, TOGETHER
        room -= size
    cuts.append(slice(start, len(sizes)))
    return [cut for cut in cuts if cut.stop - cut.start >= together_from]
