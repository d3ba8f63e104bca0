"""Worker threads, which share the data and run in parallel while numpy releases the GIL."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tinynet.core import numpy_errors
from tinynet.data.loading.worker import Died, Reply, Server, Work, in_thread, replica
from tinynet.kernels import threads

_LOOK = 5.0  # seconds between checks that the threads are alive


class Threads:
    """Worker threads, until `close`."""

    def __init__(self, work: Work, workers: int) -> None:
        # Not a SimpleQueue: where a signal arrives as its timeout ends, CPython's waits for ever.
        self._replies: queue.Queue[Reply] = queue.Queue()
        self._messages: list[queue.Queue[Any]] = [queue.Queue() for _ in range(workers)]
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []
        try:
            for worker, messages in enumerate(self._messages):
                own = replace(work, dataset=replica(work.dataset))
                server = Server(own, worker, workers, "thread", in_thread)
                self._start(worker, server, messages)
        except BaseException:
            self.close()
            raise

    def _start(self, worker: int, server: Server, messages: queue.Queue[Any]) -> None:
        thread = threading.Thread(
            target=_serve,
            args=(server, messages, self._replies, self._closed),
            name=f"DataLoader worker {worker}",
            daemon=True,  # a dataset that hangs must not keep the program alive
        )
        try:
            thread.start()
        except RuntimeError as error:
            error.add_note("Where there are no threads, DataLoader works with num_workers=0.")
            raise
        self._threads.append(thread)

    def send(self, worker: int, message: Any) -> None:
        """Give a message to a worker."""
        self._messages[worker].put(message)

    def receive(self, timeout: float | None) -> Reply | Died | None:
        """Return the next reply, or None if there is none within ``timeout`` seconds."""
        while True:
            try:
                return self._replies.get(timeout=_LOOK if timeout is None else timeout)
            except queue.Empty:
                dead = [thread.name for thread in self._threads if not thread.is_alive()]
                if dead:
                    return Died(f"{dead[0]} exited unexpectedly")
                if timeout is not None:
                    return None

    def close(self) -> None:
        """Let the threads exit; each finishes its current batch."""
        self._closed.set()
        for messages in self._messages:
            messages.put(None)

    @property
    def workers(self) -> Sequence[threading.Thread]:
        """The threads."""
        return self._threads


def _serve(
    server: Server,
    messages: queue.Queue[Any],
    replies: queue.Queue[Reply],
    closed: threading.Event,
) -> None:
    numpy_errors.install()  # core/modes.py may not have run in this thread yet
    threads.beside.begin()
    try:
        while (message := messages.get()) is not None and not closed.is_set():
            reply = server.answer(message)
            if reply is not None:
                replies.put(reply)
            del message, reply  # they are as large as a batch
    finally:
        threads.beside.end()
