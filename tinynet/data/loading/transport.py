"""Replies through a pipe: arrays as raw memory, the rest pickled."""

from __future__ import annotations

import io
import os
import pickle
import queue
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.data.loading.worker import Reply, with_origin

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
