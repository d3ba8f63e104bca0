"""Guards: the conditions under which a program does what the function would do."""

from __future__ import annotations

from typing import Any

from tinynet.capture.source import Source
from tinynet.capture.watcher import Watcher, is_simple
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


def modes() -> tuple[Any, ...]:
    """Return the modes of the thread that operations depend on."""
    return bool(mode.grad), mode.inference, mode.autocast


def form(t: Tensor) -> tuple[Any, ...]:
    """Return what a program depends on in a tensor that is passed to it."""
    array = t._array
    return array.shape, array.dtype, array.strides, bool(t._requires_grad)


def conditions(source: Source, watcher: Watcher, tensors: list[Tensor]) -> list[str]:
    """Return an expression for each condition that was true at the capture."""
    found = []
    for t in tensors:
        name = source.constant(t)
        array, flag = source.constant(t._array), source.constant(t._requires_grad)
        found.append(f"{name}._array is {array}")
        found.append(f"{name}._requires_grad is {flag}")
    for held, names in watcher.dictionaries.values():
        for key, value in names.items():
            found.append(_condition(source, f"{source.constant(held)}[{key!r}]", value))
    for cell, value in watcher.cells.values():
        found.append(_condition(source, f"{source.constant(cell)}.cell_contents", value))
    return found


def _condition(source: Source, text: str, value: Any) -> str:
    if value is None or value is True or value is False:
        return f"{text} is {value}"
    return f"{text} {'==' if is_simple(value) else 'is'} {source.constant(value)}"
