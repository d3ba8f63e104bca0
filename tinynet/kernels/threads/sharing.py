"""A pool of threads that share the work of a kernel.

numpy releases Python's global lock (GIL) inside its loops, so threads can work on parts of an array
in parallel. A kernel splits its work by the shapes alone, gives each part its own memory to write
to, and adds shared results in the order of the parts. So a result does not depend on the number of
threads or on their timing.

    def part(rows: slice) -> None:
        np.multiply(x[rows], y[rows], out=made[rows])

    threads.share(part, threads.slices(len(x), 64))

Handing over work takes some 50 µs, so share only work that takes at least a few hundred, and not
work made of many short numpy calls (``each_slice``).

It also has what threads share while another one forks the process: locks, and counts.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from tinynet.kernels.threads import processors

# ---- forks --------------------------------------------------------------------------------------
# What threads share while another thread forks the process is under a ``fork_safe_lock``, and what
# belongs to one thread is undone ``in_child``.


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


# ---- shared work --------------------------------------------------------------------------------

T = TypeVar("T")
Jobs = SimpleQueue[Callable[[], object]]

VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""The environment variables with which users choose the number of threads."""

WIDE = 1 << 17  # numbers: a pass over them takes longer than waking a thread
PERIOD = 1.0  # seconds between looks at what else the processors do


class _Pool:
    """The threads of this process, and the number that may be used."""

    def __init__(self) -> None:
        self.count = 0  # unknown so far
        self.is_chosen = False  # by the user
        self.is_fixed = False  # or by the environment, or for a worker or rank
        self.looks = 0.0  # when to look again which processors are free
        self.beside = 0  # other threads of tinynet that compute: those that load data
        self.others: list[Callable[[int], object]] = []  # set the threads of other libraries
        self.clear()

    def clear(self) -> None:
        """Reset the pool: a forked process has no threads."""
        self.busy = threading.Lock()
        self.jobs: Jobs = SimpleQueue()
        self.helpers = 0

    def start_helpers(self, wanted: int) -> int:
        """Start up to ``wanted`` helper threads; return the number available."""
        while self.helpers < wanted:
            helper = threading.Thread(
                target=_help, args=(self.jobs,), name="tinynet-kernels", daemon=True
            )
            try:
                helper.start()
            except RuntimeError:  # the system allows no more threads
                self.count = self.helpers + 1
                break
            self.helpers += 1
        return min(self.helpers, wanted)


def _help(jobs: Jobs) -> None:
    while True:
        jobs.get()()


_pool = _Pool()
in_child(_pool.clear)
beside = Tally(functools.partial(setattr, _pool, "beside"), threading.get_ident)
"""Counts the threads that load data, which begin and end."""


def get_count() -> int:
    """Return the number of threads: what was chosen, or one for each processor that is free now.

    It changes with what else runs on the machine; results do not depend on it.
    """
    pool = _pool
    if not pool.count or not pool.is_fixed:
        now = time.perf_counter()
        if now >= pool.looks:
            pool.looks = now + PERIOD
            named = chosen()
            pool.is_fixed = named is not None
            count = processors.free() if named is None else named
            if count != pool.count:
                _set(count)
    return pool.count


def chosen() -> int | None:
    """Return the number that ``set_count`` or the environment gives; None if neither does."""
    if _pool.is_chosen:
        return _pool.count
    for name in VARIABLES:
        first = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP: one number per level
        if first.isdecimal() and int(first):
            return int(first)
    return None


def set_count(count: int) -> None:
    """Set the number of threads, also of other libraries."""
    _pool.is_chosen = _pool.is_fixed = True
    _set(count)


@contextlib.contextmanager
def used(count: int | None) -> Iterator[None]:
    """Use ``count`` threads until the end; None leaves the number as it is."""
    if count is None:
        yield
        return
    pool = _pool
    before = pool.count, pool.is_chosen, pool.is_fixed
    set_count(count)
    try:
        yield
    finally:
        _set(before[0])
        pool.is_chosen, pool.is_fixed = before[1:]


def limit(count: int) -> None:
    """Use ``count`` threads, or all that may be used if they are fewer, unless the user chose."""
    if chosen() is None:
        _pool.is_fixed = True
        _set(min(count, processors.usable()))


def _set(count: int) -> None:
    _pool.count = count
    for set_others in _pool.others:
        set_others(count)


def add_pool(limit: Callable[[int], object]) -> None:
    """Let a function set the number of threads of a library, now and in ``set_count``."""
    _pool.others.append(limit)
    limit(get_count())


def slices(length: int, step: int) -> list[slice]:
    """Return slices of ``step`` elements that cover a length; the last one may be shorter."""
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


class _Shared(Generic[T]):
    """A queue of parts that several threads work on."""

    def __init__(self, work: Callable[[T], object], parts: Sequence[T]):
        self.work = work
        self.parts = deque(enumerate(parts))
        self.done: SimpleQueue[tuple[int, BaseException] | None] = SimpleQueue()

    def take(self) -> int:
        """Work on parts until none are left; return the number of parts taken."""
        taken = 0
        while True:
            try:
                number, part = self.parts.popleft()
            except IndexError:
                return taken
            taken += 1
            failed = None
            try:
                self.work(part)
            except BaseException as error:  # raised again by ``share``
                failed = number, error
            self.done.put(failed)


def share(work: Callable[[T], object], parts: Sequence[T]) -> None:
    """Call a function with each part, in this thread and in helpers, and wait for all parts.

    Nested calls, and calls while another thread shares its work, run entirely in this thread.

    Raises:
        Exception: the error of the first part that failed; the other parts are complete.
    """
    wanted = min(get_count(), len(parts))
    if wanted < 2 or not _pool.busy.acquire(blocking=False):
        for part in parts:
            work(part)
        return
    pool = _pool
    busy, shared = pool.busy, _Shared(work, parts)
    try:
        for _ in range(pool.start_helpers(wanted - 1)):
            context = contextvars.copy_context()  # has numpy's floating-point error handling
            pool.jobs.put(functools.partial(context.run, shared.take))
        shared.take()
        failures = [failed for failed in (shared.done.get() for _ in parts) if failed is not None]
    finally:
        shared.parts.clear()  # in case this thread was interrupted
        busy.release()
    if failures:
        raise min(failures, key=lambda failed: failed[0])[1]


def each_slice(work: Callable[[slice], object], length: int, step: int, size: int = 1) -> None:
    """Call a function with slices that cover a length; threads share those of large arrays.

    The slices have ``step`` elements, or ``WIDE`` numbers if threads share them: these compete for
    the GIL around every call of numpy, and waking up takes some 50 µs. On blocks a quarter as
    large, two threads were measured to be as slow as one.

    Args:
        work: a function whose results do not depend on where a slice ends, unless a step has
            ``WIDE`` numbers.
        length: the number of elements.
        step: the number of elements that one thread takes at once, which fit its cache.
        size: how many numbers an element has.
    """
    if length * size >= 2 * WIDE and get_count() > 1:
        share(work, slices(length, max(step, WIDE // max(size, 1))))
        return
    for part in slices(length, step):
        work(part)


def count_of_users() -> int:
    """Return how many threads run, without those of the pool, which run no code of users."""
    return threading.active_count() - _pool.helpers


@contextlib.contextmanager
def alone() -> Iterator[bool]:
    """Yield whether no other thread of tinynet computes; none shares work until the end."""
    if _pool.beside or not _pool.busy.acquire(blocking=False):
        yield False
        return
    busy = _pool.busy
    try:
        yield True
    finally:
        busy.release()
