"""Checkpoint files: the format of ``tinynet.save``, with a checksum and the trainer's errors.

The file is a zip archive that `numpy.load` and `unzip` can read: ``checkpoint.json`` holds the
structure, and each array is an .npy member. Nothing in it can run code. It ends with a SHA-256 of
all preceding bytes, because the checksums of a zip archive do not cover its headers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
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
from tinynet.train.base.problems import TrainError
from tinynet.train.base.writing import write_file

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


# ---- checkpoint file ----------------------------------------------------------------------------


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
