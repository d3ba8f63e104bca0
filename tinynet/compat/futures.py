"""``torch.futures``: values that arrive later."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any


class Future(concurrent.futures.Future[Any]):
    """A value that another thread sets.

    Args:
        devices: accepted, without effect.

    Example:
        >>> from tinynet.compat.futures import Future
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
