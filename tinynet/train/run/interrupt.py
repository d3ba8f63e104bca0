"""Ctrl-C and SIGTERM: recorded at once, handled by the loop between two steps."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from tinynet.base.invocation import command

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


def signal_name(code: int) -> str:
    """Return the name of the signal that ended a program; "" if it has ended by itself.

    Args:
        code: its exit code, as `subprocess` has it.

    Example:
        >>> signal_name(-9), signal_name(143), signal_name(1)
        ('SIGKILL', 'SIGTERM', '')
    """
    number = -code if code < 0 else code - 128
    if code >= 0 and number not in _SIGNALS:  # tinynet's own exit codes
        return ""
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


class StopRequest:
    """Catches the first Ctrl-C and SIGTERM, each, and sets `signal`; others act as usual.

    A run that has got Ctrl-C from the terminal gets SIGTERM from its search, too; it still saves.
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
        for number in [*self._previous]:
            self._restore_handler(number)

    def _record(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number
        self._restore_handler(number)

    def _restore_handler(self, number: int) -> None:
        handler = self._previous.pop(number)
        # None: a handler that was not set from Python, so Python cannot set it again.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
