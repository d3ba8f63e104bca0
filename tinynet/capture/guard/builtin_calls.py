"""Calls during captures that a program cannot repeat: of functions in C, such as ``getattr``."""

from __future__ import annotations

import _lsprof
import _thread
import _warnings
import builtins
import contextlib
import contextvars
import datetime
import importlib
import io
import os
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tinynet.capture.guard.holdings import is_a
from tinynet.core.modes import mode
from tinynet.kernels.threads import fork_safe_lock, in_child

# ---- builtin calls ------------------------------------------------------------------------------
# Calls of functions in C that a program cannot repeat: they ask for the time, print, warn.


_FUNCTIONS: dict[Any, str] = {
    print: "prints",
    input: "asks for input",
    open: "opens a file",
    io.open: "opens a file",
    np.fromfile: "opens a file",
    _warnings.warn: "warns",
    _warnings.warn_explicit: "warns",
    _thread.start_new_thread: "starts a thread",
    getattr(_thread, "start_joinable_thread", None): "starts a thread",  # from Python 3.13 on
    getattr(sys.modules.get("numpy._core.umath"), "_get_extobj_dict", None): (
        "asks how numpy handles errors"
    ),
    sys.setprofile: "sets a profile function",
    sys.settrace: "sets a trace function",
    _thread.get_ident: "asks for the thread",
    _thread.get_native_id: "asks for the thread",
}
# Python's own code calls these for itself; they matter if the user's code does.
_OWN = {
    _thread.get_ident, _thread.get_native_id, sys.exc_info, sys._getframe,
    getattr(sys, "exception", None), sys.getrefcount, sys.gettrace, sys.getprofile,
}  # fmt: skip
_MODULES = {
    "time": "asks for the time",
    "posix": "asks the operating system",
    "nt": "asks the operating system",
    "sys": "asks for the state of Python",
    "_socket": "uses a socket",
    "select": "waits",
    "_signal": "uses signals",
    "_posixsubprocess": "starts a process",
    "_decimal": "uses the context of decimal numbers",
    "_asyncio": "asks for the event loop",
    "gc": "asks the garbage collector",
}
_HARMLESS: set[Any] = {
    os.fspath, os.putenv, os.unsetenv, sys.getsizeof, sys.intern, sys.audit,
    sys.getdefaultencoding, sys.getfilesystemencoding, sys.is_finalizing,
}  # fmt: skip


def effect(function: Any, for_user: bool = True) -> str | None:
    """Return what a function in C does that a program cannot repeat, in words.

    Args:
        function: the function.
        for_user: it is called by the user's code, or by a function which that code calls.
    """
    try:
        found = _FUNCTIONS.get(function)
        if not for_user and function in _OWN:
            return None
    except TypeError:
        return None
    if found is not None:
        return found
    owner: Any = getattr(function, "__self__", None)
    if is_a(owner, types.ModuleType):
        return None if function in _HARMLESS else _MODULES.get(owner.__name__)
    if is_a(owner, type) and function.__name__ == "__subclasses__":
        return "asks for subclasses"
    if is_a(owner, type) and issubclass(owner, datetime.date):
        return "asks for the time"
    if is_a(owner, random.Random | np.random.RandomState | np.random.Generator):
        return "uses random numbers of Python or numpy"
    if is_a(owner, _lsprof.Profiler):
        return "uses a profiler"
    if is_a(owner, contextvars.ContextVar | contextvars.Context):
        return "uses a context variable"
    return "uses a file" if is_a(owner, io.IOBase) else None


# ---- lookups ------------------------------------------------------------------------------------
# ``getattr`` and the like during captures: they reach names that code does not mention.


IMPORT = importlib.import_module.__code__
plain = frozenset({builtins.getattr, builtins.hasattr})
_lock = fork_safe_lock()
Listener = Callable[[Any, Any, Any, Any], None]
_listeners: dict[int, Listener] = {}  # by thread


def _noted(function: Any) -> Any:
    """Return the function; in a thread that captures, it reports which attribute it reaches."""

    def reach(thing: Any, name: Any, *value: Any) -> Any:
        listener = _listeners.get(mode.thread)
        if listener is not None and mode.tracer is not None:
            listener(sys._getframe(1), function, thing, name)
        return function(thing, name, *value)

    reach.__name__ = reach.__qualname__ = function.__name__
    reach.__module__ = "builtins"
    return reach


def _noted_import(function: Any) -> Any:
    """Return ``__import__``; in a thread that captures, it reports what it imports."""

    def load(name: str, *args: Any, **kwargs: Any) -> Any:
        listener = _listeners.get(mode.thread)
        if listener is not None and mode.tracer is not None:
            listener(sys._getframe(1), function, sys.modules, name)
        return function(name, *args, **kwargs)

    return load


_noting: dict[str, tuple[Any, Any]] = {
    function.__name__: (function, _noted(function)) for function in (*plain, setattr)
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
            vars(builtins)[name] = function


@contextlib.contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Report the lookups of this thread as (frame, function, object, name) in the block."""
    thread = mode.thread
    with _lock:
        before = _listeners.get(thread)
        _listeners[thread] = listener
        for name, (_, noting) in _noting.items():
            vars(builtins)[name] = noting
    try:
        yield
    finally:
        with _lock:
            if before is None:
                del _listeners[thread]
            else:
                _listeners[thread] = before
            _restore()
