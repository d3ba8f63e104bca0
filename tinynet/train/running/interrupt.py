"""Ctrl-C and SIGTERM: recorded at once, handled by the loop between two steps."""

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
def resumable(*words: object) -> Iterator[None]:
    """Add the command that resumes the work to a KeyboardInterrupt raised inside.

    Args:
        words: the words of the command, such as ``"resume"`` and the folder.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        text = "the steps after the last checkpoint are lost; to resume:"
        stop.add_note(f"{text}\n  {command(*words)}")
        raise


class StopRequest:
    """Catches the first Ctrl-C or SIGTERM and sets `signal`; a second one acts as usual.

    Outside the main thread, where Python allows no signal handlers, it does nothing.

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
            # An ignored signal stays ignored, as under nohup or in a shell's background job.
            self._previous = {n: h for n, h in handlers.items() if h is not signal.SIG_IGN}
            for number in self._previous:
                signal.signal(number, self._record)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore_handlers()

    def _record(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        self._restore_handlers()

    def _restore_handlers(self) -> None:
        for number, handler in self._previous.items():
            # None: a handler that was not set from Python, so Python cannot set it again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._previous = {}
