"""tinynet's own format: nested data and tensors in one .npz file, without pickle.

The file is a zip archive: one JSON member holds the structure, and each array is an .npy member, so
`numpy.load` and `unzip` can open it. Nothing in it can run code. Every member has a checksum, which
is verified on reading.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.exchange.decoder import Decoder
from tinynet.exchange.files import (
    ExchangeError,
    check_sizes,
    described,
    reason,
)
from tinynet.kernels.strides import array_in

KIND = "tinynet.save"
STRUCTURE = "structure.json"
CHECKPOINT_KIND, CHECKPOINT = "tinynet checkpoint", "checkpoint.json"  # of tinynet.train
KINDS = {STRUCTURE: KIND, CHECKPOINT: CHECKPOINT_KIND}

VERSIONS = {KIND: 1, CHECKPOINT_KIND: 2}
"""The version of each format that is written; older versions are readable, newer ones refused."""


# ---- the archive, also used for checkpoints -----------------------------------------------------


def write_archive(
    file: IO[bytes],
    kind: str,
    member: str,
    content: Any,
    arrays: Mapping[str, Array],
    comment: bytes = b"",
) -> None:
    """Write a structure and its arrays as a zip archive; equal contents give equal bytes.

    The comment is stored at the end of the file.
    """
    structure = {"format": kind, "version": VERSIONS[kind], "content": content}
    text = json.dumps(structure, ensure_ascii=False, allow_nan=False)
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = comment
        # ZipInfo has a fixed date. Python allows lone surrogates, which UTF-8 does not.
        archive.writestr(zipfile.ZipInfo(member), text.encode("utf-8", "surrogatepass"))
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            with archive.open(info, "w", force_zip64=True) as target:
                version = (3, 0) if array.dtype.names else None  # allows any field names
                np.lib.format.write_array(target, array, version, allow_pickle=False)


def read_archive(file: IO[bytes], path: str, kinds: Mapping[str, str]) -> Any:
    """Return the data of an archive.

    Args:
        file: a file at its beginning.
        path: its name for messages.
        kinds: name of the JSON member -> the required format.

    Raises:
        ExchangeError: see ``load``.
    """
    head = file.read(16)
    if not head.startswith(b"PK"):
        raise ExchangeError(path, _EXPECTED, described(head))
    try:
        with zipfile.ZipFile(file) as archive:
            check_sizes(archive, path, 0)  # this format is not compressed
            content = _structure(archive, path, kinds)
            return Decoder(lambda name: _read_array(archive, path, name)).decode(content)
    except (ExchangeError, OSError):
        raise
    except zipfile.BadZipFile as error:
        found = f"a damaged or truncated zip archive ({reason(error)})"
        raise ExchangeError(path, _EXPECTED, found) from error
    except Exception as error:  # damage may raise anything
        raise ExchangeError(path, _EXPECTED, f"damage ({reason(error)})") from error


_EXPECTED = "a file written by tinynet.save"


def version_in(file: IO[bytes], member: str) -> int:
    """Return the format version of an archive that `read_archive` has accepted."""
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        version: int = json.loads(archive.read(member))["version"]
    return version


def _structure(archive: zipfile.ZipFile, path: str, kinds: Mapping[str, str]) -> Any:
    """Return the JSON data of an archive, after checking its format and version."""
    names = archive.namelist()
    member = next((name for name in kinds if name in names), None)
    if member is None:
        raise ExchangeError(path, _EXPECTED, _other_archive(names))
    structure = json.loads(archive.read(member))
    if structure["format"] != kinds[member]:
        found = repr(structure["format"])
        raise ExchangeError(path, f"the format {kinds[member]!r}", found, member)
    version, newest = structure["version"], VERSIONS[kinds[member]]
    if type(version) is not int or not 1 <= version <= newest:
        expected = f"a format version up to {newest}"
        found = f"{version!r}: it was written by a newer tinynet"
        raise ExchangeError(path, expected, found, member)
    return structure["content"]


def _other_archive(names: list[str]) -> str:
    if names and all(name.endswith(".npy") for name in names):
        return "an .npz file of numpy: numpy.load reads it"
    return f"a zip archive with {', '.join(map(repr, names[:3])) or 'nothing'} in it"


def _read_array(archive: zipfile.ZipFile, path: str, name: str) -> Array:
    """Return a stored array, after verifying its checksum."""
    member = f"{name}.npy"
    if member not in archive.NameToInfo:
        raise ExchangeError(path, f"the array {member}", "no such member")
    file: Any
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = _HEADERS[version]
        shape, in_columns, kind = read_header(file)
        if kind.hasobject:
            raise ExchangeError(path, "numbers", "an array of objects (a pickle)", member)
        size = math.prod(shape) * kind.itemsize
        left = archive.NameToInfo[member].file_size - file.tell()
        if size != left:
            raise ExchangeError(path, f"{size} bytes for {list(shape)}", str(left), member)
        if version == (3, 0):  # names of fields beyond Latin-1: numpy reads its own
            data = io.BytesIO(archive.read(member))
            return np.lib.format.read_array(data, allow_pickle=False)
        memory = bytearray(size)
        filled = file.readinto(memory)
        if filled != size or file.read(1):
            raise ExchangeError(path, f"{size} bytes", str(filled), member)
    return array_in(memory, shape, kind, order="F" if in_columns else "C")


_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,  # the same, but for the encoding of names
}
