"""The files of a run: their checksums, reading them, and everything that changes them.

Each function that writes raises a TrainError that names the file; its ``__cause__`` is the OSError.
A file that cannot be read (a failing disk, missing permissions) is an error, too. A file that is
damaged causes a warning where the rest of the run can be used without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
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

# ---- checksums ----------------------------------------------------------------------------------
# Checksums that detect damage to the files of a run.
#
# A checkpoint ends with a checksum. ``run.json`` contains its own checksum and those of the files
# that do not change during a run: ``config.toml``, the tokenizer, the copies of source files. Each
# row of ``metrics.jsonl`` ends with a checksum, so that it can be verified even after a crash.


_ROW = re.compile(r'(\{.*), "crc32": "([0-9a-f]{8})"\}')


def sha256(data: bytes) -> str:
    """Return the SHA-256 of the content of a file."""
    return hashlib.sha256(data).hexdigest()


# ---- an object with its own checksum ----


def with_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with a checksum of its content.

    Example:
        >>> content = with_checksum({"a": 1})
        >>> has_valid_checksum(content), has_valid_checksum({**content, "a": 2})
        (True, False)
    """
    plain = json.loads(json.dumps({k: v for k, v in content.items() if k != "sha256"}, default=str))
    return {**plain, "sha256": _digest(plain)}


def has_valid_checksum(content: Mapping[str, Any]) -> bool:
    """Return whether the checksum of an object fits its content."""
    return content.get("sha256") == _digest({k: v for k, v in content.items() if k != "sha256"})


def _digest(content: Mapping[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode())


# ---- rows ----


def row_with_checksum(text: str) -> str:
    """Return a line with a JSON object, with its checksum as the last key.

    Example:
        >>> row_with_checksum('{"epoch": 1}')
        '{"epoch": 1, "crc32": "94919848"}'
    """
    return f'{text[:-1]}, "crc32": "{zlib.crc32(text.encode()):08x}"}}'


def row_of(line: str) -> dict[str, Any] | None:
    """Return the object in a line of `row_with_checksum`; None if it is damaged or truncated."""
    found = _ROW.fullmatch(line)
    if found is None or int(found[2], 16) != zlib.crc32(f"{found[1]}}}".encode()):
        return None
    try:
        row = json.loads(f"{found[1]}}}")
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


# ---- files that do not change ----


def changed_checksums(
    record: Mapping[str, Any], checksums: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the entry ``replacing`` of a record, which is written before files are replaced.

    A process that is killed between two writes leaves some old and some new files. Neither are
    damaged.

    Args:
        record: the content of ``run.json``, with the checksums of the old files.
        checksums: the new files' checksums by name.
    """
    known, begun = record.get("files", {}), record.get("replacing", {})
    changed = [name for name, new in checksums.items() if known.get(name, new) != new]
    return begun | {name: [*begun.get(name, []), checksums[name]] for name in changed}


# ---- writing ------------------------------------------------------------------------------------

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


_END = 100_000  # bytes, of which a row has a few hundred


# ---- reading ------------------------------------------------------------------------------------


class DamagedError(TrainError, ValueError):
    """The content of a file cannot be what the run wrote."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        FileNotFoundError: if it does not exist.
        TrainError: if it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TrainError(f"{path} cannot be read: {error.strerror or error}") from error


def read_text(path: Path) -> str:
    """Return the content of a text file, with U+FFFD for damaged bytes; raises as `read_bytes`."""
    return read_bytes(path).decode(errors="replace")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        FileNotFoundError: if it does not exist.
        TrainError: if it cannot be read; a `DamagedError` if it holds no object.
    """
    try:
        content = json.loads(read_bytes(path))
    except ValueError as error:
        raise DamagedError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise DamagedError(f"{path} is damaged: it holds no object")
    return content


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the undamaged rows of ``metrics.jsonl``; none if there is no file.

    Raises:
        TrainError: if it cannot be read.
    """
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError:  # it was stopped in its first epoch
        return []
    return [row for line in lines if (row := row_of(line)) is not None]


def read_last_row(path: Path, unless: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any] | None:
    """Return the last undamaged row of ``metrics.jsonl``; None without one.

    A process that has been killed may leave half of a row behind it. Only the end of the file is
    read, as a long run has many rows.

    Args:
        path: the file.
        unless: returns whether to pass over a row.

    Raises:
        TrainError: if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(max(0, size_of(path) - _END))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TrainError(f"{path} cannot be read: {error.strerror or error}") from error
    rows = (row_of(line) for line in reversed(text.splitlines()))
    return next((row for row in rows if row is not None and not unless(row)), None)


def holds(path: Path, data: bytes) -> bool:
    """Return whether a file exists, can be read, and has this content."""
    try:
        return path.is_file() and path.read_bytes() == data
    except OSError:
        return False


def size_of(path: Path) -> int:
    """Return the number of bytes of a file; 0 if there is none, -1 if that is unknown."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError:
        return -1


# ---- the shape of JSON ----


def fits(value: Any, shape: Any) -> bool:
    """Return whether a value of a JSON file has a shape.

    Args:
        value: the value.
        shape: a type; a tuple of alternative shapes; ``[shape]`` for a list;
            ``{"key": shape, str: shape}`` for an object: the keys that it must have, and the shape
            of all others.

    Example:
        >>> fits({"commit": "1a", "dirty": True}, {"commit": str}), fits({"a": [1]}, {str: [str]})
        (True, False)
    """
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    if isinstance(shape, dict):
        if not isinstance(value, dict) or not value.keys() >= shape.keys() - {str}:
            return False
        others = shape.get(str, object)
        return all(fits(item, shape.get(key, others)) for key, item in value.items())
    return isinstance(value, NoneType if shape is None else shape)


def fitting(content: Mapping[str, Any], shapes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without the entries that do not have their shapes."""
    return {k: v for k, v in content.items() if k not in shapes or fits(v, shapes[k])}
