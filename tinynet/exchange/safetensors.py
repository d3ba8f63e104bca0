"""``.safetensors`` files: written as by the ``safetensors`` package, strictly checked.

A file consists of 8 bytes with the length of the header (little-endian), the header (JSON in UTF-8,
padded with spaces to a multiple of 8 bytes), and the data. The header maps names to
``{"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}``, and ``"__metadata__"`` to texts by
name. Offsets count from the beginning of the data, which has neither holes nor overlaps. Numbers
are little-endian, and the last dimension is contiguous.

All files of the package can be read. Nothing in such a file can run code.

Source: https://huggingface.co/docs/safetensors/index#format; order and padding follow version 0.8
of the package.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.devices import require_cpu
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.readers.files import LFS_POINTER, open_existing
from tinynet.dtypes import Array, extension_dtypes
from tinynet.exchange.files import ExchangeError, StrPath, name_of, opened, reason, write_to
from tinynet.exchange.structure import native, of_bfloat16_bits, overlapping
from tinynet.kernels.strides import MOST_DIMENSIONS
from tinynet.nn.parameter import is_lazy

MAX_HEADER = 100_000_000
"""Bytes; the package refuses longer headers."""

METADATA = "__metadata__"
_LENGTH = struct.Struct("<Q")

# Name -> bits per element, in reverse order of the data in a file.
BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8,
    "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip
_RANK = {name: rank for rank, name in enumerate(BITS)}
NAMES = {
    "bfloat16": "BF16", "float16": "F16", "float32": "F32", "float64": "F64", "uint8": "U8",
    "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "bool": "BOOL",
    "complex64": "C64",
}  # fmt: skip
"""tinynet's dtype -> its name in a file."""


