"""Worker processes, for datasets that spend their time in Python, and their pipes."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.loading.worker import Died, Reply, Server, Work, in_process, with_origin

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
                    reply: Reply = receive(found)  # type: ignore[arg-type]  # no sentinel
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
        outbox = Outbox(connection)
        while connection in wait([connection, parent.sentinel]):
            reply = server.answer(connection.recv())
            if reply is not None:
                outbox.put(reply)
            del reply  # as large as a batch


_DIRECT = hasattr(os, "readv")  # on Windows a connection is not a file and needs one more copy
Parts = tuple[bytes, list[memoryview]]


class Outbox:
    """Sends replies in the background, so that a full pipe does not stop a worker."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: queue.SimpleQueue[Parts] = queue.SimpleQueue()
        threading.Thread(target=self._send, daemon=True).start()

    def put(self, reply: Reply) -> None:
        """Send a reply; if it cannot be pickled, send an error with the reason."""
        try:
            parts = _pickled(reply)
            if reply.kind == "error":
                pickle.loads(parts[0])  # not every pickled exception can be unpickled
        except Exception as error:
            where = f"while sending from DataLoader worker process {reply.worker}"
            wrapped: BaseException = with_origin(error, where)
            if reply.kind == "error":  # the exception cannot be sent, but its text can
                wrapped = RuntimeError("\n".join([str(reply.value), *_notes(reply.value)]))
            parts = _pickled(reply._replace(kind="error", value=wrapped))
        self._waiting.put(parts)

    def _send(self) -> None:
        try:
            while True:
                body, buffers = self._waiting.get()
                self._connection.send(([buffer.nbytes for buffer in buffers], len(body)))
                for part in (memoryview(body), *buffers):
                    _write(self._connection, part)
                del body, buffers, part
        except OSError:  # the reader is gone
            pass


def receive(connection: Connection) -> Any:
    """Return the next reply, with writable arrays.

    Raises:
        EOFError, OSError: the other side has closed, perhaps in the middle of a reply.
    """
    sizes, length = connection.recv()
    parts: list[Any] = [np.empty(size, np.uint8) for size in (length, *sizes)]
    for part in parts:
        _read_into(connection, memoryview(part))
    return pickle.loads(parts[0], buffers=parts[1:])


def _write(connection: Connection, part: memoryview) -> None:
    if not _DIRECT:
        connection.send_bytes(part)
    else:
        _each(part, lambda rest: os.write(connection.fileno(), rest))


def _read_into(connection: Connection, part: memoryview) -> None:
    if not _DIRECT:
        connection.recv_bytes_into(part)
    else:
        _each(part, lambda rest: os.readv(connection.fileno(), [rest]))


def _each(part: memoryview, move: Callable[[memoryview], int]) -> None:
    """Call ``move`` to read or write until all bytes are transferred."""
    while part.nbytes:
        moved = move(part)
        if not moved:
            raise EOFError
        part = part[moved:]


def _notes(error: BaseException) -> list[str]:
    return getattr(error, "__notes__", [])


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor) and obj.requires_grad and not obj.is_leaf:
            raise RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since "
                "autograd does not support crossing process boundaries.  If you just want to "
                "transfer the data, call detach() on the tensor before serializing (e.g., putting "
                "it on the queue)."
            )
        return NotImplemented


def _pickled(reply: Reply) -> Parts:
    found: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, 5, buffer_callback=found.append).dump(reply)
    return stream.getvalue(), [buffer.raw() for buffer in found]
