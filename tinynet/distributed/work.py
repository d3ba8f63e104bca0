"""Handles of operations that run while the program continues."""

from __future__ import annotations

import contextvars
import datetime
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed.buffers import Output


class Work:
    """An operation that may still be running: what functions return with ``async_op=True``.

    Until ``wait()`` returns, the tensors of the operation must be neither read nor written.

    Example:
        >>> work = tn.distributed.all_reduce(tensor, async_op=True)  # doctest: +SKIP
        >>> work.wait()  # doctest: +SKIP
        True
    """

    def __init__(self, outputs: Sequence[Output] = ()):
        self._outputs = tuple(outputs)
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._then: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._waited = False

    def wait(self, timeout: datetime.timedelta | None = None) -> bool:
        """Wait until the operation has completed; return True.

        Args:
            timeout: the longest time to wait; by default the timeout of the group.

        Raises:
            RuntimeError: the operation failed, or the time is over.
        """
        seconds = None if timeout is None or not timeout else timeout.total_seconds()
        if not self._done.wait(seconds):
            raise RuntimeError(f"Work did not complete within {seconds:g} s")
        if self._error is not None:
            raise self._error
        if not self._waited:
            self._waited = True
            for output in self._outputs:
                output.count_write()
        return True

    synchronize = wait

    def is_completed(self) -> bool:
        """Return whether the operation has completed or failed."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Return whether the operation has completed without an error."""
        return self._done.is_set() and self._error is None

    def exception(self) -> BaseException | None:
        """Return the error of the operation, or None."""
        return self._error

    def result(self) -> list[Tensor]:
        """Return the tensors that the operation writes to."""
        return [output.tensor for output in self._outputs]

    def source_rank(self) -> int:
        """Return the rank that a message came from.

        Raises:
            RuntimeError: the operation is not a receive.
        """
        raise RuntimeError("sourceRank() may only be called on work objects from recv()")

    def get_future(self) -> Future:
        """Return a future of what ``result()`` returns."""
        return Future(self, self.result)

    def _run(self, function: Callable[[], None]) -> None:
        """Run the operation, and what waits for its end."""
        try:
            function()
            for output in self._outputs:
                output.store()
        except BaseException as error:  # raised by ``wait``
            self._error = error
        with self._lock:
            self._done.set()
        for callback in self._then:
            callback()

    def _when_done(self, callback: Callable[[], None]) -> None:
        """Call a function at the end of the operation, or at once if it has ended."""
        with self._lock:
            if not self._done.is_set():
                self._then.append(callback)
                return
        callback()


class Future:
    """The value of an operation that may still be running.

    Example:
        >>> work = tn.distributed.all_reduce(tensor, async_op=True)  # doctest: +SKIP
        >>> future = work.get_future().then(lambda future: future.value()[0] / 2)  # doctest: +SKIP
        >>> future.wait()  # doctest: +SKIP
        tensor([1.5000, 1.5000])
    """

    def __init__(self, work: Work, value: Callable[[], Any]):
        self._work, self._value = work, value

    def wait(self) -> Any:
        """Wait for the operation; return the value."""
        self._work.wait()
        return self._value()

    def value(self) -> Any:
        """Return the value of an operation that has completed.

        Raises:
            RuntimeError: the operation has not completed, or failed.
        """
        if not self.done():
            raise RuntimeError("The future has not completed: call wait() first.")
        return self.wait()

    def done(self) -> bool:
        """Return whether the operation has completed or failed."""
        return self._work.is_completed()

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return a future with the value of ``callback(self)``, which runs after the operation."""
        following = Work()
        values: list[Any] = []

        def run() -> None:
            following._run(lambda: values.append(callback(self)))

        self._work._when_done(run)
        return Future(following, lambda: values[0])


class Worker:
    """The thread that runs the operations of one group in the order of their calls."""

    def __init__(self, name: str):
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # a buffer must not live until the next operation

    def submit(self, work: Work, function: Callable[[], None]) -> None:
        """Run an operation after those that were submitted before."""
        context = contextvars.copy_context()
        self._jobs.put(lambda: context.run(work._run, function))

    def stop(self) -> None:
        """End the thread after the operations that were submitted."""
        self._jobs.put(None)
        self._thread.join()
