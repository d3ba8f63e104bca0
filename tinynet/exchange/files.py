"""Files: written whole or not at all; opened by path or as a file object; what a wrong one is."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from tinynet.data.readers.files import FormatError
from tinynet.data.readers.files import StrPath as StrPath

# How files begin that may be taken for one another.
_BEGINNINGS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\x93NUMPY", "an .npy file: numpy.load reads it"),
    (b"\x80", "a Python pickle; if torch.save wrote it, tinynet.exchange.load_pytorch reads it"),
    (b"version https://git-lfs", "a placeholder of Git LFS: `git lfs pull` gets the file itself"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
)

# Others inflate without a bound at each step.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ExchangeError(FormatError):
    """A file of weights is not what it should be: truncated, damaged, hostile, of another format.

    Attributes:
        path: the file.
        expected: what should be in it.
        found: what is.
        where: the place inside the file, or an empty text.

    Example:
        >>> raise tn.exchange.ExchangeError("a.safetensors", "8 bytes", "3", "tensor 'x'")
        Traceback (most recent call last):
        ...
        tinynet.exchange.files.ExchangeError: a.safetensors, tensor 'x': expected 8 bytes, found 3
    """


class UnsafeError(ExchangeError, pickle.UnpicklingError):
    """A file names a class or function that is not data, and is not allowed to.

    Attributes:
        path, expected, found, where: as in ``ExchangeError``.
        name: the full name.

    Example:
        >>> raise tn.exchange.UnsafeError("a.pt", "data", "the name __main__.Net", "__main__.Net")
        Traceback (most recent call last):
        ...
        tinynet.exchange.files.UnsafeError: Weights only load failed. a.pt: expected data, found ...
    """

    def __init__(self, path: str, expected: str, found: str, name: str):
        super().__init__(path, expected, found)
        self.args = (path, expected, found, name)  # as they are: so it can be pickled
        self.name = name

    def __str__(self) -> str:
        last = self.name.rpartition(".")[2]
        return (
            f"Weights only load failed. {super().__str__()}. If you trust the file, load it with "
            "weights_only=False, or allow what it names: "
            f"tinynet.serialization.add_safe_globals([{last}]). Or store what has no classes in "
            "it, such as the state_dict() of a module."
        )


def described(head: bytes) -> str:
    """Return what a file is that begins with ``head``, for people."""
    if not head:
        return "an empty file"
    for beginning, what in _BEGINNINGS:
        if head.startswith(beginning):
            return what
    if head[8:9] == b"{":
        return "a .safetensors file: tinynet.exchange.load_file reads it"
    return f"something that begins with {head[:8]!r}"


def reason(error: BaseException) -> str:
    """Return what an error of the standard library or numpy says, in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# ---- reading ------------------------------------------------------------------------------------


def name_of(file: StrPath | IO[bytes]) -> str:
    """Return what messages call a file that was given by path or as a file object."""
    if isinstance(file, (str, os.PathLike)):
        return os.fspath(file)
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else f"<{type(file).__name__}>"


@contextlib.contextmanager
def opened(file: StrPath | IO[bytes]) -> Iterator[IO[bytes]]:
    """Open a path for reading, or take a file object, from its beginning; it can be sought in.

    Raises:
        OSError: there is no such file, or it may not be read; the message has its path.
        TypeError: it is neither a path nor a binary file.
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as handle:
            yield handle
        return
    _refuse_text(file, "read")
    try:
        seekable = file.seekable()
    except AttributeError:
        seekable = hasattr(file, "seek") and hasattr(file, "tell")
    if seekable:
        file.seek(0)
    yield file if seekable else io.BytesIO(file.read())


def _refuse_text(file: Any, method: str) -> None:
    if not hasattr(file, method):
        raise TypeError(
            f"expected a path or a binary file object (with a {method} method). "
            f"Got {type(file).__name__} instead."
        )
    if isinstance(file, io.TextIOBase):
        mode = {"read": "rb", "write": "wb"}[method]
        name = getattr(file, "name", type(file).__name__)
        raise TypeError(f"{name} is open as text: open it in binary mode, {mode!r}")


def check_sizes(archive: zipfile.ZipFile, path: str, inflated: int) -> None:
    """Refuse an archive whose members are larger than it, and than ``inflated`` bytes in all.

    A zip file of 90 kB may hold gigabytes: compressed, or as members that share their bytes.
    """
    assert archive.fp is not None
    members = archive.infolist()
    for member in members:
        if member.compress_type not in _METHODS:
            found = f"the method {member.compress_type}"
            raise ExchangeError(path, "stored or deflated data", found, member.filename)
    total, size = sum(member.file_size for member in members), archive.fp.seek(0, 2)
    if total > max(size, inflated):
        expected = f"a zip archive of {size} bytes with at most {max(size, inflated)} in it"
        remedy = ": if you trust it, load it with a larger inflated=" if inflated else ""
        raise ExchangeError(path, expected, f"{total}{remedy}")


# ---- writing ------------------------------------------------------------------------------------


def write_to(file: StrPath | IO[bytes], write: Callable[[IO[bytes]], object]) -> None:
    """Write to a path, see ``write_atomically``, or into a binary file object.

    Raises:
        OSError: it cannot be written; an old file is as it was.
        TypeError: it is neither a path nor a binary file.
    """
    if isinstance(file, (str, os.PathLike)):
        write_atomically(Path(file), write)
    else:
        _refuse_text(file, "write")
        write(file)


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that at any moment either the old or the new one is there, complete.

    A temporary file in the same folder is written and synced, renamed over the old one, and the
    folder synced: without that last step the rename itself may be lost when the power fails. The
    new file has the permissions of the old one; a symbolic link stays one. What is no regular file
    (a pipe, a device) is written directly.

    Raises:
        OSError: the new file cannot be written; the old one is as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        whole = io.BytesIO()  # such files do not know where they are
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
        with contextlib.suppress(OSError):  # what was raised says more
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _created(temporary: Path, path: Path) -> IO[bytes]:
    """Create a file; the error names the path that the user knows."""
    try:
        return open(temporary, "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
