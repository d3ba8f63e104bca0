"""Files that are replaced as a whole, complete at any moment, or cut to a size."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically: at any moment, either the old or the new version exists, complete.

    Writes and syncs a temporary file in the same folder, renames it over the old one, and syncs
    the folder, without which a power failure may undo the rename. Where folders cannot be synced,
    as on some network file systems, the file is replaced all the same. The new file has the
    permissions of the old one; a symbolic link is preserved. Special files (a pipe, a device) are
    written directly.

    Raises:
        OSError: the new file cannot be written; the old one is unchanged.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        whole = io.BytesIO()  # special files have no position
        write(whole)
        with open(target, "wb") as file:
            file.write(whole.getbuffer())
        return
    temporary = target.with_name(f".{target.name[:40]}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        with _created(temporary, path) as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):  # the original error is more helpful
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _created(temporary: Path, path: Path) -> IO[bytes]:
    """Create a file; errors name the user's path instead of the temporary one."""
    try:
        return open(temporary, "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open folders
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def cut(path: str | os.PathLike[str], size: int) -> None:
    """Cut a file to a number of bytes: in place, or by replacing it if that fails.

    Raises:
        OSError: both fail.
    """
    try:
        os.truncate(path, size)
    except OSError:
        with open(path, "rb") as file:
            beginning = file.read(size)
        write_atomically(Path(path), lambda file: file.write(beginning))
