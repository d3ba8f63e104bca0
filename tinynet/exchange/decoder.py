"""Decoding data from JSON and arrays, the reverse of ``structure.py``. Nothing can run code."""

from __future__ import annotations

import base64
import json
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from tinynet import dtypes
from tinynet.core.graph.views import set_requires_grad
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap
from tinynet.core.tensors.version import Version
from tinynet.dtypes import Array
from tinynet.exchange.memory import Layout, native, placed
from tinynet.exchange.structure import LAZY, hides
from tinynet.nn.parameter import Buffer, Parameter

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
