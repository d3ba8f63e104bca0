"""Ctrl-C and SIGTERM as a question that the loop asks between two steps."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from tinynet.invocation import command

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def can_go_on(*words: object) -> Iterator[None]:
    """While inside, a Ctrl-C that ends the work at once carries the command that goes on with it.

    Args:
        words: of the command, such as ``"resume"`` and the folder.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        text = "what came after the last checkpoint is lost; to go on:"
        stop.add_note(f"{text}\n  {command(*words)}")
        raise


class StopRequest:
    """While active, the first Ctrl-C or SIGTERM only sets `signal`; a second one acts as usual.

    In other threads than the main one, where Python allows no signal handlers, it does nothing.

    Example:
        >>> with StopRequest() as stop:
        ...     stop.signal is None
        True
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in _SIGNALS}
            # What is ignored stays so: that of nohup, and of what a shell runs in the background.
            self._previous = {n: h for n, h in handlers.items() if h is not signal.SIG_IGN}
            for number in self._previous:
                signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            # None: a handler that was not set from Python, which Python cannot set again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._previous = {}
