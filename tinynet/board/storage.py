"""Event files: written without a thread, robust against failing disks; and read back.

Note [What can go wrong with an event file]
A full disk, a removed folder, a file system that turns read-only, a stale network handle: each
appears as an OSError from one of the few system calls below, or as a file missing at its path. The
response is always the same: one warning with the reason, events wait in memory, each later flush
tries again, and a partial record is truncated before anything follows it, because a reader stops
at the first incomplete record.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import socket
import struct
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet.base.atomic_write import cut, write_atomically
from tinynet.board import tensorboardx

_CHUNK = 1 << 14  # bytes per write: on a nearly full disk, complete chunks are kept
_PATIENCE = 5.0  # seconds between attempts of add() during an outage; flush() always tries
MAX_WAITING = 16 << 20
"""Bytes of events kept in memory during an outage; beyond that, the oldest are dropped."""

_DISK_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
PREFIX = "events.out.tfevents."
"""What the names of event files begin with."""

_counter = itertools.count()


class BoardWarning(UserWarning):
    """Something could not be logged; training continues."""


class Outages:
    """The files of a writer that cannot be written; warns once until all of them can again."""

    def __init__(self) -> None:
        self._failing: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._failing)

    def begin(self, file: object, folder: str, reason: str) -> None:
        """Record that a file cannot be written; warn if it is the first one."""
        first = not self._failing
        self._failing.add(id(file))
        if first:
            warnings.warn(
                f"SummaryWriter cannot write to {folder!r}: {reason}. Training goes on; events "
                "wait in memory and are written as soon as that is possible again.",
                BoardWarning,
                stacklevel=2,
            )

    def end(self, file: object) -> None:
        """Record that a file was written, or abandoned."""
        self._failing.discard(id(file))


def _newest(folder: str) -> int:
    """Return the time in the name of the newest event file of a folder; 0 if there is none."""
    names = (name.removeprefix(PREFIX) for name in os.listdir(folder) if name.startswith(PREFIX))
    times = (name.partition(".")[0] for name in names)
    return max((int(moment) for moment in times if moment.isdecimal()), default=0)


def trim(folder: str | os.PathLike[str], sizes: Mapping[str, int]) -> None:
    """Truncate the event files of a folder to earlier sizes.

    A resumed run writes the later events again. They would appear twice if their steps are not
    those of the run (such as epochs), or if a reader ignores restarts.

    Args:
        folder: the folder of the run.
        sizes: bytes by path of each file in the folder. Other files in these folders are removed.

    Raises:
        OSError: a folder cannot be listed, or a file cannot be truncated or removed.
    """
    for place in {"", *map(os.path.dirname, sizes)}:
        inside = os.path.join(folder, place)
        for name in _names(inside):
            path, known = os.path.join(inside, name), sizes.get(os.path.join(place, name))
            if not name.startswith(PREFIX):
                continue
            if known is None:
                _remove(path)
            elif os.path.getsize(path) > known:
                cut(path, known)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _remove(path: str) -> None:
    """Remove an event file, or at least what it contains."""
    try:
        os.unlink(path)
    except OSError:
        cut(path, 0)


class EventFile:
    """The event file of one folder: `add` buffers records, `flush` writes them to disk.

    Records are written when `max_queue` of them wait or `flush_secs` seconds have passed since
    the last write, both checked when a record is added. Waiting records are lost if the process is
    killed; flushed ones are not.
    """

    def __init__(
        self,
        folder: str,
        max_queue: int,
        flush_secs: float,
        suffix: str,
        header: Callable[[], bytes],
        outages: Outages,
    ) -> None:
        self.folder = folder
        self._max_queue = max_queue
        self._flush_secs = flush_secs
        self._suffix = suffix
        self._header = header  # the first record of every file, also of a recreated one
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._file: io.FileIO | None = None
        self._path = ""
        self._size = 0  # bytes of complete records in the file
        self._earlier: dict[str, int] = {}  # the same of files that were given up
        self._last_write = time.monotonic()
        self._outages = outages
        self._outage = False
        self._lock = threading.RLock()
        self._busy = False
        self._pid = os.getpid()
        self._write(sync=False, begin=True)

    def add(self, record: bytes) -> None:
        """Add one framed record; write all records if the queue is full or the time is up."""
        self._check_process()
        with self._lock:
            self._waiting.append(record)
            self._waiting_bytes += len(record)
            while self._waiting_bytes > MAX_WAITING and self._outage and len(self._waiting) > 1:
                self._waiting_bytes -= len(self._waiting.popleft())
            waited = time.monotonic() - self._last_write
            due = len(self._waiting) >= self._max_queue or waited >= self._flush_secs
            if due and (not self._outage or waited >= _PATIENCE):
                self._write(sync=False)

    def flush(self) -> None:
        """Write and sync all records, so that they survive a power failure."""
        self._check_process()
        with self._lock:
            self._write(sync=True)

    def written(self) -> dict[str, int]:
        """Return the number of bytes written by the path of each file: one, unless it failed."""
        return {**self._earlier, **({self._path: self._size} if self._file is not None else {})}

    def close(self, revive: bool = True) -> None:
        """Flush and close the file. Records that cannot be written now are dropped.

        With `revive=False`, do not recreate a file that was removed.
        """
        self._check_process()
        with self._lock:
            if revive or self._file is None or os.path.exists(self._path):
                self._write(sync=True)
                if self._waiting:  # there is no later occasion
                    self._write(sync=True)
            self._waiting.clear()
            self._waiting_bytes = 0
            self._close_file()
            self._outages.end(self)

    # ---- writing -----------------------------------------------------------------------------

    def _write(self, sync: bool, begin: bool = False) -> None:
        if self._busy:  # called by a signal handler during this function
            return
        self._busy = True
        before = self._outage
        try:
            if self._waiting or begin:
                self._open_file()
                self._write_waiting()
            if sync and self._file is not None:
                os.fsync(self._file.fileno())
            if before == self._outage:  # otherwise it was removed, and its neighbors with it
                self._outages.end(self)
            self._outage = False
        except OSError as error:
            self._recover(error)
        finally:
            self._last_write = time.monotonic()
            self._busy = False

    def _open_file(self) -> None:
        if self._file is not None and not os.path.exists(self._path):
            self._close_file()
            self._report(f"{self._path} was moved or removed")
        if self._file is None:
            os.makedirs(self.folder, exist_ok=True)
            self._path = os.path.join(self.folder, self._new_name())
            self._file = open(self._path, "xb", buffering=0)
            self._size = 0
        if os.fstat(self._file.fileno()).st_size != self._size:
            self._file.truncate(self._size)
            self._file.seek(self._size)
        if self._size == 0:
            self._append(self._header())

    def _write_waiting(self) -> None:
        while self._waiting:
            chunk, length = [], 0
            for record in self._waiting:
                chunk.append(record)
                length += len(record)
                if length >= _CHUNK:
                    break
            self._append(b"".join(chunk))
            for _ in chunk:
                self._waiting.popleft()
            self._waiting_bytes -= length

    def _append(self, data: bytes) -> None:
        assert self._file is not None
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        self._size += len(data)

    def _recover(self, error: OSError) -> None:
        """Truncate a partial record; unless the disk is full, begin a new file next."""
        if self._file is not None:
            try:
                self._file.truncate(self._size)
                self._file.seek(self._size)
                usable = error.errno in _DISK_FULL
            except OSError:
                usable = False
            if not usable:
                self._close_file()
        self._report(error.strerror or str(error))

    def _report(self, reason: str) -> None:
        if not self._outage:
            self._outage = True
            self._outages.begin(self, self.folder, reason)

    # ---- the file ----------------------------------------------------------------------------

    def _new_name(self) -> str:
        # Readers sort the files of a folder by name: time, then a counter. If the clock was set
        # back, a new file must still come after the existing ones.
        moment, host = max(int(time.time()), _newest(self.folder) + 1), socket.gethostname()
        unique = f"{os.getpid()}.{next(_counter):05d}"
        return f"{PREFIX}{moment:010d}.{host}.{unique}{self._suffix}"

    def _close_file(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
            self._earlier[self._path] = self._size
            if self._size == 0:  # not even the header fit: leave nothing behind
                with contextlib.suppress(OSError):
                    os.unlink(self._path)

    def _check_process(self) -> None:
        """After a fork, leave records and file to the parent and begin a new file."""
        if os.getpid() != self._pid:
            self._pid = os.getpid()
            self._lock = threading.RLock()
            self._busy = False
            self._waiting.clear()
            self._waiting_bytes = 0
            self._path = ""
            self._close_file()
            self._earlier.clear()


# ---- files --------------------------------------------------------------------------------------
# Additional files of a run, written so that a failing disk never stops training.


class FilesBeside:
    """The files of a run other than event files, written atomically.

    Files that cannot be written wait in memory, with one warning, until the next `write`.
    """

    def __init__(self, folder: str, outages: Outages) -> None:
        self._folder = folder
        self._outages = outages
        self._waiting: dict[str, bytes] = {}
        self._lock = threading.RLock()
        self._pid = os.getpid()

    def put(self, files: dict[str, bytes]) -> None:
        """Write files: path below the folder -> contents."""
        self._check_process()
        with self._lock:
            for path in files:
                self._waiting.pop(path, None)  # the newest goes last: it may refer to the others
            self._waiting |= files
            self.write()
            while len(self._waiting) > 1 and self._size() > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]

    def write(self, revive: bool = True) -> None:
        """Try to write the waiting files. With `revive=False`, do not recreate a removed folder."""
        self._check_process()
        with self._lock:
            if not revive and not os.path.isdir(self._folder):
                return
            try:
                for name in list(self._waiting):
                    self._write_one(Path(self._folder, name), self._waiting[name])
                    del self._waiting[name]
                self._outages.end(self)
            except OSError as error:
                self._outages.begin(self, self._folder, error.strerror or str(error))

    def _size(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _write_one(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda file: file.write(data))

    def _check_process(self) -> None:
        """After a fork, discard the parent's waiting files."""
        if os.getpid() != self._pid:
            self._pid = os.getpid()
            self._lock = threading.RLock()
            self._waiting.clear()