class Entry(NamedTuple):
    """One tensor of a file: the name of its dtype, its shape, and the bounds of its data."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


# ---- writing ------------------------------------------------------------------------------------


def in_order(tensors: Iterable[tuple[str, str]]) -> list[str]:
    """Return the names of tensors, given as (name, dtype), in the order of their data.

    The order is by decreasing alignment, which aligns every tensor, then by name.
    """
    return [name for name, dtype in sorted(tensors, key=lambda t: (-_RANK[t[1]], t[0]))]


def build_header(entries: Mapping[str, Entry], metadata: Mapping[str, str] | None) -> bytes:
    """Return the beginning of a file: the length and the header.

    Raises:
        ValueError: a name or text is not valid Unicode, or the header would be too long.
    """
    header: dict[str, Any] = {} if metadata is None else {METADATA: dict(metadata)}
    for name, entry in entries.items():
        header[name] = {
            "dtype": entry.dtype,
            "shape": list(entry.shape),
            "data_offsets": [entry.begin, entry.end],
        }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER:
        raise ValueError(f"the header has {len(text)} bytes, and {MAX_HEADER} are allowed")
    return _LENGTH.pack(len(text)) + text


# ---- reading ------------------------------------------------------------------------------------


class Header(NamedTuple):
    """The contents of a header.

    Attributes:
        entries: by name, in the order of their data.
        metadata: a text for each name; None if the file has none.
        start: the position in the file where the data begins.
    """

    entries: dict[str, Entry]
    metadata: dict[str, str] | None
    start: int


def read_header(file: IO[bytes], path: str) -> Header:
    """Read and check the header of a file.

    Args:
        file: a seekable file.
        path: its name for messages.

    Raises:
        ExchangeError: it is another kind of file, it is damaged, or its header is wrong.
    """
    size = file.seek(0, 2)
    file.seek(0)
    start = file.read(8)
    if len(start) < 8:
        raise ExchangeError(path, "at least 8 bytes, the length of a header", str(len(start)))
    if start.startswith(LFS_POINTER[0]):
        raise ExchangeError(path, "a .safetensors file", LFS_POINTER[1])
    (length,) = _LENGTH.unpack(start)
    if length > MAX_HEADER:
        found = f"{length} (the first 8 bytes are {start!r})"
        raise ExchangeError(path, f"a header of up to {MAX_HEADER} bytes", found)
    if length > size - 8:
        raise ExchangeError(
            path, f"a header of {length} bytes", f"{size - 8} before the end of the file"
        )
    raw = _parsed(file.read(length), path)
    metadata = _metadata(raw.pop(METADATA, None), path)
    entries = {name: _entry(name, value, path) for name, value in raw.items()}
    ordered = dict(sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)))
    _check_places(ordered, size - 8 - length, path)
    return Header(ordered, metadata, 8 + length)


def _parsed(text: bytes, path: str) -> dict[str, Any]:
    if text[:1] != b"{":
        raise ExchangeError(path, "a header that begins with '{'", repr(text[:8]), "header")
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        raise ExchangeError(path, "UTF-8", reason(error), "header") from None
    try:
        header: dict[str, Any] = json.loads(
            decoded, object_pairs_hook=_without_duplicates, parse_constant=_no_number
        )
        json.dumps(header, ensure_ascii=False).encode()  # escapes may hide invalid text
    except (ValueError, RecursionError) as error:
        raise ExchangeError(path, "JSON", reason(error), "header") from None
    return header


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"the key {key!r:.200} more than once")
        made[key] = value
    return made


def _no_number(text: str) -> None:
    raise ValueError(f"{text}, which is not valid JSON")


def _metadata(value: Any, path: str) -> dict[str, str] | None:
    texts = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    if value is not None and not texts:
        raise ExchangeError(path, "a mapping of names to strings", f"{value!r:.200}", METADATA)
    return value


def _entry(name: str, value: Any, path: str) -> Entry:
    """Return the header's entry for one tensor."""
    where = f"tensor {name!r:.200}"
    keys = ("dtype", "shape", "data_offsets")
    if not isinstance(value, dict) or not all(key in value for key in keys):
        raise ExchangeError(path, f"an object with {', '.join(keys)}", f"{value!r:.200}", where)
    dtype, shape, offsets = (value[key] for key in keys)
    if not isinstance(dtype, str) or dtype not in BITS:
        raise ExchangeError(path, f"a dtype, one of {', '.join(BITS)}", f"{dtype!r:.200}", where)
    if not _naturals(shape):
        raise ExchangeError(path, "a shape of integers >= 0", f"{shape!r:.200}", where)
    if not _naturals(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ExchangeError(path, "data_offsets [begin, end]", f"{offsets!r:.200}", where)
    if len(shape) > MOST_DIMENSIONS:
        expected = f"up to {MOST_DIMENSIONS} dimensions, numpy's limit"
        raise ExchangeError(path, expected, str(len(shape)), where)
    bits = BITS[dtype] * math.prod(shape)
    if math.prod(max(n, 1) for n in shape) * 8 >= 2**63:
        raise ExchangeError(path, "a shape that fits into memory", f"{shape!r:.200}", where)
    begin, end = offsets
    if bits != 8 * (end - begin):
        expected = f"{bits / 8:g} bytes for {dtype} of shape {shape!r:.200}"
        raise ExchangeError(path, expected, f"data_offsets {offsets}", where)
    return Entry(dtype, tuple(shape), begin, end)


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)


def _check_places(entries: Mapping[str, Entry], size: int, path: str) -> None:
    """Refuse data with holes or overlaps, and data that does not fill the file."""
    reached, before = 0, "the data"
    for name, entry in entries.items():
        if entry.begin != reached:
            what = "overlaps" if entry.begin < reached else "a hole"
            expected = f"data from byte {reached} on, after {before}"
            found = f"{what}: data_offsets [{entry.begin}, {entry.end}]"
            raise ExchangeError(path, expected, found, f"tensor {name!r:.200}")
        reached, before = entry.end, repr(name)
    if reached != size:
        raise ExchangeError(path, f"{reached} bytes of data, as stated in its header", str(size))


BFLOAT16 = NAMES["bfloat16"]
_DTYPES = {
    name: np.dtype(np.uint16 if name == BFLOAT16 else dtype).newbyteorder("<")
    for dtype, name in NAMES.items()
}  # bfloat16 as its bits


# ---- writing ------------------------------------------------------------------------------------


