"""Pickles of data, tensors and objects of any class, as ``torch.save`` writes them.

The contents of state_dicts are written so that ``torch.load(..., weights_only=True)`` reads them.
Objects are stored as in ``pickle``, by the import path of their class and their state; classes that
PyTorch also has are stored under PyTorch's names.
"""

from __future__ import annotations

import copyreg
import sys
import types
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tinynet import dtypes
from tinynet.core.devices import device
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.exchange import opcodes as write
from tinynet.exchange.model import pytorch_state
from tinynet.exchange.pickle_names import STORAGES
from tinynet.exchange.safe_globals import full_name, own
from tinynet.exchange.structure import Attribute, Path, UnstorableError, expression, kind_of
from tinynet.nn.parameter import Buffer, Parameter, is_lazy

DEPTH = 200  # levels of nesting: each uses several of Python's 1,000 stack frames
_STORAGE_OF = {dtype: name for name, dtype in STORAGES.items()}


class UnpicklableError(UnstorableError):
    """Something cannot be pickled."""

    def __str__(self) -> str:
        return f"{expression(self.path)} {self.what}, which cannot be pickled"


class Place(NamedTuple):
    """The position of a tensor: its storage's number and length, and its layout in elements."""

    storage: int
    length: int
    offset: int
    stride: tuple[int, ...]


