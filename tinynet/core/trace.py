"""The trace bus: channels that report events to recorders and profilers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from tinynet.core.modes import mode

Listener = TypeVar("Listener")


class Channel(Generic[Listener]):
    """Events of one kind. A listener receives the events of the thread that registered it.

    Args:
        changed: called after the first listener is added and after the last is removed.

    Attributes:
        listeners: those of all threads; the fast path checks only whether there are any.
    """

    def __init__(self, changed: Callable[[], None] = lambda: None):
        self.listeners: list[tuple[int, Listener]] = []
        self._changed = changed
        self._lock = threading.Lock()

    def here(self) -> list[Listener]:
        """Return the listeners of this thread."""
        return [listener for thread, listener in [*self.listeners] if thread == mode.thread]

    def add(self, listener: Listener) -> Callable[[], None]:
        """Send the events of this thread to ``listener``; return a function that ends this."""
        entry = (mode.thread, listener)
        with self._lock:
            self.listeners.append(entry)
            if len(self.listeners) == 1:
                self._changed()

        def remove() -> None:
            with self._lock:
                self.listeners.remove(entry)
                if not self.listeners:
                    self._changed()

        return remove

    @contextlib.contextmanager
    def heard_by(self, listener: Listener) -> Iterator[None]:
        """Send the events of this thread to ``listener`` until the block ends."""
        remove = self.add(listener)
        try:
            yield
        finally:
            remove()