def save_file(
    tensors: dict[str, Tensor],
    filename: StrPath | IO[bytes],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write tensors to a .safetensors file, replacing an existing file atomically.

    The bytes are the ones that ``safetensors.torch.save_file`` writes. Non-contiguous
    tensors are written in row-major order (the package refuses them).

    Args:
        tensors: tensors by name; ``requires_grad`` and history are not stored.
        filename: a path, or a file open for writing in binary mode.
        metadata: a text for each name.

    Raises:
        ValueError: a value is not a dense tensor.
        RuntimeError: tensors share memory; ``save_model`` stores shared tensors once.
        OSError: the file cannot be written; an existing file is unchanged.

    Example:
        >>> path = getfixture("tmp_path") / "model.safetensors"
        >>> model = nn.Linear(2, 1)
        >>> tn.exchange.save_file(model.state_dict(), path, {"epoch": "3"})
        >>> model.load_state_dict(tn.exchange.load_file(path))
        <All keys matched successfully>
    """
    parts = _parts(tensors, metadata)
    write_to(filename, lambda file: file.writelines(parts))


def save(tensors: dict[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the contents of the file that ``save_file`` writes.

    Example:
        >>> tn.exchange.safetensors.save({})
        b'\\x08\\x00\\x00\\x00\\x00\\x00\\x00\\x00{}      '
    """
    return b"".join(_parts(tensors, metadata))


def _parts(tensors: dict[str, Tensor], metadata: Mapping[str, str] | None) -> list[Any]:
    """Return the header and the data of each tensor."""
    _check_tensors(tensors)
    _check_metadata(metadata)
    arrays = {name: t._array for name, t in tensors.items()}
    _refuse_shared(arrays)
    kinds = {name: _kind(name, array) for name, array in arrays.items()}
    entries: dict[str, Entry] = {}
    data: list[Any] = []
    end = 0
    for name in in_order(kinds.items()):
        bits = arrays[name].view(np.uint16) if kinds[name] == BFLOAT16 else arrays[name]
        array = np.ascontiguousarray(bits, _DTYPES[kinds[name]])
        begin, end = end, end + array.nbytes
        entries[name] = Entry(kinds[name], arrays[name].shape, begin, end)
        data.append(array.reshape(-1).view(np.uint8))
    return [build_header(entries, metadata), *data]


def _kind(name: str, array: Array) -> str:
    """Return a file's name for the dtype of a tensor."""
    kind = dtypes.of(array).name
    if kind not in NAMES:
        raise TypeError(f"tensor {name!r} has dtype {kind}, which files of safetensors do not have")
    return NAMES[kind]


def _check_tensors(tensors: Any) -> None:
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, tinynet.Tensor] but received {type(tensors)}")
    for name, t in tensors.items():
        if not isinstance(name, str):
            raise TypeError(f"Expected a dict of [str, tinynet.Tensor] but received a key {name!r}")
        if not isinstance(t, Tensor):
            raise ValueError(
                f"Key `{name}` is invalid, expected tinynet.Tensor but received {type(t)}"
            )
        if is_lazy(t):
            raise ValueError(f"Key `{name}` is a lazy parameter without values yet.")
    if METADATA in tensors:
        raise ValueError(f"Key `{METADATA}` is invalid: a file keeps its metadata there.")
    sparse = [name for name, t in tensors.items() if t.is_sparse]
    if sparse:
        raise ValueError(
            f"You are trying to save a sparse tensors: `{sparse}` which this library does not "
            "support. You can make it a dense tensor before saving with `.to_dense()` but be aware "
            "this might make a much larger file than needed."
        )


def _check_metadata(metadata: Any) -> None:
    if metadata is None:
        return
    pairs = [item for pair in metadata.items() for item in pair]
    for item in pairs:
        if not isinstance(item, str):
            raise TypeError(
                f"The 'metadata' parameter must map texts to texts. Got {item!r} instead."
            )


def _refuse_shared(arrays: Mapping[str, Array]) -> None:
    groups = shared(arrays)
    if groups:
        listed = ", ".join("{" + ", ".join(map(repr, sorted(group))) + "}" for group in groups)
        raise RuntimeError(
            "Some tensors share memory, this will lead to duplicate memory on disk and potential "
            f"differences when loading them again: [{listed}]. A potential way to correctly save "
            "your model is to use `save_model`."
        )


def shared(arrays: Mapping[str, Array]) -> list[list[str]]:
    """Return the names of arrays that lie in overlapping memory, for two or more."""
    names = list(arrays)
    groups = overlapping(list(arrays.values()))
    return [[names[i] for i in group] for group in groups if len(group) > 1]


