"""The checks of a plan as straight-line code, which takes a third of the time of loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tinynet.core.callsite import COMPILED, execute
from tinynet.core.tensors.tensor import Tensor
from tinynet.optim.base.parameter_state import Slot

if TYPE_CHECKING:
    from tinynet.optim.base.plans import Plan

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
