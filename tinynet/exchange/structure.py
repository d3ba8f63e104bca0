"""Nested plain data as JSON, with its arrays stored separately.

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
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.exchange.memory import Block, blocks, storable
from tinynet.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

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