# ---- reading ------------------------------------------------------------------------------------


def load_file(filename: StrPath | IO[bytes], device: Any = "cpu") -> dict[str, Tensor]:
    """Return the tensors of a .safetensors file by name.

    The tensors have their own memory: later changes of the file do not affect them. To read parts
    of a file larger than memory, use ``safe_open``.
    Without the package ml_dtypes, bfloat16 is read as float32, exactly, with a warning that names
    the tensors.

    Args:
        filename: a path, or a file open for reading in binary mode.
        device: only the cpu.

    Raises:
        OSError: the file does not exist or cannot be read.
        ExchangeError: it is damaged, or contains a dtype that tinynet does not have; ``safe_open``
            reads the other tensors.

    Example:
        >>> path = getfixture("tmp_path") / "a.safetensors"
        >>> tn.exchange.save_file({"b": tn.ones(2), "a": tn.tensor(True)}, path)
        >>> tn.exchange.load_file(path)
        {'b': tensor([1., 1.]), 'a': tensor(True)}
    """
    with safe_open(filename, device=device) as file:
        return file.get_tensors()


def load(data: bytes) -> dict[str, Tensor]:
    """Return the tensors in the contents of a .safetensors file.

    Example:
        >>> tn.exchange.safetensors.load(tn.exchange.safetensors.save({"a": tn.ones(2)}))
        {'a': tensor([1., 1.])}
    """
    with safe_open(io.BytesIO(data)) as file:
        return file.get_tensors()


def warn_of_bfloat16(path: str, count: int, what: str) -> None:
    """Warn about tensors converted from bfloat16 because ml_dtypes is not installed."""
    if count and not extension_dtypes.installed():
        warn(
            f"{path}: bfloat16 read as float32 with equal values, since ml_dtypes is not "
            f"installed, for {count} {what}"
        )


