"""``getattr`` and ``hasattr`` during captures: they look up names that code does not mention."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tinynet.core.modes import mode
from tinynet.kernels.threads import fork_safe_lock, in_child

IMPORT = importlib.import_module.__code__
plain = frozenset({builtins.getattr, builtins.hasattr})
_lock = fork_safe_lock()
_listeners: dict[int, Callable[[Any, Any, Any], None]] = {}  # by thread


def _noted(function: Any) -> Any:
    """Return the function; in a thread that captures, it reports what it looks up."""

    def look_up(thing: Any, name: Any, *default: Any) -> Any:
        listener = _listeners.get(mode.thread)
        if listener is not None and mode.tracer is not None:
            listener(sys._getframe(1), thing, name)
        return function(thing, name, *default)

    look_up.__name__ = look_up.__qualname__ = function.__name__
    look_up.__module__ = "builtins"
    return look_up


def _noted_import(function: Any) -> Any:
    """Return ``__import__``; in a thread that captures, it reports what it imports."""

    def load(name: str, *args: Any, **kwargs: Any) -> Any:
        listener = _listeners.get(mode.thread)
        if listener is not None and mode.tracer is not None:
            listener(sys._getframe(1), sys.modules, name)
        return function(name, *args, **kwargs)

    return load


_noting: dict[str, tuple[Any, Any]] = {
    function.__name__: (function, _noted(function)) for function in plain
}
_noting["__import__"] = builtins.__import__, _noted_import(builtins.__import__)


def original(function: Any) -> Any:
    """Return the function of Python that one of these stands for; anything else as it is."""
    for plain_function, noting in _noting.values():
        if function is noting:
            return plain_function
    return function


def _keep_own() -> None:
    for thread in _listeners.keys() - {mode.thread}:
        del _listeners[thread]
    _restore()


in_child(_keep_own)


def _restore() -> None:
    """Put the functions of Python back when no thread listens."""
    if not _listeners:
        for name, (function, _) in _noting.items():
            setattr(builtins, name, function)


@contextlib.contextmanager
def heard_by(listener: Callable[[Any, Any, Any], None]) -> Iterator[None]:
    """Report the lookups of this thread as (frame, object, name) until the block ends."""
    thread = mode.thread
    with _lock:
        before = _listeners.get(thread)
        _listeners[thread] = listener
        for name, (_, noting) in _noting.items():
            setattr(builtins, name, noting)
    try:
        yield
    finally:
        with _lock:
            if before is None:
                del _listeners[thread]
            else:
                _listeners[thread] = before
            _restore()
