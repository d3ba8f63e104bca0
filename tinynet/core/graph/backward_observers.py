"""Observers of backward passes, which see each pass node by node."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tinynet.core.trace import Channel


class BackwardObserver:
    """Base class of observers of the backward passes of their thread."""

    def began(self, backward_pass: Any) -> None:
        """Handle the start of a pass from its ``edges``; its ``order`` has the nodes in reach."""

    def visit(self, backward_pass: Any, node: Any, go: Callable[[Any], None]) -> None:
        """Visit a node by ``go(node)``; ``backward_pass.pending[node]`` is its gradient."""
        go(node)

    def computed(self, node: Any, g: Any, results: tuple[Any, ...]) -> None:
        """Handle the gradients that the formulas of a node computed from ``g``."""

    def ended(self, backward_pass: Any) -> None:
        """Handle the end of a pass, successful or not; leaves have their gradients."""


passes: Channel[BackwardObserver] = Channel()


def observing_backward(observer: BackwardObserver) -> AbstractContextManager[None]:
    """Notify ``observer`` of each backward pass of this thread, node by node."""
    return passes.heard_by(observer)


def run_observed(backward_pass: Any, run: Callable[[], None]) -> None:
    """Run a pass and notify the observers of its thread."""
    observers = backward_pass.observers = passes.here()
    for observer in observers:
        observer.began(backward_pass)
        visit = functools.partial(observer.visit, backward_pass, go=backward_pass._visit)
        backward_pass._visit = visit
    try:
        run()
    finally:
        backward_pass.__dict__.pop("_visit", None)  # it refers to the pass
        for observer in observers:
            observer.ended(backward_pass)
