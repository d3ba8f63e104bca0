"""A run that reports each evaluation to the process that started it, which may end the run.

The process sets the environment variable `VARIABLE`. Its pipes are then the standard input and
output of the run: a line of JSON per evaluation, answered by a line with the reason to stop, or
with an empty one. What the run prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from tinynet.train.loop.callback import Moment

VARIABLE = "TINYNET_SUPERVISED"

_BLOCK = 4096


def supervisors() -> tuple[Supervised, ...]:
    """Return the callback for the process that started this one, if it supervises its runs."""
    if os.environ.pop(VARIABLE, None) is None:  # not for processes that this one starts
        return ()
    reads, writes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return (Supervised(reads, writes),)


class Supervised:
    """A callback that reports each evaluation, and waits for the answer.

    If the other process dies, the run stops as after SIGTERM, with a checkpoint.

    Args:
        reads: the file descriptor of the answers.
        writes: the file descriptor of the reports.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self._writes = writes
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._is_alone = self._is_over = False
        threading.Thread(target=self._listen, args=[reads], daemon=True).start()

    def on_evaluation_end(self, at: Moment) -> None:
        """Report the figures; stop the run if the answer is a reason."""
        if self._is_alone:
            return
        try:
            os.write(self._writes, _line({"epoch": at.epoch, "figures": dict(at.figures)}))
        except OSError:  # the other process has died
            return
        reason = self._answers.get()
        if reason:
            at.stop(reason)

    def on_run_end(self, at: Moment) -> None:
        """Stop listening: the run has nothing left to stop."""
        self._is_over = True

    def _listen(self, reads: int) -> None:
        for line in _lines(reads):
            self._answers.put(json.loads(line))
        self._is_alone = True
        self._answers.put("")
        if not self._is_over:
            signal.raise_signal(signal.SIGTERM)


def _line(content: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(content)}\n".encode()


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield lines from a pipe, without a lock that would disturb the end of the process."""
    rest = b""
    while block := os.read(descriptor, _BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
