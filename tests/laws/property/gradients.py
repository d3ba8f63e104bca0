"""The gradients of a program, by backward in its two forms and by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from .language import REGISTERS, Step, line_of
from .machine import Machine, Silent

EPS = 1e-5


class IllegalError(Exception):
    """The program cannot be differentiated: tinynet says so."""


def lines_of(program: list[Step], library: Any) -> list[str]:
    """Return the lines of a program that run without an error."""
    machine = Machine(library)
    lines = []
    with Silent():
        for step in program:
            line = line_of(step, machine.known())
            if line is not None and not machine.run(line):
                lines.append(line)
    machine.forget()
    return lines


def replay(lines: list[str], library: Any, moved: tuple[int, int, float] | None = None) -> Any:
    """Run lines again.

    Args:
        lines: they raise no error.
        library: tinynet.
        moved: which leaf, which of its elements, and by how much to move it.

    Returns:
        The leaves that the lines made, and a scalar made of all registers.
    """
    machine, leaves = Machine(library), []
    for line in lines:
        error = machine.run(line)
        assert not error, (line, error)
        if "requires_grad=True" in line:
            leaf = machine.names[line[0]]
            if moved is not None and moved[0] == len(leaves):
                leaf._array.reshape(-1)[moved[1]] += moved[2]
            leaves.append(leaf)
    return leaves, weighted([machine.names[n] for n in REGISTERS if n in machine.names], library)


def weighted(tensors: list[Any], library: Any) -> Any:
    """Return a scalar that depends on each element of the tensors in another way."""
    total = library.zeros((), dtype=library.float64)
    for number, t in enumerate(tensors):
        weights = np.cos(np.arange(t.numel()) + number).reshape(tuple(t.shape))
        total = total + (t.tanh() * library.tensor(weights, dtype=library.float64)).sum()
    return total


def backward(lines: list[str], library: Any, create_graph: bool) -> list[Any]:
    """Return the gradients of the leaves that are still leaves."""
    with Silent():
        try:
            leaves, total = replay(lines, library)
            if not total.requires_grad:
                raise IllegalError
            total.backward(create_graph=create_graph)
        except RuntimeError as error:  # a saved value was written, a leaf was moved
            raise IllegalError from error
        return [None if leaf.grad is None else np.array(leaf.grad.detach()) for leaf in leaves]


def differences(lines: list[str], library: Any) -> list[Any]:
    """Return the gradients of the leaves by central differences."""
    with Silent():
        found = []
        for number, leaf in enumerate(replay(lines, library)[0]):
            slopes = []
            for element in range(leaf.numel()):
                above = replay(lines, library, (number, element, EPS))[1].item()
                below = replay(lines, library, (number, element, -EPS))[1].item()
                slopes.append((above - below) / (2 * EPS))
            found.append(np.array(slopes))
        return found
