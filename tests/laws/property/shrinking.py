"""Makes a failing program small: much faster than Hypothesis, which knows nothing of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .language import Step

SIMPLEST = {"quiet": False, "n": 0, "m": 0, "x": 0, "y": 0, "c": 0}


def smallest(program: Sequence[Step], fails: Callable[[list[Step]], bool]) -> list[Step]:
    """Return a program that still fails, but not without any of its steps.

    Args:
        program: the steps; steps can be left out of any program (see ``language``).
        fails: whether a program fails in the way that is looked for.
    """
    return _simplified(_without(list(program), fails), fails)


def _without(program: list[Step], fails: Callable[[list[Step]], bool]) -> list[Step]:
    """Leave out runs of steps: long ones first, single ones until none can go."""
    size = len(program) // 2
    while size:
        start, before = 0, len(program)
        while start < len(program):
            shorter = program[:start] + program[start + size :]
            if fails(shorter):
                program = shorter
            else:
                start += size
        if size > 1:
            size //= 2
        elif len(program) == before:
            break
    return program


def _simplified(program: list[Step], fails: Callable[[list[Step]], bool]) -> list[Step]:
    """Replace the numbers of steps by the simplest that still fail."""
    for place in range(len(program)):
        for field, value in SIMPLEST.items():
            simpler = [*program]
            simpler[place] = program[place]._replace(**{field: value})
            if simpler != program and fails(simpler):
                program = simpler
    return program
