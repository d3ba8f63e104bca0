"""tinynet's own format: nested data and tensors in one .npz file, without pickle.

The file is a zip archive: one JSON member holds the structure, and each array is an .npy member, so
`numpy.load` and `unzip` can open it. Nothing in it can run code. Every member has a checksum, which
is verified on reading.
"""

from __future__ import annotations

import base64
import io
import json
import math
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np

from tinynet import dtypes
from tinynet.core.graph.views import set_requires_grad
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap
from tinynet.core.tensors.version import Version
from tinynet.dtypes import Array
from tinynet.exchange.files import (
    ExchangeError,
    check_sizes,
    described,
    reason,
)
from tinynet.exchange.structure import LAZY, Layout, hides, native, placed
from tinynet.kernels.strides import array_in
from tinynet.nn.parameter import Buffer, Parameter

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


# ---- decoding ----


_COPIES = 100  # limit on copied bytes, relative to the arrays of a file; whole arrays count once
DTYPES = {d.name: d for d in dtypes.ALL}


class Decoder:
    """Reconstructs data from JSON and stored arrays.

    Args:
        read: returns the stored array with a given name.

    Example:
        >>> import numpy as np
        >>> decoder = Decoder({"w": np.ones(2, np.float32)}.__getitem__)
        >>> decoder.decode({"w": {"$tensor": "w"}, "shape": {"$tuple": [1, 2]}})
        {'w': tensor([1., 1.]), 'shape': (1, 2)}
    """

    def __init__(self, read: Callable[[str], Array]):
        self._read = read
        self._arrays: dict[str, Array] = {}
        self._versions: dict[str, Version] = {}
        self._objects: dict[str, Any] = {}
        self._copied = 0  # bytes
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "$tuple": lambda entry: tuple(self._items(entry["$tuple"])),
            "$size": lambda entry: Size(self._items(entry["$size"])),
            "$dict": lambda entry: dict(self._pairs(entry["$dict"])),
            "$ordered": self._ordered,
            "$counter": lambda entry: Counter(dict(self._pairs(entry["$counter"]))),
            "$int": lambda entry: int(entry["$int"], 16),
            "$float": lambda entry: float(entry["$float"]),
            "$complex": lambda entry: complex(*map(float, entry["$complex"])),
            "$bytes": lambda entry: base64.b64decode(entry["$bytes"], validate=True),
            "$dtype": lambda entry: DTYPES[entry["$dtype"]],
            "$scalar": lambda entry: self._array(entry, "$scalar")[()],
            "$array": lambda entry: self._once(entry, self._numpy),
            "$tensor": lambda entry: self._once(entry, self._tensor),
            "$lazy": lambda entry: self._once(entry, self._lazy),
        }

    def decode(self, value: Any) -> Any:
        """Return the data of one entry.

        Raises:
            ValueError: its kind is unknown, or it is invalid. JSON not written by ``Encoder`` may
                raise other errors.
        """
        if isinstance(value, list):
            return self._items(value)
        if not isinstance(value, dict):
            return value
        tags = [key for key in value if key.startswith("$")]
        if not tags:
            return {key: self.decode(item) for key, item in value.items()}
        if len(tags) > 1 or tags[0] not in self._kinds:
            raise ValueError(f"an entry of the unknown kind {' '.join(tags)!r}")
        return self._kinds[tags[0]](value)

    def _items(self, items: list[Any]) -> list[Any]:
        return [self.decode(item) for item in items]

    def _pairs(self, pairs: list[Any]) -> list[tuple[Any, Any]]:
        return [(self.decode(key), self.decode(item)) for key, item in pairs]

    def _ordered(self, entry: dict[str, Any]) -> OrderedDict[Any, Any]:
        return self._attributes(OrderedDict(self._pairs(entry["$ordered"])), entry)

    def _attributes(self, value: Any, entry: dict[str, Any]) -> Any:
        for name, item in entry.get("attributes", {}).items():
            if hides(type(value), name):
                raise ValueError(f"an attribute {name!r} that hides one of {type(value).__name__}")
            value.__dict__[name] = self.decode(item)
        return value

    # ---- objects with identity --------------------------------------------------------------

    def _once(self, entry: dict[str, Any], make: Callable[[dict[str, Any]], Any]) -> Any:
        """Return the object of an entry, created the first time it is met."""
        key = json.dumps(entry, sort_keys=True)
        if key not in self._objects:
            self._objects[key] = make(entry)
        return self._objects[key]

    def _array(self, entry: dict[str, Any], tag: str) -> Array:
        name = entry[tag]
        if name not in self._arrays:
            self._arrays[name] = self._read(name)
        array = self._arrays[name]
        if "view" not in entry:
            return array
        kind, offset, shape, strides = entry["view"]
        return placed(array, Layout(str(kind), offset, tuple(shape), tuple(strides)))

    def _native(self, array: Array) -> Array:
        """Return an array in this machine's byte order.

        This copies if the file has the other byte order; each of many overlapping or expanded
        views then has its own copy.
        """
        made = native(array)
        if not array.dtype.isnative:
            self._copied += made.nbytes
            if self._copied > _COPIES * sum(a.nbytes for a in self._arrays.values()):
                raise ValueError("views in another byte order, larger than the file")
        return made

    def _numpy(self, entry: dict[str, Any]) -> Array:
        array = self._array(entry, "$array")
        return array if "object" not in entry else array[...]

    def _tensor(self, entry: dict[str, Any]) -> Tensor:
        array = self._native(self._array(entry, "$tensor"))
        t = wrap(array)
        t._counter = self._versions.setdefault(entry["$tensor"], counter_of(t))
        t = _AS_KIND[entry.get("kind", "Tensor")](t)
        wanted = bool(entry.get("requires_grad", False))
        if wanted and not dtypes.is_inexact(array.dtype):
            raise ValueError(f"a tensor of dtype {array.dtype} that requires grad")
        set_requires_grad(t, wanted)
        return self._attributes(t, entry)

    def _lazy(self, entry: dict[str, Any]) -> Tensor:
        make: Any = LAZY[entry["$lazy"]]
        more = {"persistent": bool(entry["persistent"])} if "persistent" in entry else {}
        return make(bool(entry["requires_grad"]), dtype=DTYPES[entry["dtype"]], **more)


_AS_KIND: dict[str, Callable[[Tensor], Tensor]] = {
    "Tensor": lambda t: t,
    "Parameter": lambda t: Parameter(t, requires_grad=False),
    "Buffer": Buffer,
}