class Pickler:
    """Writes the instructions that recreate an object; tensors are filled in at the end.

    Attributes:
        tensors: the tensors found, each once.
    """

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self._parts: list[Any] = [write.START]  # a number is a placeholder for a tensor's arguments
        self._memo: dict[int, tuple[int, Any]] = {}  # keeps the object alive: ids are reused
        self._open: set[int] = set()

    def finished(self, places: list[Place]) -> bytes:
        """Return the pickle, given the positions of the tensors."""
        parts = [
            part if isinstance(part, bytes) else _arguments(self.tensors[part], places[part])
            for part in self._parts
        ]
        return b"".join(parts) + write.STOP

    def put(self, value: Any, path: Path) -> None:
        """Write one value.

        Raises:
            UnpicklableError: it cannot be written; the message has its path.
        """
        kind = type(value)
        if kind in _SIMPLE:
            self._add(_SIMPLE[kind](value))
        elif id(value) in self._memo:
            self._add(write.get(self._memo[id(value)][0]))
        elif len(path) >= DEPTH:
            raise UnpicklableError(path, f"is nested in more than {DEPTH} levels")
        elif kind in (list, dict, OrderedDict):
            self._grown(value, path)
        elif kind in (tuple, Size, Counter):
            self._made_of_items(value, path)
        elif isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            self._global(value, path)
        elif isinstance(value, Tensor) and not is_lazy(value):
            self._tensor(value, path)
        else:
            self._object(value, path)

    def _add(self, part: Any) -> None:
        self._parts.append(part)

    def _remember(self, value: Any) -> None:
        self._memo[id(value)] = len(self._memo), value
        self._add(write.put(len(self._memo) - 1))

    def _remember_or_take(self, value: Any) -> bool:
        """Add a value to the memo, unless a cycle through one of its parts has written it."""
        if id(value) not in self._memo:
            self._remember(value)
            return True
        self._add(write.POP + write.get(self._memo[id(value)][0]))
        return False

    # ---- containers -------------------------------------------------------------------------

    def _grown(self, value: Any, path: Path) -> None:
        """Write a container that is added to the memo before its items, which may refer to it."""
        self._add(_EMPTY[type(value)])
        self._remember(value)
        if isinstance(value, list):
            self._appended(value, path)
        else:
            self._set(value.items(), path)
        attributes = getattr(value, "__dict__", None)
        if attributes:  # a state_dict's _metadata
            self.put(dict(attributes), path)
            self._add(write.BUILD)

    def _appended(self, items: Iterable[Any], path: Path) -> None:
        self._add(write.MARK)
        for i, item in enumerate(items):
            self.put(item, (*path, i))
        self._add(write.APPENDS)

    def _set(self, pairs: Iterable[tuple[Any, Any]], path: Path) -> None:
        self._add(write.MARK)
        for key, item in pairs:
            self.put(key, (*path, key))
            self.put(item, (*path, key))
        self._add(write.SET_ITEMS)

    def _made_of_items(self, value: Any, path: Path) -> None:
        """Write a container that is created after its items."""
        if id(value) in self._open and not isinstance(value, tuple):
            raise UnpicklableError(path, "contains itself")
        self._open.add(id(value))
        before, after = _ITEMS[type(value)]
        self._add(before)
        if isinstance(value, dict):
            self._set(value.items(), path)
        else:
            self._add(write.MARK)
            for i, item in enumerate(value):
                self.put(item, (*path, i))
            self._add(write.TUPLE)
        self._open.discard(id(value))
        self._add(after)
        self._remember_or_take(value)

    # ---- classes, functions, objects --------------------------------------------------------

    def _global(self, value: Any, path: Path) -> None:
        if value in _INSTANCES:  # classes without an importable name
            self._add(write.named("builtins.type") + write.MARK)
            self.put(_INSTANCES[value], path)
            self._add(write.TUPLE + write.REDUCE)
            return
        name = full_name(value)
        if own(name) is not value and not _found(value.__module__, value.__qualname__, value):
            raise UnpicklableError(
                path, f"is a {kind_of(value)} (no import finds {name} under that name)"
            )
        self._add(_by_name(name, value))
        self._remember(value)

    def _object(self, value: Any, path: Path) -> None:
        """Write an object by the parts that ``pickle`` reduces it to."""
        reduced = _reduced(value, path)
        if isinstance(reduced, str):
            module = getattr(value, "__module__", None) or "builtins"
            self._add(write.named(f"{module}.{reduced}"))
            self._remember(value)
            return
        make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        name = getattr(make, "__name__", "")
        if name in ("__newobj__", "__newobj_ex__"):
            kind, *arguments = arguments
            self.put(kind, path)
            for argument in (tuple(arguments),) if name == "__newobj__" else arguments:
                self.put(argument, path)
            self._add(write.NEW_OBJECT if name == "__newobj__" else write.NEW_OBJECT_NAMED)
        else:
            self.put(make, path)
            self.put(arguments, path)
            self._add(write.REDUCE)
        if not self._remember_or_take(value):
            return
        if items is not None:
            self._appended(items, path)
        if pairs is not None:
            self._set(pairs, path)
        if state is not None:
            self._state(pytorch_state(value, state), path)
            self._add(write.BUILD)

    def _state(self, state: Any, path: Path) -> None:
        """Write a state; messages show its keys as attributes."""
        if type(state) is not dict:
            self.put(state, path)
            return
        self._add(write.DICT + write.MARK)
        for name, item in state.items():
            self.put(name, path)
            self.put(item, (*path, Attribute(name)))
        self._add(write.SET_ITEMS)

    # ---- tensors ----------------------------------------------------------------------------

    def _tensor(self, value: Tensor, path: Path) -> None:
        if value.is_sparse:
            raise UnpicklableError(path, "is a sparse tensor (store its .to_dense())")
        if value.dtype.name not in _STORAGE_OF:
            raise UnpicklableError(path, f"is a tensor of {value.dtype.name} (store its .long())")
        kind, state = type(value), dict(value.__dict__)
        if kind is Buffer:
            state.pop("persistent")  # stored by PyTorch's modules, not by their buffers
        special = bool(state) or kind not in (Tensor, Parameter, Buffer)
        if not special:
            self._rebuilt(value, isinstance(value, Parameter))
        elif kind is Parameter:
            self._add(write.named(f"{_UTILS}._rebuild_parameter_with_state") + write.MARK)
            self._rebuilt(value, False)
            self._add(write.truth(value.requires_grad) + _NO_HOOKS)
            self._state(state, path)
            self._add(write.TUPLE + write.REDUCE)
        else:
            self._add(write.named("torch._tensor._rebuild_from_type_v2") + write.MARK)
            self._add(write.named(f"{_UTILS}._rebuild_tensor_v2"))
            self.put(Tensor if kind is Buffer else kind, path)
            self._number(value)
            self._state(state, path)
            self._add(write.TUPLE + write.REDUCE)
        self._remember(value)

    def _rebuilt(self, value: Tensor, parameter: bool) -> None:
        if parameter:
            self._add(write.named(f"{_UTILS}._rebuild_parameter") + write.MARK)
        self._add(write.named(f"{_UTILS}._rebuild_tensor_v2"))
        self._number(value)
        self._add(write.REDUCE)
        if parameter:
            self._add(write.truth(value.requires_grad) + _NO_HOOKS + write.TUPLE + write.REDUCE)

    def _number(self, value: Tensor) -> None:
        """Add a placeholder for the arguments of a tensor."""
        self._add(len(self.tensors))
        self.tensors.append(value)


