"""Nested plain data as JSON, with its arrays stored separately, so that they share memory again.

JSON types represent themselves. Everything else is an object with one key that begins with "$" and
names the kind: ``{"$tuple": [1, 2]}``, ``{"$tensor": "model/weight", "requires_grad": true}``. A
tensor or array refers by name to a separately stored array; with a ``"view"`` it is a view of that
array. Two equal entries are the same object; ``"object"`` distinguishes objects that only share
memory.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array, extension_dtypes
from tinynet.kernels.strides import array_in
from tinynet.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

# ---- arrays that share memory -------------------------------------------------------------------

_ALIGNMENT = 16
_DTYPE = re.compile(r"[<>|=][?biufcSUmM]\d+(\[\w+\])?|bfloat16")  # valid dtypes of a Layout


class Layout(NamedTuple):
    """The position of an array within the memory of another one.

    Attributes:
        dtype: numpy's short name, such as ``"<f4"``, or ``"bfloat16"``.
        offset: bytes from the beginning to the first element.
        shape: the shape.
        strides: strides in bytes.
    """

    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Block(NamedTuple):
    """Memory to store in one piece, and the arrays within it.

    Attributes:
        array: the array to store.
        members: positions of arrays, each with its layout in ``array``; None if it is ``array``.
    """

    array: Array
    members: list[tuple[int, Layout | None]]


def bounds(array: Array) -> tuple[int, int]:
    """Return the addresses of the first byte of an array and of the end of its last one."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)


def overlapping(arrays: Sequence[Array]) -> Iterator[list[int]]:
    """Yield the positions of arrays, grouped by overlapping ranges of memory.

    Arrays without elements are skipped. Two columns of one matrix overlap in this sense.
    """
    spans = sorted((*bounds(a), i) for i, a in enumerate(arrays) if a.size)
    yield from ([i] for i, a in enumerate(arrays) if not a.size)
    group: list[int] = []
    end = 0
    for low, high, i in spans:
        if group and low >= end:
            yield group
            group = []
        end = max(end, high) if group else high
        group.append(i)
    if group:
        yield group


def blocks(arrays: Sequence[Array]) -> list[Block]:
    """Return the blocks to store for some arrays, so that shared memory is shared again on loading.

    A separate array is stored directly. For arrays that share memory, the one that covers all of
    it is stored, or else the bytes from the first to the last. The same is done for an array that
    is larger than its memory (expanded). Record arrays are always stored separately.
    """
    plain = [i for i, array in enumerate(arrays) if not _is_record(array)]
    groups = overlapping([arrays[i] for i in plain])
    made = [_block(arrays, [plain[i] for i in group]) for group in groups]
    # A Layout cannot represent the fields of a record.
    made += [Block(a, [(i, None)]) for i, a in enumerate(arrays) if _is_record(a)]
    return sorted(made, key=lambda block: block.members[0][0])


def _is_record(array: Array) -> bool:
    return array.dtype.kind == "V" and not is_bfloat16(array)


def is_bfloat16(array: Array) -> bool:
    """Return whether an array has dtype bfloat16."""
    return array.dtype.name == dtypes.bfloat16.name


def of_bfloat16_bits(bits: Array) -> Array:
    """Return bfloat16 numbers from their uint16 bits; as float32 if ml_dtypes is not installed."""
    if extension_dtypes.installed():
        return bits.view(dtypes.bfloat16.numpy)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _block(arrays: Sequence[Array], group: list[int]) -> Block:
    group = sorted(group)
    first = arrays[group[0]]
    if all(_same(first, arrays[i]) for i in group) and not _expanded(first):
        return Block(first, [(i, None) for i in group])
    ends = [bounds(arrays[i]) for i in group]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    for i in group:
        if arrays[i].flags.forc and bounds(arrays[i]) == (low, high):
            owner = arrays[i]
            members = [
                (j, None if _same(owner, arrays[j]) else _layout(arrays[j], low)) for j in group
            ]
            return Block(owner, members)
    return _raw_block(arrays, group, low, high)


def _raw_block(arrays: Sequence[Array], group: list[int], low: int, high: int) -> Block:
    """Return a block of plain elements, or of bytes if members differ in dtype."""
    kind = arrays[group[0]].dtype
    alike = (high - low) % kind.itemsize == 0 and all(
        arrays[i].dtype == kind and (_start(arrays[i]) - low) % kind.itemsize == 0 for i in group
    )
    owners = [arrays[i] for i in group]
    data = np.asarray(_Memory(low, high, owners))
    if alike:
        data = data.view(kind)
    else:  # preserve alignment
        low_aligned = low - low % _ALIGNMENT
        data = np.concatenate([np.zeros(low - low_aligned, np.uint8), data])
        low = low_aligned
    return Block(data, [(i, _layout(arrays[i], low)) for i in group])


