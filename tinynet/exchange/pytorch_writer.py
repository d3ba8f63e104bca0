"""Writing files that ``torch.load`` reads: a zip archive with a pickle and the bytes of storages.

The instructions of the pickle are written here one by one, protocol 2. They name only what
``torch.load(..., weights_only=True)`` allows.
"""

from __future__ import annotations

import struct
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import IO, Any, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.core.size import Size
from tinynet.core.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.exchange.files import StrPath, write_to
from tinynet.exchange.memory import blocks
from tinynet.exchange.pytorch_names import STORAGES
from tinynet.exchange.structure import DEPTH, Attribute, Path, UnstorableError, kind_of
from tinynet.nn.parameter import Buffer, Parameter

_FOLDER = "archive"
_STORAGE_OF = {dtype: name for name, dtype in STORAGES.items()}


def save_pytorch(obj: Any, f: StrPath | IO[bytes]) -> None:
    """Write state_dicts to a file that ``torch.load`` reads.

    Until it is complete, an old one stays. Tensors become PyTorch's, with their strides; those that
    share memory share it again.

    Args:
        obj: dicts, OrderedDicts, Counters, lists, tuples, numbers, strings, bytes, None, Tensors,
            Parameters, dtypes and Sizes, nested in any way.
        f: a path, or a file open for writing in binary mode.

    Raises:
        TypeError: there is something else in ``obj``; the message has its path inside.
        RuntimeError: tensors share memory, and are of different dtypes.
        OSError: the file cannot be written; an old one is as it was.

    Example:
        >>> path = getfixture("tmp_path") / "model.pt"
        >>> model = nn.Linear(2, 1)
        >>> optimizer = optim.Adam(model.parameters())
        >>> state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        >>> tn.exchange.save_pytorch(state, path)

        and in PyTorch: ``model.load_state_dict(torch.load(path)["model"])``.
    """
    pickle = _Pickle()
    pickle.put(obj, ())
    data, storages = pickle.finished()
    write_to(f, lambda file: _write(file, data, storages))


def _write(file: IO[bytes], pickle: bytes, storages: list[Array]) -> None:
    members: dict[str, Any] = {"data.pkl": pickle, "byteorder": b"little", "version": b"3\n"}
    members |= {f"data/{i}": array.view(np.uint8).data for i, array in enumerate(storages)}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            # A fixed date, so that equal contents make equal files.
            info = zipfile.ZipInfo(f"{_FOLDER}/{name}")
            with archive.open(info, "w", force_zip64=len(data) > 2**31) as member:
                member.write(data)


