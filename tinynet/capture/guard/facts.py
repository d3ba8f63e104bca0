"""What a function may ask of a tensor besides its values: each answer becomes a guard.

A guard is stated of the place where the tensor stood: an argument, or a tensor from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np

from tinynet.capture.guard.keys import form
from tinynet.capture.program import Handle, root
from tinynet.capture.record.outside import hooks_of
from tinynet.core.graph.gradients import retains_grad
from tinynet.core.graph.views import (
    base_of,
    grad_fn,
    output_number,
    requires_grad,
    set_requires_grad,
)
from tinynet.core.tensors.tensor import Tensor
from tinynet.ops.shaping.strided import memory_of

Fact = Callable[[Tensor], Any]


def gradient_form(t: Tensor) -> Any:
    """Return the form of a tensor's gradient, or None if it has none."""
    return form_of(t._grad)


def form_of(g: Tensor | None) -> Any:
    """Return the form of a gradient; the class of its array if that is a sparse one."""
    if g is None:
        return None
    return form(g) if type(g._array) is np.ndarray else type(g._array)


def history(t: Tensor) -> str | None:
    """Return the name of the node that made a tensor, or None for a leaf."""
    node = grad_fn(t)
    return None if node is None else node.name()


def state_of_view(t: Tensor) -> tuple[bool, str | None]:
    """Return whether a view requires grad, and the name of the node that made it."""
    return requires_grad(t), history(t)


def hooks(t: Tensor) -> Any:
    """Return the hooks of a leaf, which a backward pass inside of the function runs."""
    return hooks_of(t._hooks)


def place_in_memory(t: Tensor) -> tuple[int, int]:
    """Return the offset of a tensor in its storage and the size of the storage, in elements."""
    memory, offset = memory_of(t._array)
    return offset, memory.size


# By the code of the function that gives the answer; the tensor is its first argument.
ASKED: dict[CodeType, Fact] = {
    grad_fn.__code__: history,
    retains_grad.__code__: retains_grad,
    output_number.__code__: output_number,
    base_of.__code__: base_of,
    set_requires_grad.__code__: requires_grad,
    Tensor._is_view.__code__: base_of,
}
MEMORY = memory_of.__code__  # it gets an array


class Facts:
    """The answers that a function got about tensors that exist before the call.

    Args:
        arguments: what stands for each tensor that is passed to it, and the tensor.
    """

    def __init__(self, arguments: list[tuple[Handle, Tensor]]):
        self._arguments = arguments
        self._found: dict[tuple[int, Fact], tuple[Any, Fact, Any]] = {}

    def __iter__(self) -> Iterator[tuple[Any, Fact, Any]]:
        """Iterate over (handle or tensor, fact, answer)."""
        return iter(self._found.values())

    def note(self, holder: Handle | Tensor, fact: Fact, answer: Any) -> None:
        """Note the first answer about what stands for a tensor."""
        key = holder.place if isinstance(holder, Handle) else id(holder)
        self._found.setdefault((key, fact), (holder, fact, answer))

    def asked(self, t: Tensor, fact: Fact, holder: Any) -> None:
        """Note that the function asks for a fact about a tensor.

        Args:
            t: the tensor.
            fact: the fact.
            holder: what stands for the tensor in a program; None if the function made it.
        """
        if holder is not None:
            self.note(holder, fact, fact(t))
        elif fact is base_of:
            self.asked_of_memory(t._array, fact)

    def asked_of_memory(self, array: Any, fact: Fact = place_in_memory) -> None:
        """Note that the function asks for a fact about the arguments in some memory."""
        memory = root(array)
        for holder, t in self._arguments:
            if root(t._array) is memory:
                self.note(holder, fact, fact(t))
