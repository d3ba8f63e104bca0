"""The trace bus: channels on which recorders, profilers and searches hear what runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from tinynet.core.modes import mode

Listener = TypeVar("Listener")


class Channel(Generic[Listener]):
    """Events of one kind. A listener hears those of the thread in which it began to listen.

    Args:
        changed: called when the first listener has come, and when the last has gone.

    Attributes:
        listeners: those of all threads; the fast path asks only whether there are any.
    """

    def __init__(self, changed: Callable[[], None] = lambda: None):
        self.listeners: list[tuple[int, Listener]] = []
        self._changed = changed
        self._lock = threading.Lock()

    def here(self) -> list[Listener]:
        """Return the listeners of this thread."""
        return [listener for thread, listener in [*self.listeners] if thread == mode.thread]

    @contextlib.contextmanager
    def heard_by(self, listener: Listener) -> Iterator[None]:
        """Let ``listener`` hear the events of this thread until the block ends."""
        entry = (mode.thread, listener)
        with self._lock:
            self.listeners.append(entry)
            if len(self.listeners) == 1:
                self._changed()
        try:
            yield
        finally:
            with self._lock:
                self.listeners.remove(entry)
                if not self.listeners:
                    self._changed()