class _Pickle:
    """Instructions that make an object again; those of tensors are written at the end."""

    def __init__(self) -> None:
        self._parts: list[Any] = [b"\x80\x02"]  # a number stands for a tensor
        self._tensors: list[Tensor] = []
        self._open: set[int] = set()

    def finished(self) -> tuple[bytes, list[Array]]:
        """Return the pickle, and the storages that it refers to."""
        storages, places = _storages([t._array for t in self._tensors])
        known: dict[int, int] = {}
        out = bytearray()
        for part in self._parts:
            if isinstance(part, bytes):
                out += part
                continue
            t = self._tensors[part]
            if id(t) in known:
                out += b"j" + struct.pack("<I", known[id(t)])
            else:
                known[id(t)] = len(known)
                out += _tensor(t, places[part]) + b"r" + struct.pack("<I", known[id(t)])
        return bytes(out) + b".", storages

    def put(self, value: Any, path: Path) -> None:
        """Write one value."""
        kind = type(value)
        if kind in _SIMPLE:
            self._parts.append(_SIMPLE[kind](value))
        elif kind in _CONTAINERS:
            self._container(value, path)
        elif kind in (Tensor, Parameter, Buffer) and not value.is_sparse:
            extra = [name for name in vars(value) if kind is not Buffer or name != "persistent"]
            if extra:
                raise UnstorableError((*path, Attribute(extra[0])), "is an attribute of a tensor")
            self._parts.append(len(self._tensors))
            self._tensors.append(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            raise UnstorableError(path, f"is a {kind_of(value)} (make it a tensor or a number)")
        else:
            raise UnstorableError(path, f"is a {kind_of(value)}")

    def _container(self, value: Any, path: Path) -> None:
        if id(value) in self._open:
            raise UnstorableError(path, "contains itself")
        if len(path) >= DEPTH:
            raise UnstorableError(path, f"is nested in more than {DEPTH} levels")
        self._open.add(id(value))
        before, after = _CONTAINERS[type(value)]
        self._parts.append(before + b"(")
        if isinstance(value, dict):
            for key, item in value.items():
                self.put(key, (*path, key))
                self.put(item, (*path, key))
        else:
            for i, item in enumerate(value):
                self.put(item, (*path, i))
        self._parts.append(after)
        attributes = getattr(value, "__dict__", None)
        if attributes:  # a state_dict's _metadata
            self.put(dict(attributes), path)
            self._parts.append(b"b")
        self._open.remove(id(value))


# ---- values -------------------------------------------------------------------------------------


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


def _int(value: int) -> bytes:
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if len(data) < 256:
        return b"\x8a" + bytes([len(data)]) + data
    return b"\x8b" + struct.pack("<i", len(data)) + data


def _named(name: str) -> bytes:
    module, _, attribute = name.rpartition(".")
    return f"c{module}\n{attribute}\n".encode()


def _tuple(parts: Iterable[bytes]) -> bytes:
    return b"(" + b"".join(parts) + b"t"


def _call(name: str, *arguments: bytes) -> bytes:
    return _named(name) + _tuple(arguments) + b"R"


_NO_HOOKS = _named("collections.OrderedDict") + b")R"
_SIMPLE: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"\x88" if value else b"\x89",
    int: _int,
    float: lambda value: b"G" + struct.pack(">d", value),
    complex: lambda z: _call("__builtin__.complex", *map(_SIMPLE[float], (z.real, z.imag))),
    str: _text,
    bytes: lambda value: _call("_codecs.encode", _text(value.decode("latin1")), _text("latin1")),
    dtypes.dtype: lambda value: _named(f"torch.{value.name}"),
}
# Type -> the instructions before its items (and a mark), and after them.
_CONTAINERS: dict[type, tuple[bytes, bytes]] = {
    list: (b"]", b"e"),
    tuple: (b"", b"t"),
    Size: (_named("torch.Size"), b"t\x85R"),
    dict: (b"}", b"u"),
    OrderedDict: (_NO_HOOKS, b"u"),
    Counter: (_named("collections.Counter") + b"}", b"u\x85R"),
}


# ---- tensors ------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where a tensor lies: the number and length of its storage, and in elements its layout."""

    storage: int
    length: int
    offset: int
    stride: tuple[int, ...]


def _storages(arrays: list[Array]) -> tuple[list[Array], list[_Place]]:
    """Return storages as one-dimensional arrays, and the place of each array in them."""
    storages: list[Array] = []
    places: dict[int, _Place] = {}
    arrays = [a.copy() if any(n % a.itemsize for n in a.strides) else a for a in arrays]
    for block in blocks(arrays):
        kinds = {block.array.dtype, *(arrays[i].dtype for i, _ in block.members)}
        if len(kinds) > 1:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                f"types: {', '.join(sorted(map(str, kinds)))}"
            )
        array = block.array if block.array.flags.forc else block.array.copy("C")
        flat = array.ravel(order="K")
        for i, layout in block.members:
            offset, strides = (
                (0, array.strides) if layout is None else (layout.offset, layout.strides)
            )
            steps = tuple(n // array.itemsize for n in strides)
            places[i] = _Place(len(storages), flat.size, offset // array.itemsize, steps)
        storages.append(flat)
    return storages, [places[i] for i in range(len(arrays))]


def _tensor(t: Tensor, place: _Place) -> bytes:
    """Return the instructions that make a tensor."""
    storage = _tuple(
        [
            _text("storage"),
            _named(_STORAGE_OF[t.dtype.name]),
            _text(str(place.storage)),
            _text("cpu"),
            _int(place.length),
        ]
    )
    parameter = isinstance(t, Parameter)
    data = _call(
        "torch._utils._rebuild_tensor_v2",
        storage + b"Q",
        _int(place.offset),
        _tuple(map(_int, t.shape)),
        _tuple(map(_int, place.stride)),
        _SIMPLE[bool](t.requires_grad and not parameter),
        _NO_HOOKS,
    )
    if not parameter:
        return data
    flag = _SIMPLE[bool](t.requires_grad)
    return _call("torch._utils._rebuild_parameter", data, flag, _NO_HOOKS)
