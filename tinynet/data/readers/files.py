"""Finding, opening and unpacking files, and errors about their contents."""

import contextlib
import difflib
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from tinynet import errors

StrPath = str | os.PathLike[str]

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 24
LFS_POINTER = (
    b"versio",  # n https://git-lfs.github.com/spec/v1; formats are told apart by six bytes
    "a Git LFS pointer in place of the file. To download it: `git lfs install` and `git lfs pull`",
)
# Signatures of file formats that may be mistaken for the expected one.
_BEGINNINGS = (
    (_GZIP, "a gzip file"),
    (b"PK\x03\x04", "a zip file, such as .npz"),
    (b"\x93NUMPY", "an .npy file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x80\x04", "a Python pickle, which is never read"),
    (b"\x80\x02", "a Python pickle, which is never read"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    LFS_POINTER,
)


_SHOWN = 20  # mistakes in a message


class FormatError(ValueError):
    """The contents of a file are invalid: truncated, corrupt, or in another format.

    Attributes:
        path: the file.
        expected: the expected contents.
        found: the actual contents.
        where: the position in the file (``"line 7, column 'age'"``), or an empty text.

    Example:
        >>> raise tn.data.FormatError("a.csv", "a number", "'x'", "line 7, column 'age'")
        Traceback (most recent call last):
        ...
        tinynet.data.readers.files.FormatError: a.csv, line 7, column 'age': expected a number...
    """

    def __init__(self, path: StrPath, expected: str, found: str, where: str = ""):
        super().__init__(path, expected, found, where)  # unchanged arguments, for pickling
        self.path = os.fspath(path)
        self.expected = expected
        self.found = found
        self.where = where

    def __str__(self) -> str:
        place = f"{self.path}, {self.where}" if self.where else self.path
        return f"{place}: expected {self.expected}, found {self.found}"


class CombinedFormatError(FormatError):
    """All mistakes of a file, or of several files.

    Attributes:
        errors: the mistakes, one `FormatError` each. The other attributes describe the first.

    Example:
        >>> from tinynet.data.readers.files import CombinedFormatError
        >>> wrong = [tn.data.FormatError("a.csv", "a number", "'x'", f"line {n}") for n in (2, 7)]
        >>> print(CombinedFormatError(wrong))
        a.csv: 2 mistakes
          line 2: expected a number, found 'x'
          line 7: expected a number, found 'x'
    """

    def __init__(self, errors: Sequence[FormatError]):
        first = errors[0]
        super().__init__(first.path, first.expected, first.found, first.where)
        self.args = (errors,)
        self.errors = errors

    def __str__(self) -> str:
        one_file = len({error.path for error in self.errors}) == 1
        lines = [f"{self.path}: " * one_file + f"{len(self.errors)} mistakes"]
        for error in self.errors[:_SHOWN]:
            place = f"{error.where}: " if error.where else ""
            text = f"{place}expected {error.expected}, found {error.found}"
            lines.append(f"  {text if one_file else error}")
        if len(self.errors) > _SHOWN:
            lines.append(f"  ... and {len(self.errors) - _SHOWN} more")
        return "\n".join(lines)


def errors_in(error: FormatError) -> Sequence[FormatError]:
    """Return the mistakes in an error that `raise_all` raised."""
    return error.errors if isinstance(error, CombinedFormatError) else [error]


def raise_all(errors: Sequence[FormatError]) -> None:
    """Raise one error for all mistakes; do nothing if there are none."""
    if errors:
        raise errors[0] if len(errors) == 1 else CombinedFormatError(errors)


def first_existing(folders: Sequence[StrPath], names: Sequence[str], what: str) -> str:
    """Return the path of the first existing file, given several names and folders.

    Args:
        folders: the user's folder first.
        names: possible names of the file.
        what: a description for the message: ``"MNIST's training images"``.

    Raises:
        FileNotFoundError: there is none; the message has the names that were looked for.
    """
    for folder in folders:
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                return path
    root = os.fspath(folders[0])
    if not os.path.isdir(root):
        what_it_is = "is a file" if os.path.exists(root) else "does not exist"
        raise FileNotFoundError(
            f"{root} {what_it_is}: it must be a folder with {what} ({' or '.join(names)})."
        )
    inside = [os.path.relpath(folder, root) for folder in folders[1:]]
    also = f" (nor in {', '.join(inside)} inside it)" if inside else ""
    there = sorted(os.listdir(root))
    shown = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "") if there else "nothing"
    raise FileNotFoundError(
        f"{root} has no file with {what}{also}. Looked for: {', '.join(names)}. It has: {shown}."
    )