def _arguments(t: Tensor, place: Place) -> bytes:
    """Return the instructions for the arguments that create a tensor."""
    storage = write.items(
        [
            write.text("storage"),
            write.named(_STORAGE_OF[t.dtype.name]),
            write.text(str(place.storage)),
            write.text("cpu"),
            write.integer(place.length),
        ]
    )
    return write.items(
        [
            storage + write.PERSISTENT,
            write.integer(place.offset),
            write.items(map(write.integer, t.shape)),
            write.items(map(write.integer, place.stride)),
            write.truth(t.requires_grad and not isinstance(t, Parameter)),
            _NO_HOOKS,
        ]
    )


def _reduced(value: Any, path: Path) -> str | tuple[Any, ...]:
    """Return the parts that ``pickle`` reduces an object to."""
    try:
        reducer = copyreg.dispatch_table.get(type(value))
        reduced: str | tuple[Any, ...] = reducer(value) if reducer else value.__reduce_ex__(2)
    except (TypeError, AttributeError) as error:
        raise UnpicklableError(path, f"is a {kind_of(value)} ({error})") from None
    return reduced


def _found(module: str, name: str, value: Any) -> bool:
    """Return whether an import path leads to a class or function."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def _by_name(name: str, value: Any) -> bytes:
    """Return the instructions that look up a class or function, even inside a class."""
    outer, _, rest = value.__qualname__.partition(".")
    if not rest or not name.endswith(f".{value.__qualname__}"):
        return write.named(name)
    found = write.named(f"{name.removesuffix(value.__qualname__)}{outer}")
    for part in rest.split("."):
        found = (
            write.named("builtins.getattr") + write.items([found, write.text(part)]) + write.REDUCE
        )
    return found


_INSTANCES: dict[Any, Any] = {type(value): value for value in (None, ..., NotImplemented)}
_UTILS = "torch._utils"
_NO_HOOKS = write.named("collections.OrderedDict") + write.items([]) + write.REDUCE
_EMPTY: dict[type, bytes] = {list: write.LIST, dict: write.DICT, OrderedDict: _NO_HOOKS}
_SIMPLE: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: write.NONE,
    bool: write.truth,
    int: write.integer,
    float: write.number,
    complex: write.complex_number,
    str: write.text,
    bytes: write.octets,
    dtypes.dtype: lambda value: write.named(f"torch.{value.name}"),
    device: lambda value: write.call("torch.device", write.text(str(value))),
}
# Type -> the instructions before and after the tuple or dictionary of its items.
_ITEMS: dict[type, tuple[bytes, bytes]] = {
    tuple: (b"", b""),
    Size: (write.named("torch.Size"), b"\x85" + write.REDUCE),
    Counter: (write.named("collections.Counter") + write.DICT, b"\x85" + write.REDUCE),
}
