"""Futures and processes, as ``torch.futures`` and ``torch.multiprocessing`` have them."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
from collections.abc import Callable
from multiprocessing import *  # noqa: F403  # all of its names are torch.multiprocessing's
from typing import Any


class Future(concurrent.futures.Future[Any]):
    """A value that another thread sets.

    Args:
        devices: accepted, without effect.

    Example:
        >>> from tinynet.futures import Future
        >>> future = Future()
        >>> doubled = future.then(lambda done: done.value() * 2)
        >>> future.set_result(3)
        >>> doubled.wait()
        6
    """

    def __init__(self, *, devices: Any = None):
        super().__init__()

    def wait(self) -> Any:
        """Wait for the value and return it; raise the error that was set instead."""
        return self.result()

    def value(self) -> Any:
        """Return the value, which is there already."""
        return self.result(timeout=0)

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return a Future for what the callback returns once this one is done."""
        following = Future()

        def call(done: Any) -> None:
            try:
                following.set_result(callback(done))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(call)
        return following


def collect_all(futures: list[Future]) -> Future:
    """Return a Future for the list of futures, set once all are done.

    Args:
        futures: the futures.
    """
    collected, left = Future(), [len(futures)]

    def count(done: Any) -> None:
        left[0] -= 1
        if not left[0]:
            collected.set_result(futures)

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        collected.set_result(futures)
    return collected


def wait_all(futures: list[Future]) -> list[Any]:
    """Return the values of all futures, in their order."""
    return [future.wait() for future in futures]


def set_sharing_strategy(new_strategy: str) -> None:
    """Do nothing: tensors are copied, not shared.

    Args:
        new_strategy: ignored.

    Example:
        >>> from tinynet import multiprocessing
        >>> multiprocessing.set_sharing_strategy("file_system")
    """


def get_sharing_strategy() -> str:
    """Return "copy".

    Example:
        >>> from tinynet import multiprocessing
        >>> multiprocessing.get_sharing_strategy()
        'copy'
    """
    return "copy"


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> Any:
    """Run ``fn(i, *args)`` in new processes, and wait for them.

    Args:
        fn: a top-level function of a module.
        args: its arguments after ``i``.
        nprocs: the number of processes; ``i`` runs from 0.
        join: wait for the processes to end.
        daemon: end the processes when this one ends.
        start_method: Python's start method.

    Returns:
        None; the processes if ``join`` is False.

    Raises:
        RuntimeError: a process failed.

    Example:
        >>> from tinynet import multiprocessing
        >>> multiprocessing.spawn(print, nprocs=0)
    """
    context: Any = multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    failed = [i for i, process in enumerate(processes) if process.exitcode]
    if failed:
        raise RuntimeError(
            f"process {failed[0]} terminated with exit code {processes[failed[0]].exitcode}"
        )
    return None
