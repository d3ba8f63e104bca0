"""Seeing every backward pass, node by node, at no cost while nobody looks.

As in `core/observe.py` nothing is checked per call: observing swaps the function that runs a pass
for one that reports, and puts it back.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from tinynet.core.engine import Task


class Witness(Protocol):
    """What is told of the passes of its thread."""

    def began(self, task: Task) -> None:
        """A pass begins: ``task.edges`` are its ends, ``task.order`` what it may visit."""

    def visit(self, task: Task, node: Any, go: Callable[[Any], None]) -> None:
        """A node's turn has come: call ``go(node)``. What has arrived is ``task.pending[node]``."""

    def ended(self, task: Task) -> None:
        """A pass has ended, well or not; leaves have their gradients."""


_witnesses: list[tuple[int, Witness]] = []
_lock = threading.Lock()
_run = Task.run


def _reporting_run(task: Task) -> None:
    me = threading.get_ident()
    watching = [witness for thread, witness in _witnesses if thread == me]
    for witness in watching:
        witness.began(task)
        task.watched = True
        task._visit = _step(task, witness, task._visit)  # type: ignore[assignment, method-assign]
    try:
        _run(task)
    finally:
        task.__dict__.pop("_visit", None)  # it refers to the task
        for witness in watching:
            witness.ended(task)


def _step(task: Task, witness: Witness, go: Callable[[Any], None]) -> Callable[[Any], None]:
    return lambda node: witness.visit(task, node, go)


@contextlib.contextmanager
def observing_backward(witness: Witness) -> Iterator[None]:
    """Tell ``witness`` of each backward pass of this thread, and let it go along node by node."""
    entry = (threading.get_ident(), witness)
    with _lock:
        _witnesses.append(entry)
        Task.run = _reporting_run  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        with _lock:
            _witnesses.remove(entry)
            if not _witnesses:
                Task.run = _run  # type: ignore[method-assign]
