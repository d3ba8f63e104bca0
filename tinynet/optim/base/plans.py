"""The fast path of a step: one update for all parameters of a group.

A step checks for each parameter that its values and its state have not been replaced. A ``Plan``
checks all of them at once (``plan_checks.py``). It also updates small parameters together: a dozen
operations on 64 numbers cost as much as on a thousand, because the calls dominate, not the
arithmetic. Their values, gradients and state are copied into contiguous memory, updated, and copied
back. Elementwise updates give bitwise the same numbers wherever an element is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import is_
from typing import Any

import numpy as np

from tinynet.core.callsite import COMPILED, execute
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.optim.base.groups import Group
from tinynet.optim.base.state_dicts import Rule, Slot

# ---- plan checks --------------------------------------------------------------------------------
# The checks of a plan as straight-line code, which takes a third of the time of loops.


Keep = Callable[[Any], str]  # returns a name for an object


def checks(plan: Plan, everyone: list[Tensor]) -> tuple[Any, Any]:
    """Return the checks of a plan.

    Args:
        plan: the plan.
        everyone: all parameters of the group; those that are not in the plan have no gradient.

    Returns:
        ``unchanged(params, state)``, whether values and state are still those of the plan, and
        ``gradients()``, the arrays of all gradients, or None if one is missing, sparse or of
        another shape, or another parameter has one.
    """
    objects: dict[str, Any] = {"dense": np.ndarray}

    def keep(thing: Any) -> str:
        name = f"k{len(objects)}"
        objects[name] = thing
        return name

    shapes = {id(p): slot.array.shape for p, slot in zip(plan.params, plan.slots, strict=True)}
    lines, tests, found = [], [], []
    for i, p in enumerate(everyone):
        lines.append(f"    g{i} = {keep(p)}._grad")
        if id(p) not in shapes:
            tests.append(f"g{i} is None")
            continue
        tests.append(f"g{i} is not None and (a{i} := g{i}._array).__class__ is dense")
        tests.append(f"a{i}.shape == {shapes[id(p)]!r}")
        found.append(f"a{i}, ")
    source = [
        "def unchanged(params, state):",
        f"    try: return {' and '.join(tests_of(plan, everyone, keep))}",
        "    except KeyError: return False",
        "def gradients():",
        *lines,
        f"    return ({''.join(found)}) if {' and '.join(tests)} else None",
    ]
    made = execute(f"{COMPILED} plan of a step", "\n".join(source) + "\n", objects)
    return made["unchanged"], made["gradients"]


def tests_of(plan: Plan, everyone: list[Tensor], keep: Keep) -> list[str]:
    """Return expressions in ``params`` and ``state``: all hold if nothing has been replaced."""
    tests = [f"len(params) == {len(everyone)}"]
    tests += [f"params[{i}] is {keep(p)}" for i, p in enumerate(everyone)]
    for p, slot in zip(plan.params, plan.slots, strict=True):
        tests += _tests_of_slot(keep(p), slot, keep)
    first, *others = [[keep(n) for n in slot.numbers.values()] for slot in plan.slots]
    tests += [
        f"{a}.item() == {b}.item()" for other in others for a, b in zip(first, other, strict=True)
    ]
    return tests


def _tests_of_slot(p: str, slot: Slot, keep: Keep) -> list[str]:
    held = keep(slot.held)
    tests = [f"{p}._array is {keep(slot.array)}", f"state.get({p}) is {held}"]
    if slot.held is None:
        return tests
    tests.append(f"len({held}) == {len(slot.held)}")
    for key, value in slot.held.items():
        tensor = keep(value)
        tests.append(f"{held}[{key!r}] is {tensor}")
        tests.append(f"{tensor}._array is {keep(value._array)}")
    return tests


# ---- plans --------------------------------------------------------------------------------------


TOGETHER = 32 * 1024  # maximum number of elements updated together


class Plan:
    """Parameters of a group that differ only in their values.

    Attributes:
        group: the group.
        params, slots: those of its parameters that take part, and the slot of each.
        names: the state of the parameter's shape.
        numbers: the 0-d state of the first, by name; equal for the others.
        kind: their dtype.
        collect: returns their gradients, or None if they are not as the plan expects.
    """

    __slots__ = (
        "_unchanged", "alone", "collect", "copies", "group", "kind", "names", "numbers", "packs",
        "params", "slots",
    )  # fmt: skip

    def __init__(
        self,
        group: Group,
        slots: list[Slot],
        params: Sequence[Tensor],
        scratch: int,
        together_from: int,
    ):
        self.group, self.params, self.slots = group, params, slots
        self._unchanged: Any = None  # written when first needed
        self.collect: Any = None
        self.names = slots[0].names
        self.kind = slots[0].array.dtype
        self.numbers = slots[0].numbers
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
        cls,
        group: Group,
        params: Sequence[Tensor],
        slots: list[Slot],
        scratch: int,
        together_from: int,
    ) -> Plan | None:
        """Return a plan for the next step; None if parameters must be checked individually.

        Args:
            group: the group.
            params: all parameters that take part in a step.
            slots: the slot of each.
            scratch: number of arrays the update may overwrite.
            together_from: minimum number of small parameters to update together.
        """
        state = chain.from_iterable((slot.held or {}).values() for slot in slots)
        alike = {slot.kind for slot in slots}
        if len(alike) > 1 or not all(isinstance(value, Tensor) for value in state):
            return None
        return cls(group, slots, params, scratch, together_from)

    def gradients(self, state: Any, names: tuple[str, ...]) -> tuple[Array, ...] | None:
        """Return the gradients of the parameters; None if the plan no longer fits the group.

        Args:
            state: the state of the optimizer.
            names: the entries of the parameter's shape that the options use.
        """
        return self.collect() if self.is_valid(state, names) else None

    def is_valid(self, state: Any, names: tuple[str, ...]) -> bool:
        """Return whether no values and no state were replaced since the plan was made."""
        if self._unchanged is None:
            if not self._is_repeated():
                return False
            self._unchanged, self.collect = checks(self, [*self.group["params"]])
        return names == self.names and self._unchanged(self.group["params"], state)

    def copy_numbers(self) -> None:
        """Copy the 0-d state of the first parameter to the others."""
        for mine, others in self.copies:
            value = mine.item()
            for one in others:
                one.fill(value)

    def _is_repeated(self) -> bool:
        """Return whether the same parameters have dense gradients again."""
        ready = [p for p in self.group["params"] if p._grad is not None]
        same = len(ready) == len(self.params) and all(map(is_, ready, self.params))
        return same and all(isinstance(p._grad._array, np.ndarray) for p in ready)

    def advance(self, after: dict[str, Any]) -> None:
        """Set the 0-d state to its values after a step."""
        for name, value in after.items():
            self.numbers[name][...] = value
        self.copy_numbers()

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
