"""Guards: the conditions under which a program does what the function would do."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tinynet.autograd.graph import waiting
from tinynet.capture.guard.facts import state_of_view
from tinynet.capture.guard.holdings import (
    ABSENT,
    alike,
    bases_of,
    is_a,
    is_direct,
    is_empty,
    is_simple,
    module_of,
    name_of,
    namespace_of,
    of_class,
    unchanged,
    value_of,
)
from tinynet.capture.guard.keys import form
from tinynet.capture.guard.reach import Names
from tinynet.capture.guard.reads import STEADY, Reads
from tinynet.capture.program import Program, root
from tinynet.capture.record.capturing import Captured
from tinynet.capture.record.stores import Data
from tinynet.capture.source import Source
from tinynet.core.graph.engine import passes
from tinynet.core.graph.saved_hooks import Keeper
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import VIEW, Tensor
from tinynet.core.trace import observable, observers
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import attributes


def is_observed() -> bool:
    """Return whether something follows each operation of this thread, which a program omits."""
    return bool(
        (observers and _hears(observers))
        or (passes.listeners and _hears(passes.listeners))
        or isinstance(mode.on, Keeper)
        or observable._before is not None
        or waiting
    )


def observation() -> str:
    """Return what ``is_observed`` found, for people."""
    if isinstance(mode.on, Keeper):
        return "hooks pack saved tensors"
    if waiting:
        return "hooks on the gradients of several tensors wait for a backward pass"
    if observable._before is not None:
        return "vmap runs, or a graph that it made lives"
    return "an observer follows each operation, such as a profiler or anomaly mode"


def _hears(listeners: list[tuple[int, Any]]) -> bool:
    """Return whether one of some listeners belongs to this thread."""
    return any(thread == mode.thread for thread, _ in [*listeners])


class Condition(NamedTuple):
    """Something that was true at the capture, and must be for a replay.

    Attributes:
        text: an expression.
        subject: what it is about, for people.
        was: the value at the capture.
    """

    text: str
    subject: str
    was: Any = ABSENT

    @property
    def words(self) -> str:
        """The subject, and its value at the capture if that is a simple one."""
        return f"{self.subject} was {self.was!r:.60}" if is_simple(self.was) else self.subject

    def holds(self, namespace: dict[str, Any]) -> bool:
        """Return whether it is true."""
        try:
            return bool(eval(self.text, namespace))
        except Exception:  # the code of users may raise any
            return False


def conditions(source: Source, captured: Captured, tensors: list[Tensor]) -> list[Condition]:
    """Return the conditions that were true at the capture."""
    found = _of_arguments(source, captured)
    for t in tensors:
        found += _of_tensor(source, t)
    for t, present, read in captured.gradients_read:
        text = f"{source.constant(t)}._grad is {'not ' * present}None"
        if read is not None:
            text = f"{source.constant(t)}._grad is {source.constant(read)}"
        found.append(Condition(text, f"the gradient of a {type(t).__name__} {list(t.shape)}"))
    for holder, fact, answer in captured.facts:
        place, equals = source.text(holder), "is" if isinstance(answer, Tensor) else "=="
        text = f"{source.keep(fact)}({place}) {equals} {source.keep(answer)}"
        found.append(Condition(text, f"the {fact.__name__.replace('_', ' ')} of {place}"))
    found += _of_stores(source, captured) + _apart(source, captured.program)
    watcher = captured.watcher
    source.namespace.update(alike=alike, unchanged=unchanged, is_empty=is_empty)
    source.namespace.update(namespace_of=namespace_of, value_of=value_of, bases_of=bases_of)
    source.namespace.update(attributes=attributes, root=root)
    source.namespace.update(of_class=of_class, ABSENT=ABSENT)
    source.namespace["cache_token"] = abc.get_cache_token
    used = {id(t) for t in tensors}
    for t in watcher.reads.tensors.values():
        if id(t) not in used:
            found += _of_tensor(source, t)
    found += _calls(source, captured.program) + _others_than(source, captured)
    owners = {id(attributes(module)): type(module).__name__ for module in watcher.modules}
    return found + _names(source, watcher.reads, owners) + _others(source, watcher.reads)


def _of_arguments(source: Source, captured: Captured) -> list[Condition]:
    """Return the conditions on what arguments have in common with what the function reads."""
    found = []
    for i, array in captured.fixed.items():
        found.append(Condition(f"A{i}._array is {source.keep(array)}", f"argument {i}"))
    for i, t in captured.held:
        if i not in captured.fixed:
            text = f"A{i} is {source.constant(t)}"
            found.append(Condition(text, f"argument {i} is a tensor that the function reads"))
    for i, t, in_memory in captured.relatives:
        text = f"A{i}._counter is {source.constant(t)}._counter"
        if in_memory:
            text = f"root(A{i}._array) is root({source.constant(t)}._array)"
        what = "memory" if in_memory else "versions"
        found.append(Condition(text, f"argument {i} shares {what} with a tensor from outside"))
    return found


def _of_stores(source: Source, captured: Captured) -> list[Condition]:
    """Return the conditions on the attributes that the function sets."""
    found = []
    for store in (*captured.stores, *captured.idle):
        if is_a(store, Data):
            continue  # the form of an argument is a part of the key
        place = f"value_of({source.constant(store.module)}, {store.name!r})"
        text = f"type({place}) is {source.constant(Tensor)}"
        if store.looks:
            text += f" and {source.keep(form)}({place}) == {source.keep(store.before)}"
        if store in captured.idle:
            text = f"alike({place}, {source.keep(store.before)})"
        found.append(Condition(text, f"{type(store.module).__name__}.{store.name}"))
    return found


def later_conditions(source: Source, captured: Captured) -> list[Condition]:
    """Return the conditions on what the user's code reads in the backward pass.

    They are checked before a replay, and again before its backward pass.
    """
    reads = captured.later
    if reads is None:
        return []
    found: list[Condition] = []
    for names in reads.names.values():
        found += [c for c in _values(source, names, names.title) if not is_a(c.was, STEADY)]
    return found


def _of_tensor(source: Source, t: Tensor) -> list[Condition]:
    """Return the conditions on a tensor from outside."""
    name, words = source.constant(t), f"a {type(t).__name__} {list(t.shape)}"
    array, flag = source.constant(t._array), t._requires_grad
    found = [Condition(f"{name}._array is {array}", f"the array of {words}", t._array)]
    text = f"{name}._requires_grad is {source.keep(flag)}"
    if flag is VIEW:
        flag = state_of_view(t)
        text = f"{source.keep(state_of_view)}({name}) == {flag!r}"
    elif flag and t._edge is None:
        text += f" and {name}._edge is None"
    return [*found, Condition(text, f"requires_grad of {words}", flag)]


def _calls(source: Source, program: Program) -> list[Condition]:
    """Return the conditions that objects have the methods that the program calls."""
    found = {}
    for call in program.calls:
        thing = call.args[0] if call.kind == "perform" and call.args else None
        kind, name = type(thing), getattr(call.function, "__name__", "")
        if module_of(kind) != "builtins" and of_class(kind, name) is not ABSENT:
            text = f"type({source.constant(thing)}) is {source.constant(kind)}"
            text += f" and {source.constant(kind)}.{name} is {source.keep(getattr(kind, name))}"
            found[id(thing), name] = Condition(text, f"{name_of(kind)}.{name}")
    return [*found.values()]


def _others_than(source: Source, captured: Captured) -> list[Condition]:
    """Return the conditions that no argument is a tensor that the code may read otherwise."""
    places = {*range(len(captured.program.arguments))} - captured.fixed.keys()
    known = frozenset(captured.watcher.reads.tensors)  # their ids; the program keeps them
    held = source.keep(known)
    words = "an argument is none of the tensors from outside"
    return [Condition(f"id(A{i}) not in {held}", words) for i in sorted(places) if known]


def _apart(source: Source, program: Program) -> list[Condition]:
    """Return the conditions that arguments share no memory with tensors from outside that they
    meet in a write: an operation refuses to write to a part of what it reads."""
    source.namespace["overlap"] = np.may_share_memory
    places = {v.memory: f"A{i}._array" for i, v in enumerate(program.arguments)}
    states = {v.memory: source.constant(t._array) for t, v in program.states}
    found = {}
    for call in program.calls:
        if call.kind == "write":
            met = {v.memory for v in call.inputs()}
            for a in met & places.keys():
                for b in (met & states.keys()) - {a}:
                    text = f"not overlap({places[a]}, {states[b]})"
                    found[text] = Condition(text, "an argument is apart from what is written")
    return [*found.values()]


def _names(source: Source, reads: Reads, owners: dict[int, str]) -> list[Condition]:
    """Return the conditions on attributes of objects, classes and modules."""
    found: list[Condition] = []
    for names in reads.names.values():
        held = source.constant(names.held)
        owner = owners.get(id(names.held), names.title)
        found += _values(source, names, owner)
        if names.owner is not None:
            text = f"{source.constant(names.owner)}.__dict__ is {held}"
            if is_a(names.owner, Module):
                text = f"attributes({source.constant(names.owner)}) is {held}"
            elif not is_direct(names.owner, "__dict__"):
                text = f"namespace_of({source.constant(names.owner)}) is {held}"
            found.append(Condition(text, f"the namespace of {owner}"))
        if names.order is not None:
            text = f"[*{held}] == {source.keep(names.order)}"
            found.append(Condition(text, f"the names in {owner}"))
        elif names.size is not None:
            text = f"len({held}) == {names.size}"
            if names.last is not None:
                text += f" and next(reversed({held})) == {names.last!r}"
            found.append(Condition(text, f"the number of attributes of {owner}"))
        if names.missing:
            missing = source.constant(frozenset(names.missing))
            text = f"{missing}.isdisjoint({held})"
            found.append(Condition(text, f"{owner} had no {', '.join(sorted(names.missing))}"))
    return found


def _values(source: Source, names: Names, owner: str) -> Iterator[Condition]:
    """Yield the conditions on the values of names."""
    held = source.constant(names.held)
    for key, value in names.values.items():
        text = _condition(source, f"{held}[{key!r}]", value)
        yield Condition(text, f"{owner}.{key}", value)


def _others(source: Source, reads: Reads) -> list[Condition]:
    """Return the conditions on outer variables, classes, containers, and attributes elsewhere."""
    found = []
    for cell, value in reads.cells.values():
        text = _condition(source, f"{source.constant(cell)}.cell_contents", value)
        if value is ABSENT:
            text = f"is_empty({source.constant(cell)})"
        found.append(Condition(text, "an outer variable", value))
    for thing, name, value in reads.attributes.values():
        place = f"{source.constant(thing)}.{name}"
        if value is ABSENT or not is_direct(thing, name):
            place = f"value_of({source.constant(thing)}, {name!r})"
        text = _condition(source, place, value)
        found.append(Condition(text, f"{name_of(type(thing))}.{name}", value))
    for thing, kind in reads.kinds.values():
        text = f"type({source.constant(thing)}) is {source.constant(kind)}"
        found.append(Condition(text, f"the class of a {name_of(kind)}"))
    for kind, name in reads.lacking.values():
        text = f"of_class({source.constant(kind)}, {name!r}) is ABSENT"
        found.append(Condition(text, f"{name_of(kind)} had no {name}"))
    for kind, order in reads.orders.values():
        bases = f"{source.constant(kind)}.__mro__"
        if not is_direct(kind, "__mro__"):
            bases = f"bases_of({source.constant(kind)})"
        text = f"{bases} is {source.constant(order)}"
        found.append(Condition(text, f"the base classes of {name_of(kind)}"))
    for reference, alive in reads.references.values():
        text = f"{source.constant(reference)}() is {'not ' * alive}None"
        found.append(Condition(text, "a weak reference"))
    for container, items in reads.containers.values():
        text = f"unchanged({source.constant(container)}, {source.constant(items)})"
        found.append(Condition(text, f"the contents of a {type(container).__name__}"))
    if reads.registered is not None:
        text = f"cache_token() == {source.constant(reads.registered)}"
        found.append(Condition(text, "the registrations of abstract classes"))
    return found


def _condition(source: Source, text: str, value: Any) -> str:
    if value is None or value is True or value is False:
        return f"{text} is {value}"
    constant = source.keep(value)
    same = f"{text} is {constant}"
    return f"({same} or alike({text}, {constant}))" if is_simple(value) else same
