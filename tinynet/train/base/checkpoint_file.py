"""Checkpoint files: the format of ``tinynet.save``, with a checksum and the trainer's errors.

The file is a zip archive that `numpy.load` and `unzip` can read: ``checkpoint.json`` holds the
structure, and each array is an .npy member. Nothing in it can run code. It ends with a SHA-256 of
all preceding bytes, because the checksums of a zip archive do not cover its headers.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from typing import IO, Any

from tinynet.exchange.files import ExchangeError, opened
from tinynet.exchange.npz import (
    CHECKPOINT,
    CHECKPOINT_KIND,
    VERSIONS,
    read_archive,
    version_in,
    write_archive,
)
from tinynet.exchange.structure import Encoder, UnstorableError
from tinynet.train.base.files import write_file
from tinynet.train.base.problems import TrainError

FORMAT = VERSIONS[CHECKPOINT_KIND]
"""The version of the format. Files of other versions are refused."""

_SEAL = b"sha256:"
_SEALED = len(_SEAL) + 64


class CheckpointError(TrainError):
    """A checkpoint cannot be written or read; the message names the file and the reason."""


def write_checkpoint(path: str | Path, content: dict[str, Any]) -> None:
    """Write a checkpoint; the previous file stays until the new one is complete.

    Args:
        path: the file.
        content: a dict of anything that ``tinynet.save`` can store.

    Raises:
        CheckpointError: if something in it can only be pickled, or the file cannot be written; then
            its ``__cause__`` is the OSError.

    Example:
        >>> path = getfixture("tmp_path") / "checkpoint.npz"
        >>> write_checkpoint(path, {"epoch": 3, "model": nn.Linear(2, 1).state_dict()})
        >>> read_checkpoint(path)["model"]["weight"].shape
        tinynet.Size([1, 2])
    """
    encoder = Encoder()
    try:
        encoded = encoder.encode(content)
    except UnstorableError as error:
        place = "/".join(map(str, error.path))
        raise CheckpointError(f"{place} {error.what}, which a checkpoint cannot hold") from error

    def write(file: IO[bytes]) -> None:
        sealing = _Sealing(file)
        stream: Any = sealing
        parts = (CHECKPOINT_KIND, CHECKPOINT, encoded, encoder.arrays)
        write_archive(stream, *parts, comment=bytes(_SEALED))
        sealing.seal()

    try:
        write_file(Path(path), write)
    except TrainError as error:
        raise CheckpointError(str(error)) from error.__cause__


class _Sealing:
    """A sequentially written file whose last bytes are replaced by a checksum."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._end = b""

    def write(self, data: Any) -> int:
        """Write all but the last bytes, which the checksum may replace."""
        view = memoryview(data).cast("B")
        if len(view) < _SEALED:
            view = memoryview(self._end + bytes(view))
        else:
            self._put(self._end)
        cut = max(len(view) - _SEALED, 0)
        self._put(view[:cut])
        self._end = bytes(view[cut:])
        return len(data)

    def _put(self, data: Any) -> None:
        self._digest.update(data)
        self._file.write(data)

    def flush(self) -> None:
        """Do nothing; the data is synchronized at the end."""

    def seal(self) -> None:
        """Write the checksum in place of the last bytes."""
        self._file.write(_SEAL + self._digest.hexdigest().encode())


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """Read what `write_checkpoint` wrote: Tensors become new leaves, shared arrays stay shared.

    Raises:
        CheckpointError: if the file does not exist, is damaged, or has another format.
    """
    try:
        with opened(path) as file:
            sealed = _has_valid_checksum(file, str(path))
            file.seek(0)
            content: dict[str, Any] = read_archive(file, str(path), {CHECKPOINT: CHECKPOINT_KIND})
            version = version_in(file, CHECKPOINT)
    except (OSError, zipfile.BadZipFile) as error:  # zipfile hides errors of the disk
        why = getattr(error, "strerror", None) or error
        raise CheckpointError(f"{path} cannot be read: {why}") from None
    except ExchangeError as error:
        text = f"{path} is not a checkpoint, or damaged: expected {error.expected}, "
        raise CheckpointError(f"{text}found {error.found}") from error
    if version != FORMAT:  # newer ones have been refused above
        raise CheckpointError(f"{path} has version {version} of the format; expected {FORMAT}")
    if not sealed:
        raise CheckpointError(f"{path} is damaged: the checksum at its end is missing")
    return content


def _has_valid_checksum(file: IO[bytes], path: str) -> bool:
    """Return whether a file ends with a checksum; raise if the checksum is wrong."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _SEALED, 0))
    seal = file.read()
    if not seal.startswith(_SEAL):
        return False
    file.seek(0)
    digest, left = hashlib.sha256(), size - _SEALED
    while left > 0:
        data = file.read(min(left, 1 << 20))
        digest.update(data)
        left -= len(data)
    if seal != _SEAL + digest.hexdigest().encode():
        raise ExchangeError(path, "contents that match the checksum at the end", "other contents")
    return True
