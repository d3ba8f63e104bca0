"""The threads that run ``sharing.help_out``."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import threading
import time

from tinynet.numba_kernels import sharing

PATIENCE = 3e-4  # seconds that a helper spins before it sleeps
_TRIED = 10000  # number of pauses for measuring one
_CALLED = {sharing.WRITE: "write", sharing.READ: "read", sharing.YIELD: "sched_yield"}


class _Crew:
    """The helper threads of this process."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.pipes: list[tuple[int, int]] = []
        self.forget()

    def forget(self) -> None:
        """Reset to no helpers."""
        self.threads = []
        sharing.board[sharing.TICKETS :] = 0

    def leave(self) -> None:
        """After a fork, discard the parent's helpers."""
        self.forget()
        for end in sum(self.pipes, ()):
            os.close(end)
        self.pipes = []

    def start(self, count: int) -> None:
        """Replace the existing helpers with ``count`` new ones."""
        if self.threads and count == len(self.threads):
            return
        self.end()
        library = _system()
        if count < 1 or library is None:
            return
        board = sharing.board
        for place, name in _CALLED.items():
            board[place] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        patience = _pauses(PATIENCE)
        # Compile everything that helpers need now: not in threads, nor at interpreter exit.
        board[sharing.END] = 1
        sharing.help_out(0, 0, patience)
        sharing.wake()
        board[sharing.END] = 0
        for number in range(min(count, sharing.MOST_HELPERS)):
            if number == len(self.pipes):
                self.pipes.append(os.pipe())
            pipe, board[sharing.BELLS + number] = self.pipes[number]
            helper = threading.Thread(
                target=sharing.help_out, args=(number, pipe, patience),
                name="tinynet-kernels", daemon=True,
            )  # fmt: skip
            try:
                helper.start()
            except RuntimeError:  # threads are unavailable, or their number is limited
                break
            self.threads.append(helper)
        board[sharing.HELPERS] = len(self.threads)

    def end(self) -> None:
        """Stop all helpers, and wait for them."""
        if self.threads:
            sharing.board[sharing.END] = 1
            sharing.wake()
            for helper in self.threads:
                helper.join()
        self.forget()


def _system() -> ctypes.CDLL | None:
    """Return the C library, with functions that read and write pipes; None on other systems."""
    return ctypes.CDLL(None) if os.name == "posix" else None


@functools.cache
def _pauses(seconds: float) -> int:
    """Return the number of pauses that take the given time."""
    sharing.wait(1)  # compiles it
    start = time.perf_counter()
    sharing.wait(_TRIED)
    return max(1, int(seconds * _TRIED / (time.perf_counter() - start)))


_crew = _Crew()
start, end = _crew.start, _crew.end
atexit.register(end)  # before the code they run is freed
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_crew.leave)
