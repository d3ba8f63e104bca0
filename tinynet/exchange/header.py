"""The header of a .safetensors file: written as by the ``safetensors`` package, strictly checked.

A file consists of 8 bytes with the length of the header (little-endian), the header (JSON in UTF-8,
padded with spaces to a multiple of 8 bytes), and the data. The header maps names to
``{"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}``, and ``"__metadata__"`` to texts by
name. Offsets count from the beginning of the data, which has neither holes nor overlaps. Numbers
are little-endian, and the last dimension is contiguous.

Source: https://huggingface.co/docs/safetensors/index#format; order and padding follow version 0.8
of the package.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping
from typing import IO, Any, NamedTuple

from tinynet.data.readers.files import LFS_POINTER
from tinynet.exchange.files import ExchangeError, reason
from tinynet.kernels.strides import MOST_DIMENSIONS

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


def build(entries: Mapping[str, Entry], metadata: Mapping[str, str] | None) -> bytes:
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
        metadata: texts by name; None if there are none.
        start: the position in the file where the data begins.
    """

    entries: dict[str, Entry]
    metadata: dict[str, str] | None
    start: int


def read(file: IO[bytes], path: str) -> Header:
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