class safe_open:  # noqa: N801  # the package's name
    """A .safetensors file opened for reading tensors one by one.

    The header is read and checked immediately, the data of a tensor on each access. Tensors stay
    valid after the file is closed.

    Args:
        filename: a path, or a file open for reading in binary mode.
        framework: ``"pt"`` for Tensors, ``"np"`` for numpy arrays.
        device: only the cpu.

    Raises:
        OSError: the file does not exist or cannot be read.
        ExchangeError: it is damaged.

    Example:
        >>> path = getfixture("tmp_path") / "a.safetensors"
        >>> tn.exchange.save_file({"a": tn.ones(2, 3), "b": tn.zeros(2)}, path, {"made": "here"})
        >>> with tn.exchange.safe_open(path) as file:
        ...     print(file.keys(), file.metadata())
        ...     print(file.get_slice("a").get_shape(), file.get_slice("a")[:, 1])
        ['a', 'b'] {'made': 'here'}
        [2, 3] tensor([1., 1.])
    """

    def __init__(self, filename: StrPath | IO[bytes], framework: str = "pt", device: Any = "cpu"):
        if framework not in ("pt", "pytorch", "torch", "np", "numpy", "tinynet"):
            raise ValueError(
                f"The 'framework' parameter must be 'pt' or 'np'. Got {framework!r} instead."
            )
        if device is not None:
            require_cpu(device)
        self._arrays = framework in ("np", "numpy")
        self._path = name_of(filename)
        self._file = _readable(filename)
        try:
            self._header = read_header(self._file, self._path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """Return the names of all tensors, sorted."""
        return sorted(self._entries())

    def offset_keys(self) -> list[str]:
        """Return the names of all tensors in the order of their data."""
        return list(self._entries())

    def metadata(self) -> dict[str, str] | None:
        """Return the metadata, texts by name; None if there are none."""
        self._entries()
        return self._header.metadata

    def get_tensor(self, name: str) -> Any:
        """Return a tensor.

        Raises:
            KeyError: there is no tensor of that name.
            ExchangeError: tinynet does not have its dtype.
        """
        return self.get_slice(name)[...]

    def get_tensors(self) -> dict[str, Any]:
        """Return all tensors by name, in the order of their data."""
        names = self.offset_keys()
        self._note_bfloat16(names)
        return {name: self._result(self._read(name)) for name in names}

    def get_slice(self, name: str) -> TensorSlice:
        """Return a tensor whose parts can be read by indexing."""
        self._entry(name)
        return TensorSlice(self, name)

    def _entries(self) -> dict[str, Entry]:
        if self._file.closed:
            raise ValueError("the file is closed: read from it inside its `with` block")
        return self._header.entries

    def _entry(self, name: str) -> Entry:
        entries = self._entries()
        if name not in entries:
            listed = f"{', '.join(map(repr, list(entries)[:8]))}{', ...' * (len(entries) > 8)}"
            raise KeyError(f"{self._path} contains no tensor {name!r}. It has {listed or 'none'}")
        return entries[name]

    def _read(self, name: str, rows: range | None = None) -> Array:
        """Return a copy of a tensor's values, or of some of its rows."""
        entry, where = self._entry(name), f"tensor {name!r}"
        kind = _DTYPES.get(entry.dtype)
        if kind is None:
            known = f"a dtype that tinynet has ({', '.join(_DTYPES)})"
            raise ExchangeError(self._path, known, entry.dtype, where)
        shape, begin = entry.shape, self._header.start + entry.begin
        if rows is not None:
            begin += rows.start * math.prod(shape[1:]) * kind.itemsize
            shape = (len(rows), *shape[1:])
        array = np.empty(shape, kind)
        raw = array.reshape(-1).view(np.uint8)
        self._file.seek(begin)
        found = self._file.readinto(raw) if raw.size else 0  # type: ignore[attr-defined]
        if found != raw.size:
            raise ExchangeError(
                self._path, f"{raw.size} bytes", f"{found}: the file became shorter", where
            )
        if kind.kind == "b" and raw.max(initial=0) > 1:
            raise ExchangeError(self._path, "0 or 1 in each byte of BOOL", str(raw.max()), where)
        if entry.dtype == BFLOAT16:
            return of_bfloat16_bits(array.astype(np.uint16, copy=False))
        return native(array)

    def _result(self, array: Array) -> Any:
        """Return an array as the framework's kind of tensor."""
        return array if self._arrays else wrap(array)

    def _note_bfloat16(self, names: Iterable[str]) -> None:
        read = [name for name in names if self._entry(name).dtype == BFLOAT16]
        listed = ", ".join(map(repr, read[:5])) + (", ..." if len(read) > 5 else "")
        warn_of_bfloat16(self._path, len(read), f"tensor(s): {listed}")


class TensorSlice:
    """A tensor of an open file: ``part[2:5, ::2]`` reads only that part."""

    def __init__(self, file: safe_open, name: str):
        self._file, self._name = file, name

    def get_shape(self) -> list[int]:
        """Return the shape of the whole tensor."""
        return list(self._file._entry(self._name).shape)

    def get_dtype(self) -> str:
        """Return the file's name of the dtype, such as ``"F32"``."""
        return self._file._entry(self._name).dtype

    def __getitem__(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        for part in parts:
            if not (part is ... or isinstance(part, (int, slice))):
                raise TypeError(f"only integers, slices and ... can be read. Got {part!r} instead.")
        self._file._note_bfloat16([self._name])
        rows, first = _rows(self._file._entry(self._name).shape, parts[0] if parts else ...)
        parts = (first, *parts[1:])
        array = self._file._read(self._name, rows)
        return self._file._result(array[(*parts, ...) if ... not in parts else parts])


def _rows(shape: tuple[int, ...], index: Any) -> tuple[range | None, Any]:
    """Return the rows needed for an index of the first dimension (None: all), and the new index."""
    if not shape or index is ...:
        return None, index
    if isinstance(index, slice):
        wanted = range(shape[0])[index]
        if not wanted:
            return range(0), slice(None)
        return range(min(wanted), max(wanted) + 1), slice(None, None, wanted.step)
    if not -shape[0] <= index < shape[0]:
        raise IndexError(f"index {index} is out of bounds for axis 0 with size {shape[0]}")
    return range(index % shape[0], index % shape[0] + 1), 0


def _readable(file: StrPath | IO[bytes]) -> IO[bytes]:
    """Return a seekable file that stays open; pipes and file objects are read into memory."""
    if isinstance(file, (str, os.PathLike)):
        handle = open_existing(file)
        if handle.seekable():
            return handle
        with handle:
            return io.BytesIO(handle.read())
    with opened(file) as source:
        return io.BytesIO(source.read())
