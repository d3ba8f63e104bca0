"""Observers of backward passes, which see each pass node by node."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tinynet.core.trace import Channel


class BackwardObserver(Protocol):
    """An observer of the backward passes of its thread."""

    def began(self, backward_pass: Any) -> None:
        """Handle the start of a pass from its ``edges``; its ``order`` has the nodes in reach."""

    def visit(self, backward_pass: Any, node: Any, go: Callable[[Any], None]) -> None:
        """Visit a node by ``go(node)``; ``backward_pass.pending[node]`` is its gradient."""

    def ended(self, backward_pass: Any) -> None:
        """Handle the end of a pass, successful or not; leaves have their gradients."""


passes: Channel[BackwardObserver] = Channel()


def observing_backward(observer: BackwardObserver) -> AbstractContextManager[None]:
    """Notify ``observer`` of each backward pass of this thread, node by node."""
    return passes.heard_by(observer)


def run_observed(backward_pass: Any, run: Callable[[], None]) -> None:
    """Run a pass and notify the observers of its thread."""
    observers = passes.here()
    for observer in observers:
        observer.began(backward_pass)
        backward_pass.observed = True
        backward_pass._visit = _step(backward_pass, observer, backward_pass._visit)
    try:
        run()
    finally:
        backward_pass.__dict__.pop("_visit", None)  # it refers to the pass
        for observer in observers:
            observer.ended(backward_pass)


def _step(
    backward_pass: Any, observer: BackwardObserver, go: Callable[[Any], None]
) -> Callable[[Any], None]:
    return lambda node: observer.visit(backward_pass, node, go)
