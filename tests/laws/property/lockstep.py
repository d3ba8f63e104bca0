"""Runs a program under two libraries at once and says where they part."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .departures import forgiven
from .language import Step, line_of
from .machine import HEADER, Machine, Silent, close, difference

CLOSING = "{}.sum().backward(retain_graph=True)"  # at the end, for each register


class PartedError(AssertionError):
    """The two libraries answered differently.

    Attributes:
        kind: what differs, without numbers, so that a smaller program can be told to show the same.
    """

    def __init__(self, lines: list[str], what: str):
        program = "\n".join([HEADER.format(library="torch"), *lines])
        super().__init__(f"{what}\n\n{program}\n")
        self.lines, self.what = lines, what
        self.kind = re.sub(r"[\d.]+", "0", what.partition(":")[0])[1:]
        if what.startswith("error"):
            self.kind = re.sub(r"[\d.]+", "0", what[:80])


def run(program: Iterable[Step], mine: Any, theirs: Any, watch: bool) -> list[str]:
    """Run a program under both libraries.

    Args:
        program: the steps.
        mine, theirs: the libraries.
        watch: compare everything after each line; otherwise until the end only what can be seen
            without bringing a view's grad_fn up to date.

    Returns:
        The lines that ran.

    Raises:
        PartedError: they differ.
    """
    a, b = Machine(mine), Machine(theirs)
    lines: list[str] = []
    with Silent():
        for step in program:
            line = line_of(step, b.known())
            if line is not None and not one(line, a, b, lines, watch):
                return lines
        for name, t in b.tensors().items():
            if t.requires_grad and not one(CLOSING.format(name), a, b, lines, True):
                return lines
    return lines


def one(line: str, a: Machine, b: Machine, lines: list[str], watch: bool) -> bool:
    """Run one line under both and compare; return False if the program is over."""
    lines.append(line)
    mine, theirs = a.run(line), b.run(line)
    if forgiven(mine, theirs):
        return False
    if mine.partition(":")[0] != theirs.partition(":")[0]:
        raise PartedError(lines, f"error: {mine or 'none'} here, {theirs or 'none'} in PyTorch")
    if not close(a.seen, b.seen):
        raise PartedError(lines, f"hooks saw: {a.seen} here, {b.seen} in PyTorch")
    try:
        answer = b.look()  # every time: PyTorch forgets to bring views up to date
    except RuntimeError as error:
        if forgiven(mine, f"RuntimeError: {error}"):
            return False
        raise
    found = difference(a.look() if watch else a.glance(), answer)
    if found:
        raise PartedError(lines, found)
    return same_layout(a, b)


def same_layout(a: Machine, b: Machine) -> bool:
    """Whether the same tensors are contiguous; if not, the program is over.

    Which results of operations are contiguous is not promised, but decides which reshapes copy.
    """
    mine, theirs = a.known(), b.known()
    return all(facts.contiguous == theirs[name].contiguous for name, facts in mine.items())
