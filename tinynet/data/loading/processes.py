"""Worker processes, for datasets that spend their time in Python code.

Imported lazily: ``import tinynet`` does not load multiprocessing.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from tinynet import dtypes
from tinynet.data.loading import transport
from tinynet.data.loading.seeding import in_process
from tinynet.data.loading.worker import Died, Reply, Server, Work

_GRACE = 1.0  # seconds a worker may take to finish before it is terminated


def context_of(wanted: Any) -> BaseContext:
    """Return the multiprocessing context for a start method, a context, or None (the default).

    Raises:
        ValueError: this platform has no such start method.
        TypeError: ``wanted`` is something else.
    """
    if wanted is None:
        return multiprocessing.get_context()
    if isinstance(wanted, str):
        methods = multiprocessing.get_all_start_methods()
        if wanted not in methods:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{methods!r}, but got multiprocessing_context={wanted!r}"
            )
        return multiprocessing.get_context(wanted)
    if not isinstance(wanted, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={wanted}"
        )
    return wanted


class Processes:
    """Worker processes, until `close`."""

    def __init__(self, work: Work, workers: int, context: BaseContext) -> None:
        self._owner = os.getpid()
        self._connections: list[Any] = []
        self._processes: list[BaseProcess] = []
        forks = context.get_start_method() == "fork"
        try:
            for worker in range(workers):
                ours, theirs = context.Pipe()
                self._connections.append(ours)
                # A fork inherits all connections. It closes the others, so that each side sees
                # when the other side closes its end.
                strangers = list(self._connections) if forks else []
                arguments = (work, worker, workers, theirs, strangers, dtypes.get_default_dtype())
                process = context.Process(target=_serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
                _started(process, context)
                theirs.close()
                self._processes.append(process)
        except BaseException:
            self.close()
            raise

    def send(self, worker: int, message: Any) -> None:
        """Give a message to a worker."""
        with contextlib.suppress(OSError):  # it is dead, as `receive` will notice
            self._connections[worker].send(message)

    def receive(self, timeout: float | None) -> Reply | Died | None:
        """Return the next reply, or None if there is none within ``timeout`` seconds."""
        sentinels = {process.sentinel: i for i, process in enumerate(self._processes)}
        ready = wait([*self._connections, *sentinels], timeout)
        for found in ready:
            if found not in sentinels:
                try:
                    reply: Reply = transport.receive(found)  # type: ignore[arg-type]
                    return reply
                except (EOFError, OSError):
                    return self._died(self._connections.index(found))
        return self._died(sentinels[ready[0]]) if ready else None  # type: ignore[index]

    def _died(self, worker: int) -> Died:
        process = self._processes[worker]
        process.join(_GRACE)
        code = process.exitcode
        how = f"with exit code {code}"
        if code is not None and code < 0:
            try:
                how = f"killed by {signal.Signals(-code).name}"
            except ValueError:
                how = f"killed by signal {-code}"
        text = f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly ({how})"
        if code == -getattr(signal, "SIGKILL", 0):
            text += "; the system does that to processes that need too much memory"
        return Died(text)

    def close(self) -> None:
        """Shut the processes down: busy ones have a second before they are terminated."""
        if os.getpid() != self._owner:  # a fork cannot end its siblings
            return
        for connection in self._connections:
            connection.close()
        deadline = time.monotonic() + _GRACE
        for process in self._processes:
            process.join(max(0, deadline - time.monotonic()))
        for process in self._processes:
            if process.is_alive():
                process.terminate()
                process.join(_GRACE)
            if process.is_alive():
                process.kill()
                process.join()

    @property
    def workers(self) -> Sequence[BaseProcess]:
        """The processes."""
        return self._processes


def _started(process: Any, context: BaseContext) -> None:
    try:
        process.start()
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        error.add_note(
            f"With the start method {context.get_start_method()!r}, the dataset, collate_fn and "
            "worker_init_fn have to be picklable: classes and functions of a module, no lambdas. "
            'Workers with worker_method="thread" need no pickling.'
        )
        raise


# ---- in the worker ----


def _serve(
    work: Work,
    worker: int,
    workers: int,
    connection: Connection,
    strangers: list[Connection],
    default_dtype: Any,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C and ends workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a fork inherits the main program's handlers
    for stranger in strangers:
        stranger.close()
    dtypes.set_default_dtype(default_dtype)
    server = Server(work, worker, workers, "multiprocessing", in_process)
    parent: Any = multiprocessing.parent_process()
    with contextlib.suppress(EOFError, OSError):  # the main process has exited or closed the pipe
        outbox = transport.Outbox(connection)
        while connection in wait([connection, parent.sentinel]):
            reply = server.answer(connection.recv())
            if reply is not None:
                outbox.put(reply)
            del reply  # as large as a batch
