"""What threads share while another thread forks the process.

It is under a ``fork_safe_lock``, and what belongs to one thread is undone ``in_child``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any


class _ForkSafeLocks:
    """The locks that a fork takes first, so that no other thread is in the midst of a change.

    The child has only the thread that forked: a lock of another one would never be released.
    """

    def __init__(self) -> None:
        self.every: list[Any] = []
        self._taken: list[Any] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._take, after_in_parent=self._release, after_in_child=self._release
            )

    def _take(self) -> None:
        """Take all locks; wait for one only while holding none: threads may nest them."""
        awaited = None
        while True:  # noted one by one: an interrupt may end this anywhere, and the fork goes on
            if awaited is not None:
                awaited.acquire()
                self._taken.append(awaited)
            for lock in [*self.every]:
                if not lock.acquire(blocking=False):
                    awaited = lock
                    break
                self._taken.append(lock)
            else:
                return
            self._release()

    def _release(self) -> None:
        while self._taken:
            self._taken.pop().release()


_fork_safe_locks = _ForkSafeLocks()


def fork_safe_lock() -> Any:
    """Return a reentrant lock for the life of the process, which is free in the child of a fork.

    What it protects is complete there. Hold it briefly, since forks wait for it.
    """
    lock = threading.RLock()
    _fork_safe_locks.every.append(lock)
    return lock


def in_child(function: Callable[[], object]) -> None:
    """Call a function in each process that is forked from this one, where it begins."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


class Tally:
    """The number of times that threads have begun something; a child keeps those of its thread.

    Args:
        changed: called with each new number.
        thread: returns the id of the running thread.
    """

    def __init__(self, changed: Callable[[int], object], thread: Callable[[], int]):
        self._changed, self._thread = changed, thread
        self._threads: list[int] = []
        self._lock = fork_safe_lock()
        in_child(self._keep_own)

    def begin(self) -> None:
        """Add one."""
        with self._lock:
            self._threads.append(self._thread())
            self._changed(len(self._threads))

    def end(self) -> None:
        """Subtract one, begun by this thread if it has begun any."""
        with self._lock:
            thread = self._thread()
            self._threads.remove(thread if thread in self._threads else self._threads[0])
            self._changed(len(self._threads))

    def _keep_own(self) -> None:
        thread = self._thread()
        others = [other for other in self._threads if other != thread]
        if others:
            self._threads = [thread] * (len(self._threads) - len(others))
            self._changed(len(self._threads))
