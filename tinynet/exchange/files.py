"""Opening and writing paths or file objects, and errors about invalid files."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from tinynet.base.atomic_write import write_atomically
from tinynet.data.readers.files import LFS_POINTER, FormatError, open_existing
from tinynet.data.readers.files import StrPath as StrPath

# Signatures of file formats that may be mistaken for the expected one.
_BEGINNINGS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\x93NUMPY", "an .npy file: numpy.load reads it"),
    (b"\x80", "a Python pickle; if torch.save wrote it, tinynet.exchange.load_pytorch reads it"),
    (b"version https://git-lfs", "a placeholder of Git LFS: `git lfs pull` gets the file itself"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    LFS_POINTER,
)

# The other methods can decompress without a bound at each step.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ExchangeError(FormatError):
    """A weight file is invalid: truncated, damaged, malicious, or in another format.

    Attributes:
        path: the file.
        expected: the expected contents.
        found: the actual contents.
        where: the position in the file, or an empty text.

    Example:
        >>> raise tn.exchange.ExchangeError("a.safetensors", "8 bytes", "3", "tensor 'x'")
        Traceback (most recent call last):
        ...
        tinynet.exchange.files.ExchangeError: a.safetensors, tensor 'x': expected 8 bytes, found 3
    """


class UnsafeError(ExchangeError, pickle.UnpicklingError):
    """A file names a class or function that is neither data nor allowed.

    Attributes:
        path, expected, found, where: as in ``ExchangeError``.
        name: the full name of the class or function.

    Example:
        >>> raise tn.exchange.UnsafeError("a.pt", "data", "the name __main__.Net", "__main__.Net")
        Traceback (most recent call last):
        ...
        tinynet.exchange.files.UnsafeError: Weights only load failed. a.pt: expected data, found ...
    """

    def __init__(self, path: str, expected: str, found: str, name: str):
        super().__init__(path, expected, found)
        self.args = (path, expected, found, name)  # unchanged arguments, for pickling
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
    """Return a description of a file that begins with ``head``."""
    if not head:
        return "an empty file"
    for beginning, what in _BEGINNINGS:
        if head.startswith(beginning):
            return what
    if head[8:9] == b"{":
        return "a .safetensors file: tinynet.exchange.load_file reads it"
    return f"something that begins with {head[:8]!r}"


def reason(error: BaseException) -> str:
    """Return the message of a library error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# ---- reading ------------------------------------------------------------------------------------


def name_of(file: StrPath | IO[bytes]) -> str:
    """Return the name of a path or file object for messages."""
    if isinstance(file, (str, os.PathLike)):
        return os.fspath(file)
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else f"<{type(file).__name__}>"


class Bounded(io.BufferedIOBase):
    """A seekable file of which no more is read, and so allocated, than there is.

    Lengths in a damaged file may be anything, and Python's files allocate what is asked for.
    """

    def __init__(self, file: IO[bytes]):
        self.name = name_of(file)
        self._file, place = file, file.tell()
        self._end = file.seek(0, io.SEEK_END)
        file.seek(place)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most ``size`` bytes; all for -1 and None."""
        left = max(self._end - self._file.tell(), 0)
        return self._file.read(left if size is None or size < 0 else min(size, left))

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the bytes up to the end of a line."""
        return self._file.readline(-1 if size is None else size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a position, and return it.

        Raises:
            ValueError: it is before the beginning; of files, that would be an OSError.
        """
        if whence == io.SEEK_SET and offset < 0:
            raise ValueError(f"the position {offset}")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True


@contextlib.contextmanager
def opened(file: StrPath | IO[bytes]) -> Iterator[IO[bytes]]:
    """Open a path for reading, or rewind a file object; the result is seekable.

    Raises:
        OSError: the file does not exist or cannot be read; the message has its path.
        TypeError: ``file`` is neither a path nor a binary file.
    """
    if isinstance(file, (str, os.PathLike)):
        with open_existing(file) as handle:
            yield cast(IO[bytes], Bounded(handle))
        return
    _refuse_text(file, "read")
    try:
        seekable = file.seekable()
    except AttributeError:
        seekable = hasattr(file, "seek") and hasattr(file, "tell")
    if seekable:
        file.seek(0)
    yield cast(IO[bytes], Bounded(file if seekable else io.BytesIO(file.read())))


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
    """Refuse an archive whose members exceed both its size and ``inflated`` bytes in total.

    A 90 kB zip file may hold gigabytes, by compression or by members that share their bytes.
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
    """Write to a path atomically, or into a binary file object.

    Raises:
        OSError: it cannot be written; an existing file is unchanged.
        TypeError: ``file`` is neither a path nor a binary file.
    """
    if isinstance(file, (str, os.PathLike)):
        write_atomically(Path(file), write)
    else:
        _refuse_text(file, "write")
        write(file)
