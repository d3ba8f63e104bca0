"""Everything that changes the files of a run: replace, append, keep, move, remove, lock.

Each function raises a TrainError that names the file; its ``__cause__`` is the OSError.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from tinynet.base.atomic_write import cut, write_atomically
from tinynet.train.base.problems import TrainError, UsageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # not on Windows
try:
    import msvcrt
except ImportError:  # not Windows
    msvcrt = None  # type: ignore[assignment]  # only on Windows

LOCK_FILE = ".lock"
"""The file that stands for its folder where folders cannot be opened: on Windows."""


@contextlib.contextmanager
def _named(path: Path, verb: str = "written") -> Iterator[None]:
    """Raise a TrainError in place of an OSError."""
    try:
        yield
    except OSError as error:
        raise TrainError(f"{path} cannot be {verb} ({error.strerror or error})") from error


# ---- replacing ----


def write_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Replace a file by what a function writes.

    Raises:
        TrainError: if it cannot be written; the old file stays unchanged.
    """
    with _named(path):
        write_atomically(path, write)


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file; raises the error of `write_file`."""
    write_file(path, lambda file: file.write(data))


def write_text(path: Path, text: str) -> None:
    """Replace a text file; raises the error of `write_file`."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Replace a JSON file; raises the error of `write_file`."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n")


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Replace a text file by lines; raises the error of `write_file`."""
    write_text(path, "".join(f"{line}\n" for line in lines))


# ---- appending ----


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Append lines to a text file, all or none, and synchronize it with the disk.

    Raises:
        TrainError: if they cannot be written; the file stays unchanged. If even that is not
            possible, it ends with a part of the lines.
    """
    if not lines:
        return
    rest = memoryview("".join(f"{line}\n" for line in lines).encode())
    end = None
    with _named(path):
        try:
            # Without a buffer, which would be written again when the file is closed.
            with open(path, "ab", buffering=0) as file:
                end = file.tell()
                while rest:
                    rest = rest[file.write(rest) or 0 :]
                os.fsync(file.fileno())
        except OSError:
            if end is not None:
                with contextlib.suppress(OSError):
                    cut(path, end)
            raise


# ---- names ----


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless they exist."""
    with _named(path, "made"):
        path.mkdir(parents=True, exist_ok=True)


def keep_as(path: Path, name: Path) -> None:
    """Add a second name to a file, which keeps it when the first name is replaced."""
    try:
        os.link(path, name)
    except (FileExistsError, FileNotFoundError):  # from an earlier attempt; or the file was removed
        pass
    except OSError:  # a file system without hard links
        move(path, name)


def move(path: Path, name: Path) -> None:
    """Give a file another name; replace the file that has it."""
    with _named(path, f"renamed to {name.name}"):
        os.replace(path, name)


def remove(path: Path) -> None:
    """Remove a file, if it exists."""
    with _named(path, "removed"):
        path.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of a killed process; the caller must hold the folder's lock."""
    for path in folder.rglob(".*.tmp"):
        with contextlib.suppress(TrainError):  # the next start will retry
            remove(path)


# ---- one process at a time ----


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder against training in other processes; the lock ends with the process.

    Raises:
        UsageError: if another process holds the lock.
        TrainError: if the folder cannot be opened.
    """
    if fcntl is None and msvcrt is None:  # a browser, which has one process
        yield
        return
    with _named(folder, "opened"):
        place = folder if fcntl is not None else folder / LOCK_FILE
        handle = os.open(place, os.O_RDONLY if fcntl is not None else os.O_RDWR | os.O_CREAT)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            if not _lock(handle):
                raise UsageError(f"another process is training in {folder}")
        yield
    finally:
        with contextlib.suppress(OSError):  # a handle is closed even if that fails
            os.close(handle)


def _lock(handle: int) -> bool:
    """Lock an open folder or file; return whether no other process has done so."""
    lock: Any = msvcrt  # typed for Windows only
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            lock.locking(handle, lock.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):
        return False
    return True