class _Memory:
    """Bytes between two addresses; keeps the arrays in them alive."""

    def __init__(self, low: int, high: int, owners: list[Array]):
        self.owners = owners
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (high - low,),
            "data": (low, True),  # read-only
        }


def _start(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _same(a: Array, b: Array) -> bool:
    return (
        _start(a) == _start(b)
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
    )


def _expanded(array: Array) -> bool:
    low, high = bounds(array)
    return array.size > 0 and high - low < array.nbytes


def _layout(array: Array, low: int) -> Layout:
    name = array.dtype.name if is_bfloat16(array) else array.dtype.str
    return Layout(name, _start(array) - low, array.shape, array.strides)


def storable(arrays: Sequence[Array], block: Block) -> Block:
    """Return a block whose array numpy can write to a file: bfloat16 as uint16 bits."""
    if not is_bfloat16(block.array):
        return block
    low = _start(block.array)
    members: list[tuple[int, Layout | None]] = [
        (i, layout or _layout(arrays[i], low)) for i, layout in block.members
    ]
    return Block(block.array.view(np.uint16), members)


def placed(array: Array, layout: Layout) -> Array:
    """Return an array within the memory of another one; see ``Layout``.

    Raises:
        ValueError: it would lie outside that memory.
    """
    if not _DTYPE.fullmatch(layout.dtype):
        raise ValueError(f"the dtype {layout.dtype!r:.50}")
    memory = array.T if array.flags.f_contiguous else array
    kind = dtypes.bfloat16.numpy if layout.dtype == dtypes.bfloat16.name else layout.dtype
    return array_in(memory, layout.shape, kind, layout.offset, layout.strides)


def native(array: Array) -> Array:
    """Return an array with one of tinynet's dtypes, in this machine's byte order.

    Raises:
        TypeError: tinynet does not have its dtype.
    """
    array = np.asarray(array, array.dtype.newbyteorder("="))
    return np.asarray(array, dtypes.of(array).numpy)  # the same object, as some callers rely on


# ---- nested data --------------------------------------------------------------------------------

TENSORS = (Tensor, Parameter, Buffer)
LAZY = {
    "UninitializedParameter": UninitializedParameter,
    "UninitializedBuffer": UninitializedBuffer,
}
STORABLE = (
    "dicts, OrderedDicts, Counters, lists, tuples, numbers, strings, bytes, None, Tensors, "
    "Parameters, Buffers, numpy arrays and numbers, dtypes and Sizes"
)
DEPTH = 100  # levels of nesting: each uses several of Python's 1,000 stack frames
_LONG_INT = 10_000  # bits; Python refuses to write much longer integers as decimals


class Attribute(str):
    """An attribute in a path, as opposed to a key."""

    __slots__ = ()


Path = tuple[Any, ...]


class UnstorableError(TypeError):
    """An object cannot be stored.

    Attributes:
        path: the keys and attributes that lead to it.
        what: a description: ``"is a builtins.object"``.
    """

    def __init__(self, path: Path, what: str):
        super().__init__(path, what)
        self.path = path
        self.what = what

    def __str__(self) -> str:
        return f"{expression(self.path)} {self.what}, which cannot be stored: only {STORABLE} are"


def expression(path: Path) -> str:
    """Return a path as a Python expression: ``obj['model'][0].name``."""
    return "obj" + "".join(f".{p}" if isinstance(p, Attribute) else f"[{p!r:.80}]" for p in path)


def kind_of(value: Any) -> str:
    """Return the full name of the class of a value."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


class Encoder:
    """Encodes data as JSON, with its arrays stored separately.

    Example:
        >>> encoder = Encoder()
        >>> encoder.encode({"w": tn.ones(2), "shape": (1, 2)})
        {'w': {'$tensor': 'w'}, 'shape': {'$tuple': [1, 2]}}
        >>> encoder.arrays
        {'w': array([1., 1.], dtype=float32)}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._found: list[tuple[dict[str, Any], str, Array, Path]] = []
        self._known: dict[int, tuple[Any, dict[str, Any]]] = {}  # keeps objects: ids are reused
        self._open: set[int] = set()

    def encode(self, value: Any) -> Any:
        """Return ``value`` as JSON data; ``arrays`` then has the arrays it refers to by name.

        Raises:
            UnstorableError: a part of it cannot be stored without pickle.
        """
        encoded = self._encode(value, ())
        arrays = [array for _, _, array, _ in self._found]
        for block in blocks(arrays):
            self._name(storable(arrays, block))
        seen: Counter[str] = Counter()
        for _, entry in self._known.values():
            text = json.dumps(entry, sort_keys=True)
            if seen[text]:
                entry["object"] = seen[text]
            seen[text] += 1
        return encoded

    def _name(self, block: Block) -> None:
        """Name a stored array after its first member."""
        path = self._found[block.members[0][0]][3]
        parts = [re.sub(r"[^\w.-]|^\.+$", "_", str(part))[:80] for part in path]
        name = "/".join(parts)[:500] or "data"
        while name in self.arrays:
            name += "_"
        self.arrays[name] = block.array
        for position, layout in block.members:
            entry, tag = self._found[position][:2]
            entry[tag] = name
            if layout is not None:
                entry["view"] = [layout.dtype, layout.offset, [*layout.shape], [*layout.strides]]

    # ---- one value --------------------------------------------------------------------------

    def _encode(self, value: Any, path: Path) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if value.bit_length() <= _LONG_INT else {"$int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if kind in _CONTAINERS:
            return self._container(value, path)
        if kind in _SIMPLE:
            tag, encode = _SIMPLE[kind]
            return {tag: encode(value)}
        if id(value) not in self._known:
            self._known[id(value)] = value, self._object(value, path)
        return self._known[id(value)][1]

    def _object(self, value: Any, path: Path) -> dict[str, Any]:
        """Encode an object with identity: if found twice, it is loaded as one object."""
        kind = type(value)
        if kind in TENSORS:
            return self._tensor(value, path)
        if kind in LAZY.values():
            state = {k: v.name if k == "dtype" else v for k, v in vars(value).items()}
            return {"$lazy": kind.__name__, "requires_grad": value.requires_grad, **state}
        if kind in (np.ndarray, np.memmap):
            return self._array({}, "$array", value, path)
        if isinstance(value, np.generic):
            return self._array({}, "$scalar", np.asarray(value), path)
        raise UnstorableError(path, f"is a {kind_of(value)}")

    def _tensor(self, value: Tensor, path: Path) -> dict[str, Any]:
        if value.is_sparse:
            raise UnstorableError(path, "is a sparse tensor (store its .to_dense())")
        entry = self._array({}, "$tensor", value._array, path)
        if type(value) is not Tensor:
            entry["kind"] = type(value).__name__
        if value.requires_grad:
            entry["requires_grad"] = True
        return self._with_attributes(entry, value, path)

    def _array(self, entry: dict[str, Any], tag: str, array: Array, path: Path) -> dict[str, Any]:
        if array.dtype.hasobject:
            raise UnstorableError(path, "is an array of objects")
        entry[tag] = None  # its name, set when all arrays are known
        self._found.append((entry, tag, np.asarray(array), path))
        return entry

    # ---- containers -------------------------------------------------------------------------

    def _container(self, value: Any, path: Path) -> Any:
        if id(value) in self._open:
            raise UnstorableError(path, "contains itself")
        if len(path) >= DEPTH:
            raise UnstorableError(path, f"is nested in more than {DEPTH} levels")
        self._open.add(id(value))
        tag = _CONTAINERS[type(value)]
        encoded: Any
        if isinstance(value, (list, tuple)):
            encoded = [self._encode(item, (*path, i)) for i, item in enumerate(value)]
        elif tag is None and all(type(k) is str and not k.startswith("$") for k in value):
            encoded = {key: self._encode(item, (*path, key)) for key, item in value.items()}
        else:
            tag = tag or "$dict"
            encoded = [
                [self._encode(key, (*path, key)), self._encode(item, (*path, key))]
                for key, item in value.items()
            ]
        self._open.remove(id(value))
        if tag is None:
            return encoded
        return self._with_attributes({tag: encoded}, value, path)

    def _with_attributes(self, entry: dict[str, Any], value: Any, path: Path) -> dict[str, Any]:
        """Add custom attributes of a value, such as a state_dict's ``_metadata``."""
        attributes = getattr(value, "__dict__", None)
        if attributes:
            entry["attributes"] = {
                name: self._attribute(value, name, item, (*path, Attribute(name)))
                for name, item in attributes.items()
            }
        return entry

    def _attribute(self, value: Any, name: str, item: Any, path: Path) -> Any:
        if hides(type(value), name):
            raise UnstorableError(path, f"hides an attribute of {type(value).__name__}")
        return self._encode(item, path)


def hides(kind: type, name: str) -> bool:
    """Return whether an attribute's name would hide a method of the class, or is not valid."""
    return hasattr(kind, name) or not name.isidentifier()


_CONTAINERS: dict[type, str | None] = {
    dict: None,
    list: None,
    tuple: "$tuple",
    Size: "$size",
    OrderedDict: "$ordered",
    Counter: "$counter",
}
_SIMPLE: dict[type, tuple[str, Callable[[Any], Any]]] = {
    complex: ("$complex", lambda value: [repr(value.real), repr(value.imag)]),
    bytes: ("$bytes", lambda value: base64.b64encode(value).decode()),
    dtypes.dtype: ("$dtype", lambda value: value.name),
}
