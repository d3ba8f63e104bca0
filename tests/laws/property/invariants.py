"""What must be true of tinynet's tensors, whatever a program does; no other library is asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import no_grad

from .forms import FLAG, WRITE
from .language import Step, line_of
from .machine import Machine, Seen, Silent, memory_of


class BrokenError(AssertionError):
    """An invariant does not hold after a program."""


class Before:
    """The tensors of a machine before a line, and what could be seen of them."""

    def __init__(self, machine: Machine):
        self.tensors = machine.tensors()
        self.versions = {name: t._version for name, t in self.tensors.items()}
        self.look = machine.look()
        self.grads = {id(memory_root(t.grad._array)) for t in self.tensors.values() if has_grad(t)}


def has_grad(t: Any) -> bool:
    """Whether a tensor has a gradient."""
    return t._grad is not None


def memory_root(array: Any) -> Any:
    """The array that owns the memory."""
    while array.base is not None:
        array = array.base
    return array


def run(program: list[Step], library: Any) -> list[str]:
    """Run a program and check the invariants after each line; return the lines."""
    machine = Machine(library)
    lines: list[str] = []
    with Silent():
        for step in program:
            line = line_of(step, machine.known())
            if line is None:
                continue
            lines.append(line)
            before = Before(machine)
            error = machine.run(line)
            try:
                check(step, line, error, before, machine)
            except AssertionError as broken:
                raise BrokenError("\n".join([str(broken), "", *lines])) from None
    return lines


def check(step: Step, line: str, error: str, before: Before, machine: Machine) -> None:
    """Check the invariants after one line."""
    after = machine.tensors()
    aliases_share_one_version(after, ".data" in line or machine.names.setdefault("apart", False))
    machine.names["apart"] = machine.names["apart"] or ".data" in line
    for name, t in after.items():
        views_replay_their_chain(name, t, machine.names["apart"])
        if name in before.tensors and before.tensors[name] is t:
            assert t._version >= before.versions[name], f"the version of {name} fell"
    kept = {name for name, t in after.items() if before.tensors.get(name) is t}
    if error and step.form.family in (WRITE, FLAG):
        a_refused_line_changes_nothing(kept, before, machine)
    elif step.form.family == WRITE:
        target = line.removeprefix("with tn.no_grad(): ")[0]
        if "tn.mul" not in line:
            a_write_changes_its_aliases_only(target, kept, before, machine)
    elif step.form.family in ("new", "view", "op", "detach", "hook"):
        nothing_is_written(kept, before, machine)


def aliases_share_one_version(tensors: dict[str, Any], apart: bool) -> None:
    """Tensors of one memory have one counter, unless `.data` made another one on purpose."""
    counters: dict[int, Any] = {}
    for name, t in tensors.items():
        if not apart and t._array.size and t._counter is not None:
            first = counters.setdefault(memory_of(t), t._counter)
            assert first is t._counter, f"{name} shares memory, but not the version"


def views_replay_their_chain(name: str, t: Any, apart: bool) -> None:
    """A view is what its view operations make of its base, in the same memory."""
    view = t._view
    if view is None or apart:
        return
    made = view.base
    with no_grad():
        for op, args in view.steps():
            made = op.function(made, *args[1:])[args[0]] if op.many else op.function(made, *args)
    part = made._array
    assert np.array_equal(part, t._array, equal_nan=True), (
        f"{name} is not what its chain makes of its base"
    )
    assert memory_root(part) is memory_root(t._array), f"{name} is elsewhere than its base"


def a_refused_line_changes_nothing(kept: set[str], before: Before, machine: Machine) -> None:
    """An error is raised before anything is touched."""
    after = machine.look()
    for name in kept:
        for field, old, new in zip(Seen._fields, before.look[name], after[name], strict=True):
            assert old == new or old != old, (
                f"a refused line changed {name}.{field}: {old} -> {new}"
            )


def a_write_changes_its_aliases_only(
    target: str, kept: set[str], before: Before, machine: Machine
) -> None:
    """All tensors of the memory see one more version, the others see nothing."""
    after = machine.tensors()
    written = after[target]
    grown = written._version - before.versions[target]
    assert grown > 0, f"a write to {target} was not counted"
    look = machine.look()
    for name in kept:
        t = after[name]
        if t._counter is written._counter:
            assert t._version - before.versions[name] == grown, f"{name} missed a write"
        elif memory_of(t) != memory_of(written):
            same = before.look[name].values == look[name].values
            assert same or nan(look[name]), f"a write to {target} changed {name}"
            assert t._version == before.versions[name], f"a write to {target} counted for {name}"


def nothing_is_written(kept: set[str], before: Before, machine: Machine) -> None:
    """Other lines leave values and versions as they are."""
    look = machine.look()
    for name in kept:
        same = before.look[name].values == look[name].values
        assert same or nan(look[name]), f"{name} changed without a write"
        assert machine.names[name]._version == before.versions[name], f"{name} was counted"


def nan(seen: Seen) -> bool:
    """Whether there is a NaN among the values."""
    return any(v != v for v in seen.values)
