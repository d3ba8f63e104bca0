"""Python's events: who gets a thread's while a captured function runs, and afterwards.

Profilers, debuggers and coverage tools use the same two functions as a capture,
``sys.setprofile`` and ``sys.settrace``. They miss the captured call, and go on after it. From
Python 3.12 on, tools of ``sys.monitoring`` (cProfile among them) miss nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tinynet.capture.program import CaptureError

Listener = Callable[[Any, str, Any], Any]


def _has_switch(tool: Any) -> bool:
    """Return whether a tool in C, such as cProfile, is switched by methods, not by a function."""
    return not _is_python(tool) and all(
        any(name in vars(base) for base in type(tool).__mro__) for name in ("enable", "disable")
    )


def _is_python(tool: Any) -> bool:
    """Return whether a tool is a function in Python, or an object of a class with one."""
    call = next((vars(b)["__call__"] for b in type(tool).__mro__ if "__call__" in vars(b)), None)
    return hasattr(call, "__code__") or hasattr(tool, "__code__")


def unwatchable() -> CaptureError | None:
    """Return why the code of this thread cannot be watched, if a tool is in the way."""
    for tool in (sys.getprofile(), sys.gettrace()):
        if tool is not None and not _has_switch(tool) and not callable(tool):
            return CaptureError(
                f"a {type(tool).__name__} follows the code, which Python cannot set aside",
                "end it before the first calls of the function",
            )
    return None


class Events:
    """Sends the events of this thread to two functions while a function runs.

    Args:
        trace, profile: as for ``sys.settrace`` and ``sys.setprofile``.

    Attributes:
        heard: events came. None do while Python calls a trace or profile function.
    """

    def __init__(self, trace: Listener, profile: Listener):
        self._trace, self._profile = trace, profile
        self._on = True
        self.heard = False

    def switch(self, on: bool) -> None:
        """Stop or resume events, which slow down all code that runs."""
        self._on = on
        sys._getframe().f_trace_opcodes = on  # Python 3.12 looks for such a frame at settrace
        sys.setprofile(self._profile if on else None)
        sys.settrace(self._trace if on else None)

    def during(self, call: Callable[[], Any]) -> Any:
        """Return what a function returns.

        This frame replaces the functions of other tools and restores them: a profiler that compares
        calls with returns sees one call of ``sys.setprofile``. A tool that the function itself
        switches on or off stays as the function leaves it.
        """
        profile: Any = sys.getprofile()
        trace: Any = sys.gettrace()
        if _has_switch(profile):
            profile.disable()
        sys.setprofile(self._hear)
        if _has_switch(trace):
            trace.disable()
        sys.settrace(self._hear)
        try:
            _do_nothing()
            self.switch(True)
            return call()
        finally:
            if sys.gettrace() is (self._trace if self._on else None):
                sys.settrace(None if _has_switch(trace) else trace)
                if _has_switch(trace):
                    trace.enable()
            if sys.getprofile() is (self._profile if self._on else None):
                sys.setprofile(None if _has_switch(profile) else profile)
                if _has_switch(profile):
                    profile.enable()

    def _hear(self, frame: Any, event: str, arg: Any) -> None:
        self.heard = True


def _do_nothing() -> None:
    """Cause an event."""
