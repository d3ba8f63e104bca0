"""The trace bus: channels that report events to recorders and profilers, and the tracer.

A listener hears what happened. A tracer (``tn.compile``) captures computations in order to repeat
them: it is handed each function with its arguments, and runs it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, Generic, TypeVar

from tinynet.core.modes import mode
from tinynet.kernels.threads import fork_safe_lock, in_child

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
        self._lock = fork_safe_lock()
        in_child(self._keep_own)

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
                self.listeners[:] = [e for e in self.listeners if e is not entry]
                if not self.listeners:
                    self._changed()

        return remove

    def _keep_own(self) -> None:
        self.listeners[:] = [e for e in self.listeners if e[0] == mode.thread]
        self._changed()

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

    def cannot_capture(self, reason: str, remedy: str) -> None:
        """Handle code that a replay could not repeat.

        Args:
            reason: what the code does.
            remedy: what the user can do.
        """

    def wrote(self, t: Any, what: str) -> None:
        """Handle a write that was counted on the version of ``t``."""

    def read_gradient(self, t: Any) -> None:
        """Handle that the program reads ``t.grad``, and so whether there is one."""


F = TypeVar("F", bound=Callable[..., Any])


def tracing(function: Any, op: Any = None, writes: bool = False) -> Any:
    """Return a function of arrays that hands its calls to the tracer of the thread, if any."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        tracer = mode.tracer
        if tracer is None:
            return function(*args, **kwargs)
        return tracer.compute(function, args, kwargs, op, writes)

    run.untraced = function  # type: ignore[attr-defined]
    return run


def run_traced(function: Any, *args: Any, op: Any = None, writes: bool = False) -> Any:
    """Run a function of arrays, and hand the call to the tracer of the thread, if it has one."""
    tracer = mode.tracer
    return function(*args) if tracer is None else tracer.compute(function, args, {}, op, writes)


# ---- marks: declared functions that a tracer hears of -------------------------------------------


class _Marks:
    """The marked functions; while no thread has a tracer, marks cost nothing.

    A mark leaves a function as it is. While a thread has a tracer, the function has other code,
    which asks for the tracer first.
    """

    def __init__(self) -> None:
        self.on = False
        self._functions: list[tuple[FunctionType, CodeType]] = []
        self._plain: dict[FunctionType, CodeType] = {}

    def add(self, function: Any, run: Callable[[Any], Any]) -> Any:
        """Mark a function; ``run`` makes the one that asks for the tracer."""
        if not isinstance(function, FunctionType) or function.__closure__:
            return run(function)
        code, values = function.__code__, function.__defaults__
        plain = FunctionType(code, function.__globals__, function.__name__, values)
        plain.__kwdefaults__ = function.__kwdefaults__
        plain.__module__, plain.__qualname__ = function.__module__, function.__qualname__
        function.untraced = plain  # type: ignore[attr-defined]
        constants = _stub.__code__.co_consts
        asking = tuple(run(plain) if c == _RUN else c for c in constants)
        code = _stub.__code__.replace(co_consts=asking, co_name=function.__name__)
        self._functions.append((function, code))
        if self.on:
            self._switch(function, code)
        return function

    def _switch(self, function: FunctionType, code: CodeType) -> None:
        self._plain[function] = function.__code__
        function.__code__ = code

    def switch(self, on: bool) -> None:
        """Start or stop asking for tracers."""
        if on == self.on:
            return
        self.on = on
        if on:
            for function, code in self._functions:
                self._switch(function, code)
        else:
            for function, plain in self._plain.items():
                function.__code__ = plain
            self._plain.clear()


_RUN = "the function that asks for the tracer"


def _stub(*args, **kwargs):  # type: ignore[no-untyped-def]
    run = "the function that asks for the tracer"  # replaced in each copy of the code
    return run(*args, **kwargs)  # type: ignore[operator]


marks = _Marks()


def traced(function: F) -> F:
    """Mark a function of arrays, which a program repeats on other arrays."""
    return marks.add(function, tracing)  # type: ignore[no-any-return]


def traced_write(function: F) -> F:
    """Mark a function that changes the array that is its first argument."""
    return marks.add(  # type: ignore[no-any-return]
        function, lambda plain: tracing(plain, writes=True)
    )


def repeated(function: F) -> F:
    """Mark a function that changes Python objects, such as the step of an optimizer."""

    def asking(plain: Any) -> Any:
        @functools.wraps(plain)
        def run(*args: Any, **kwargs: Any) -> Any:
            tracer = mode.tracer
            return plain(*args, **kwargs) if tracer is None else tracer.perform(plain, args, kwargs)

        return run

    return marks.add(function, asking)  # type: ignore[no-any-return]
