"""A few threads that share the work of a kernel.

numpy holds Python's lock only between its loops, so threads can work on parts of one array at
once. A kernel cuts its work into parts by the shapes alone, gives each part memory of its own to
write to, and adds up what parts have in common in their order: then a result depends neither on the
number of threads nor on which of them did what.

    def part(rows: slice) -> None:
        np.multiply(x[rows], y[rows], out=made[rows])

    threads.share(part, threads.slices(len(x), 64))

Handing over work takes some 30 µs: what takes less than a few hundred is not worth it, nor is what
makes many short calls of numpy (``in_turn``). While parts are worked on, BLAS uses one thread for
each product.
"""

from __future__ import annotations

import contextvars
import ctypes
import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

T = TypeVar("T")
Jobs = SimpleQueue[Callable[[], object]]


@functools.cache
def _library() -> tuple[Any, str, str] | None:
    """Return the OpenBLAS in numpy's wheel, and what its functions' names begin and end with."""
    package = Path(np.__file__).parent
    for folder in (package.with_name("numpy.libs"), package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            # Not CDLL: to give Python's lock away for so short a call would cost a switch.
            library = ctypes.PyDLL(os.fspath(path))
            for prefix, suffix in (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", "")):
                if hasattr(library, f"{prefix}openblas_set_num_threads{suffix}"):
                    return library, prefix, suffix
    return None


@functools.cache
def _blas() -> tuple[Any, Any] | None:
    """Return the functions that get and set the threads of BLAS."""
    names = "openblas_get_num_threads", "openblas_set_num_threads"
    get, set = map(blas_function, names)
    return None if get is None or set is None else (get[0], set[0])


@functools.cache
def blas_function(name: str) -> tuple[Any, int] | None:
    """Return a function of numpy's BLAS, and how many bits its lengths have."""
    found = _library()
    if found is None:
        return None
    library, prefix, suffix = found
    function = getattr(library, f"{prefix}{name}{suffix}", None)
    return None if function is None else (function, 64 if suffix else 32)


class _Pool:
    """The threads of this process, and how many may be used."""

    def __init__(self) -> None:
        self.count = 0  # not known yet
        self.blas_is_single = False
        self.clear()

    def clear(self) -> None:
        """Forget the threads: a forked process has none."""
        self.busy = threading.Lock()
        self.jobs: Jobs = SimpleQueue()
        self.helpers = 0

    def helped(self, wanted: int) -> int:
        """Return how many helpers there are, up to a wanted number, after starting them."""
        while self.helpers < wanted:
            helper = threading.Thread(
                target=_help, args=(self.jobs,), name="tinynet-kernels", daemon=True
            )
            try:
                helper.start()
            except RuntimeError:  # no threads here, or no more
                self.count = self.helpers + 1
                break
            self.helpers += 1
        return min(self.helpers, wanted)


def _help(jobs: Jobs) -> None:
    while True:
        jobs.get()()


_pool = _Pool()
on_count: Callable[[int], object] | None = None  # is told when another number is set
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.clear)


def get_count() -> int:
    """Return how many threads are used: as many as BLAS uses, unless ``set_count`` was called."""
    if not _pool.count:
        found = _blas()
        _pool.count = 1 if found is None else max(1, int(found[0]()))
    return _pool.count


def set_count(count: int) -> None:
    """Use so many threads, also in BLAS."""
    _pool.count = count
    found = _blas()
    if found is not None:
        found[1](1 if _pool.blas_is_single else count)
    if on_count is not None:
        on_count(count)


def use_blas_singly(single: bool) -> None:
    """Let BLAS use one thread, where kernels share products; or again as many as kernels do.

    Its threads spin for a while before they sleep, and take a core from the threads here.
    """
    count = get_count()
    _pool.blas_is_single = single
    set_count(count)


def slices(length: int, step: int) -> list[slice]:
    """Return slices of ``step`` elements, the last one perhaps shorter, that cover a length."""
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


class _Shared(Generic[T]):
    """Work on parts, by whoever takes the next one."""

    def __init__(self, work: Callable[[T], object], parts: Sequence[T]):
        self.work = work
        self.parts = deque(enumerate(parts))
        self.done: SimpleQueue[tuple[int, BaseException] | None] = SimpleQueue()

    def take(self) -> int:
        """Work on parts until there are none; return how many."""
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
            except BaseException as error:  # for the thread that shared the work
                failed = number, error
            self.done.put(failed)


def in_turn(work: Callable[[T], object], parts: Sequence[T]) -> None:
    """Call a function with each part, in this thread: for work that would not gain by sharing.

    Two threads pass Python's lock to and fro around every call of numpy, and waking up takes some
    50 µs. Where the calls are shorter than that, as those on blocks that fit the cache are, two
    threads were measured to be up to a third slower than one.
    """
    for part in parts:
        work(part)


def share(work: Callable[[T], object], parts: Sequence[T]) -> None:
    """Call a function with each part, in this thread and in helpers; return when all is done.

    Called by a part of other work, or while another thread shares its work, it does all itself.

    Raises:
        Exception: what ``work`` raised for the first part that failed; the others are done.
    """
    wanted = min(get_count(), len(parts))
    if wanted < 2 or not _pool.busy.acquire(blocking=False):
        for part in parts:
            work(part)
        return
    pool = _pool
    busy, shared, found = pool.busy, _Shared(work, parts), _blas()
    before = 1 if found is None else found[0]()
    try:
        if found is not None and before != 1:
            found[1](1)
        for _ in range(pool.helped(wanted - 1)):
            context = contextvars.copy_context()  # with numpy's floating-point reports
            pool.jobs.put(functools.partial(context.run, shared.take))
        shared.take()
        failures = [failed for failed in (shared.done.get() for _ in parts) if failed is not None]
    finally:
        shared.parts.clear()  # where this thread was interrupted
        if found is not None and before != 1 and found[0]() == 1:
            found[1](before)
        busy.release()
    if failures:
        raise min(failures, key=lambda failed: failed[0])[1]