def kind_of(beginning: bytes) -> str:
    """Return the apparent format of a file, from its first bytes, for the end of a message."""
    if not beginning:
        return "nothing: the file is empty"
    for start, name in _BEGINNINGS:
        if beginning.startswith(start):
            return f"{beginning[: len(start)].hex(' ')}: {name}"
    return beginning[:4].hex(" ")


class MissingFileError(FileNotFoundError):
    """A file that does not exist; the message names its folder, and a file of a similar name."""

    def __reduce__(self) -> Any:
        return _missing, (self.errno, self.strerror, self.filename)

    def __str__(self) -> str:
        sentence = super().__str__()
        if self.filename is None:
            return sentence
        folder, name = os.path.split(os.path.abspath(self.filename))
        if not os.path.isdir(folder):
            return errors.with_fix(sentence, f"there is no folder {folder}")
        near = difflib.get_close_matches(name, os.listdir(folder), n=1)
        similar = f"; did you mean {near[0]!r}?" if near else ""
        return errors.with_fix(sentence, f"there is no {name!r} in {folder}{similar}")


# PyTorch raises a FileNotFoundError here, so tracebacks show that name.
MissingFileError.__name__ = MissingFileError.__qualname__ = "FileNotFoundError"
MissingFileError.__module__ = "builtins"


def _missing(*args: Any) -> MissingFileError:
    """Return the error; pickle does not find the class by its name."""
    return MissingFileError(*args)


def open_existing(path: StrPath) -> IO[bytes]:
    """Open a file for reading.

    Raises:
        OSError: it does not exist, or cannot be opened.
    """
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        raise _missing(error.errno, error.strerror, os.fspath(path)) from None


@contextlib.contextmanager
def opened(path: StrPath) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed if its name ends in ``.gz``.

    Raises:
        FormatError: (while reading) the gzip data are damaged, or it is not a gzip file.
        OSError: it cannot be opened.
    """
    if not os.fspath(path).endswith(".gz"):
        with open_existing(path) as plain:
            yield plain
        return
    with open_existing(path) as packed:
        start = packed.read(8)
        if start[:2] != _GZIP:
            raise FormatError(path, "a gzip file (1f 8b), as its name suggests", kind_of(start))
        packed.seek(0)
        try:
            with gzip.GzipFile(fileobj=packed) as file:
                yield file  # type: ignore[misc]  # not declared as IO[bytes], but usable as one
        except EOFError:
            raise FormatError(path, "a complete gzip file", "one that ends early") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise FormatError(path, "an undamaged gzip file", _reason(error)) from None


def _reason(error: Exception) -> str:
    text = str(error)
    if text.startswith(("CRC check failed", "Incorrect length")):
        return "data that do not fit the check sum at its end"
    return f"damaged data ({text})"


def read_up_to(file: IO[bytes], size: int) -> bytes:
    """Return the next ``size`` bytes, or fewer at the end of the file.

    ``file.read(size)`` would allocate the memory first, and a damaged file may state any size.
    """
    chunks = []
    while size > 0:
        chunk = file.read(min(size, _CHUNK))
        if not chunk:
            break
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def text_of(path: StrPath, encoding: str = "utf-8") -> str:
    """Return the text of a file without a byte order mark, decompressed if it is a ``.gz``.

    Raises:
        FormatError: it is not in this encoding; the message has the line.
    """
    with opened(path) as file:
        data = file.read()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"the byte 0x{data[error.start]:02x} at offset {error.start}"
        start = kind_of(data[:9])
        guess = f" (the file begins with {start})" if ": " in start else ""
        raise FormatError(path, f"{encoding} text", f"{byte}{guess}", f"line {line}") from None
    return text.removeprefix("\ufeff")


def listed(names: Iterable[Any], most: int = 12) -> str:
    """Return the first few names as a comma-separated list for a message.

    Example:
        >>> listed("abc"), listed("abc", most=2), listed([])
        ('a, b, c', 'a, b, ... (3 in all)', 'none')
    """
    texts = [str(name) for name in names]
    if len(texts) <= most:
        return ", ".join(texts) or "none"
    return f"{', '.join(texts[:most])}, ... ({len(texts)} in all)"
