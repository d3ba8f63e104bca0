"""Seeing every backward pass, node by node."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tinynet.core.trace import Channel


class Witness(Protocol):
    """Hears of the backward passes of its thread."""

    def began(self, task: Any) -> None:
        """A pass begins: ``task.edges`` are its ends, ``task.order`` what it may visit."""

    def visit(self, task: Any, node: Any, go: Callable[[Any], None]) -> None:
        """A node's turn has come: call ``go(node)``. What has arrived is ``task.pending[node]``."""

    def ended(self, task: Any) -> None:
        """A pass has ended, well or not; leaves have their gradients."""


passes: Channel[Witness] = Channel()


def observing_backward(witness: Witness) -> AbstractContextManager[None]:
    """Let ``witness`` hear of each backward pass of this thread, and go along node by node."""
    return passes.heard_by(witness)


def witnessed(task: Any, run: Callable[[], None]) -> None:
    """Run a pass before the witnesses of its thread."""
    watching = passes.here()
    for witness in watching:
        witness.began(task)
        task.watched = True
        task._visit = _step(task, witness, task._visit)
    try:
        run()
    finally:
        task.__dict__.pop("_visit", None)  # it refers to the task
        for witness in watching:
            witness.ended(task)


def _step(task: Any, witness: Witness, go: Callable[[Any], None]) -> Callable[[Any], None]:
    return lambda node: witness.visit(task, node, go)
