"""The trace bus: channels that report events to recorders and profilers, and the tracer.

A listener hears what happened. A tracer (``tn.compile``) captures computations in order to repeat
them: it is handed each function with its arguments, and runs it.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

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


class Tracer:
    """Base class of what captures the computations of a thread, as ``mode.tracer``.

    Functions that run inside another one belong to it: a tracer hears of the outermost only.
    """

    def compute(
        self, function: Any, args: tuple[Any, ...], kwargs: Any, op: Any, writes: bool
    ) -> Any:
        """Run a function of arrays, which a replay repeats on other arrays.

        Args:
            function: returns new arrays or views of its arguments.
            args, kwargs: arrays and constants.
            op: the operation, if the function is its kernel.
            writes: the function changes its first argument.
        """
        raise NotImplementedError

    def perform(self, function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Run a function that changes Python objects, such as the step of an optimizer.

        A replay calls it with the same objects, on the tensors that it finds in them.
        """
        raise NotImplementedError

    def wrote(self, t: Any, what: str) -> None:
        """Handle a write that was counted on the version of ``t``."""


F = TypeVar("F", bound=Callable[..., Any])


def traced(function: F, op: Any = None, writes: bool = False) -> F:
    """Hand the calls of a function of arrays to the tracer of the thread, if it has one."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        tracer = mode.tracer
        if tracer is None:
            return function(*args, **kwargs)
        return tracer.compute(function, args, kwargs, op, writes)

    return run  # type: ignore[return-value]


def run_traced(function: Any, *args: Any, op: Any = None, writes: bool = False) -> Any:
    """Run a function of arrays, and hand the call to the tracer of the thread, if it has one."""
    tracer = mode.tracer
    return function(*args) if tracer is None else tracer.compute(function, args, {}, op, writes)


def traced_write(function: F) -> F:
    """Do the same for a function that changes the array that is its first argument."""
    return traced(function, writes=True)


def repeated(function: F) -> F:
    """Hand the calls of a function with effects on Python objects to the tracer, if any."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        tracer = mode.tracer
        if tracer is None:
            return function(*args, **kwargs)
        return tracer.perform(function, args, kwargs)

    return run  # type: ignore[return-value]
