"""Guards: the conditions under which a program does what the function would do."""

from __future__ import annotations

from typing import Any, NamedTuple

from tinynet.capture.capturing import Captured
from tinynet.capture.reads import ABSENT, alike, is_simple, unchanged
from tinynet.capture.source import Source
from tinynet.core.declaration.observers import observable, observers
from tinynet.core.graph.backward_observers import passes
from tinynet.core.graph.saved_hooks import Keeper
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor


def is_observed() -> bool:
    """Return whether something follows each operation of this thread, which a program omits."""
    return bool(
        observers
        or passes.listeners
        or isinstance(mode.on, Keeper)
        or observable._before is not None
    )


class Condition(NamedTuple):
    """Something that was true at the capture, and must be for a replay.

    Attributes:
        text: an expression.
        subject: what it is about, for people.
        was: the value at the capture.
    """

    text: str
    subject: str
    was: Any = None

    @property
    def words(self) -> str:
        """The subject, and its value at the capture if that is a simple one."""
        return f"{self.subject} was {self.was!r:.60}" if is_simple(self.was) else self.subject

    def holds(self, namespace: dict[str, Any]) -> bool:
        """Return whether it is true."""
        try:
            return bool(eval(self.text, namespace))
        except (KeyError, ValueError, AttributeError, NameError):
            return False


def conditions(source: Source, captured: Captured, tensors: list[Tensor]) -> list[Condition]:
    """Return the conditions that were true at the capture."""
    found = [
        Condition(f"A{i}._array is {source.keep(array)}", f"argument {i}")
        for i, array in captured.fixed.items()
    ]
    for t in tensors:
        name, words = source.constant(t), f"a {type(t).__name__} {list(t.shape)}"
        array, flag = source.constant(t._array), source.constant(t._requires_grad)
        found.append(Condition(f"{name}._array is {array}", f"the array of {words}", t._array))
        subject = f"requires_grad of {words}"
        found.append(Condition(f"{name}._requires_grad is {flag}", subject, t._requires_grad))
    for t, present, read in captured.gradients_read:
        text = f"{source.constant(t)}._grad is {'not ' * present}None"
        if read is not None:
            text = f"{source.constant(t)}._grad is {source.constant(read)}"
        found.append(Condition(text, f"the gradient of a {type(t).__name__} {list(t.shape)}"))
    watcher = captured.watcher
    reads = watcher.reads
    source.namespace.update(alike=alike, unchanged=unchanged)
    owners = {id(module.__dict__): type(module).__name__ for module in watcher.modules}
    for held, names in reads.dictionaries.values():
        owner = owners.get(id(held)) or held.get("__name__") or "an object"
        for key, value in names.items():
            if value is ABSENT:
                text = f"{key!r} not in {source.constant(held)}"
            else:
                text = _condition(source, f"{source.constant(held)}[{key!r}]", value)
            found.append(Condition(text, f"{owner}.{key}", value))
    for cell, value in reads.cells.values():
        text = _condition(source, f"{source.constant(cell)}.cell_contents", value)
        found.append(Condition(text, "an outer variable", value))
    for thing, name, value in reads.attributes.values():
        text = _condition(source, f"{source.constant(thing)}.{name}", value)
        found.append(Condition(text, f"{type(thing).__name__}.{name}", value))
    for container, items in reads.containers.values():
        text = f"unchanged({source.constant(container)}, {source.constant(items)})"
        found.append(Condition(text, f"the contents of a {type(container).__name__}"))
    return found


def _condition(source: Source, text: str, value: Any) -> str:
    if value is None or value is True or value is False:
        return f"{text} is {value}"
    constant = source.keep(value)
    same = f"{text} is {constant}"
    return f"({same} or alike({text}, {constant}))" if is_simple(value) else same