# ---- reading back -------------------------------------------------------------------------------
# What event files contain: curves, images and texts.


@dataclass
class Logged:
    """The values of the event files in a folder, by tag; a step that was repeated counts once."""

    scalars: dict[str, dict[int, float]] = field(default_factory=dict)
    """The curves: step -> value."""

    images: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """The last image of each tag: its step, and its PNG file."""

    texts: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The last text of each tag, with its step."""

    def add(self, step: int, value: Any) -> None:
        """Add a value of an event."""
        kind = value.WhichOneof("value")
        if kind == "simple_value":
            self.scalars.setdefault(value.tag, {})[step] = value.simple_value
        elif kind == "image":
            self.images[value.tag] = step, value.image.encoded_image_string
        elif kind == "tensor" and value.metadata.plugin_data.plugin_name == "text":
            tag = value.tag.removesuffix("/text_summary")
            self.texts[tag] = step, b"\n".join(value.tensor.string_val).decode(errors="replace")


def read_events(folder: str | os.PathLike[str]) -> Logged:
    """Read the event files of a folder, in the order in which they were written.

    A file that ends within a record, as after a power failure, is read up to there.

    Args:
        folder: the folder, without those inside it.

    Raises:
        OSError: a file cannot be read.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> with tn.board.SummaryWriter(folder) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss", 1 / 2**step, step)
        >>> read_events(folder).scalars
        {'loss': {0: 1.0, 1: 0.5, 2: 0.25}}
    """
    found = Logged()
    parse = tensorboardx.load().Event.FromString
    for path in sorted(Path(folder).glob(f"{PREFIX}*")):
        for _, record in _records(path.read_bytes()):
            event = parse(record)
            for value in event.summary.value:
                found.add(event.step, value)
    return found


def sizes_before(
    folder: str | os.PathLike[str], is_later: Callable[[str, int], bool]
) -> dict[str, int]:
    """Return the number of bytes before the first later event, by the names of the event files.

    Args:
        folder: the folder, without those inside it.
        is_later: returns whether a value with this tag and step is later. Files after that of the
            first such value are left out.

    Raises:
        OSError: a file cannot be read.
    """
    sizes = {}
    parse = tensorboardx.load().Event.FromString
    for path in sorted(Path(folder).glob(f"{PREFIX}*")):
        data = path.read_bytes()
        sizes[path.name] = len(data)
        for start, record in _records(data):
            event = parse(record)
            if any(is_later(value.tag, event.step) for value in event.summary.value):
                sizes[path.name] = start
                return sizes
    return sizes


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield start and content of the records: length, checksum, content, checksum."""
    start = 0
    while start + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, start)
        if start + 16 + length > len(data):
            return
        yield start, data[start + 12 : start + 12 + length]
        start += 16 + length
