"""A reader of Python's pickle format that makes plain data and calls only what it was given.

Python's own reader imports and calls whatever a file names. This one knows the instructions that
build numbers, texts and containers, and functions by name from a short list; everything else is
refused by name. ``pickletools`` splits the bytes into instructions and runs nothing.

Source: the documentation of the instructions in Python's ``pickletools``.
"""

from __future__ import annotations

import pickletools
import reprlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO, Any


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a file may call with plain data, and its full name there."""

    name: str
    call: Callable[..., Any]


class RefusedError(ValueError):
    """A file wants something that is not on the list; the message says what, and where."""


_SIZED = (str, bytes, list, tuple, set, dict)
_short = reprlib.Repr()
_short.maxlevel = 3


def brief(value: Any) -> str:
    """Return a value for a message: a whole ``repr`` may be without end where parts are shared."""
    return _short.repr(value)[:200]


class _Costs:
    """How much work the keys and calls of a pickle are, compared with its length.

    The hash of a tuple is that of all its items. A tuple of pairs of pairs of the same tuple takes
    two bytes for each level, and twice the time; one of 100,000 levels needs more stack than there
    is. What costs no more than a pickler's own output is never refused.
    """

    def __init__(self) -> None:
        self._tuples: dict[int, tuple[int, int, Any]] = {}  # id -> depth, items in all, the tuple
        self._spent = 0

    def made(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """Remember a tuple, and return it."""
        nested = [self._tuples[id(item)] for item in items if id(item) in self._tuples]
        depth = 1 + max((depth for depth, _, _ in nested), default=0)
        count = sum(count for _, count, _ in nested) + sum(map(_weight, items)) + 1
        self._tuples[id(items)] = depth, count, items
        return items

    def spend(self, value: Any, place: int, levels: int = 0) -> None:
        """Count the work of hashing a value, or of going through so many levels of containers.

        Raises:
            RefusedError: it is too much for a pickle that has been read up to ``place``.
        """
        depth, count, _ = self._tuples.get(id(value), (0, _weight(value), None))
        if depth > DEPTH:
            raise RefusedError(f"a key or an argument that is nested in {depth} levels")
        self._spent += count
        if self._spent > _FREE + _WORK * place:
            raise RefusedError("keys or arguments that are much larger than the pickle itself")
        if levels and isinstance(value, (list, tuple, dict, set)):
            for item in value:
                self.spend(item, place, levels - 1)


def _weight(value: Any) -> int:
    """Return about how long it takes to hash or copy a value."""
    if isinstance(value, int):
        return 1 + value.bit_length() // 500
    return 1 + (len(value) if isinstance(value, _SIZED) else 0)


class Reader:
    """Reads one pickle.

    Args:
        functions: what may be called, by full name.
        values: what may be named as data, by full name.
        persistent: returns what a persistent id stands for.
        kinds: the types that may be in the data, beside Python's.
        builders: type -> what sets the state of an object of it.

    Example:
        >>> import io, pickle
        >>> reader = Reader()
        >>> reader.read(io.BytesIO(pickle.dumps({"a": (1, 2.5), "b": [None]})))
        {'a': (1, 2.5), 'b': [None]}
        >>> reader.read(io.BytesIO(pickle.dumps(print)))
        Traceback (most recent call last):
        ...
        tinynet.exchange.opcodes.RefusedError: the name builtins.print (at byte ...)
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
        values: Mapping[str, Any] = MappingProxyType({}),
        persistent: Callable[[Any], Any] | None = None,
        kinds: Collection[type] = (),
        builders: Mapping[type, Callable[[Any, Any], None]] = MappingProxyType({}),
    ):
        self._names = {name: Function(name, call) for name, call in functions.items()}
        self._values = values
        self._persistent = persistent
        self._kinds = {*_PLAIN, *kinds}
        self._builders = builders
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def read(self, file: IO[bytes]) -> Any:
        """Return the data of a pickle; the file then stands behind it.

        Raises:
            ValueError: it is damaged, or names what it may not. Other errors are possible where
                no pickler wrote it.
        """
        self._stack, self._marks, self._memo = [], [], {}
        self._costs = _Costs()
        for opcode, argument, place in pickletools.genops(file):
            self._place = place or 0
            try:
                if opcode.name in _LITERALS:
                    self._stack.append(_CONSTANTS.get(opcode.name, argument))
                elif opcode.name in _EMPTY:
                    self._stack.append(_EMPTY[opcode.name]())
                elif opcode.name in _OPERATIONS:
                    _OPERATIONS[opcode.name](self, argument)
                elif opcode.name not in _IGNORED:
                    raise RefusedError(f"the instruction {opcode.name}")
            except RefusedError as error:
                raise RefusedError(f"{error} (at byte {place})") from None
        return self._plain(self._stack.pop())

    # ---- instructions -----------------------------------------------------------------------

    def _mark(self, _: Any) -> None:
        self._marks.append(self._stack)
        self._stack = []

    def _since_mark(self) -> list[Any]:
        items, self._stack = self._stack, self._marks.pop()
        return items

    def _put(self, number: int) -> None:
        self._memo[number] = self._stack[-1]

    def _memoize(self, _: Any) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _get(self, number: int) -> None:
        self._stack.append(self._memo[number])

    def _tuple(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append(self._costs.made(tuple(items)))

    def _tuple_of(self, count: int) -> None:
        items = tuple(self._stack[-count:])
        del self._stack[-count:]
        self._stack.append(self._costs.made(items))

    def _append(self, _: Any) -> None:
        item = self._stack.pop()
        self._target(list).append(item)

    def _appends(self, _: Any) -> None:
        items = self._since_mark()
        self._target(list).extend(items)

    def _add(self, _: Any) -> None:
        items = self._since_mark()
        self._hashed(items)
        self._target(set).update(items)

    def _set_item(self, _: Any) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._hashed([key])
        self._target(dict, OrderedDict, Counter)[key] = value

    def _set_items(self, _: Any) -> None:
        items = self._since_mark()
        self._hashed(items[::2])
        pairs = zip(items[::2], items[1::2], strict=True)
        self._target(dict, OrderedDict, Counter).update(dict(pairs))

    def _hashed(self, keys: list[Any]) -> None:
        for key in keys:
            if type(key) is not str:  # by far the most, and its hash is kept
                self._costs.spend(key, self._place)

    def _target(self, *kinds: type) -> Any:
        target = self._stack[-1]
        if type(target) not in kinds:
            raise RefusedError(f"a change of a {type(target).__name__}")
        return target

    def _global(self, argument: str) -> None:
        self._name(argument.replace(" ", "."))

    def _stack_global(self, _: Any) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise RefusedError(f"the name {brief((module, name))}")
        self._name(f"{module}.{name}")

    def _name(self, name: str) -> None:
        if name in self._values:
            self._stack.append(self._values[name])
        elif name in self._names:
            self._stack.append(self._names[name])
        else:
            raise RefusedError(f"the name {name[:200]}")

    def _reduce(self, _: Any) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        if not isinstance(function, Function) or not isinstance(arguments, tuple):
            raise RefusedError(f"a call of a {type(function).__name__}")
        self._costs.spend(arguments, self._place, levels=3)  # such as OrderedDict([[key, value]])
        self._stack.append(function.call(*arguments))

    def _persistent_id(self, _: Any) -> None:
        if self._persistent is None:
            raise RefusedError("a persistent id")
        self._stack.append(self._persistent(self._stack.pop()))

    def _build(self, _: Any) -> None:
        state = self._stack.pop()
        target = self._target(*self._builders)
        self._costs.spend(state, self._place)
        self._builders[type(target)](target, state)

    # ---- what comes out ---------------------------------------------------------------------

    def _plain(self, data: Any) -> Any:
        """Return the data; refuse it if something is left in it that is none."""
        seen: set[int] = set()
        stack = [data]
        while stack:
            item = stack.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if type(item) not in self._kinds:
                raise RefusedError(getattr(item, "name", type(item).__name__) + " as a value")
            stack += getattr(item, "__dict__", {}).values()
            if isinstance(item, dict):
                stack += [*item.keys(), *item.values()]
            elif isinstance(item, (list, tuple, set)):
                stack += item
        return data


DEPTH = 100  # levels of tuples in a key
_FREE, _WORK = 100_000, 30  # items; items per byte of a pickle

_PLAIN = (
    *(type(None), bool, int, float, complex, str, bytes),
    *(list, tuple, set, dict, OrderedDict, Counter),
)
_LITERALS = frozenset(
    "NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 LONG4 BINFLOAT BINUNICODE SHORT_BINUNICODE "
    "BINUNICODE8 SHORT_BINSTRING BINSTRING SHORT_BINBYTES BINBYTES BINBYTES8".split()
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
    "EMPTY_SET": set,
}
_IGNORED = frozenset({"PROTO", "FRAME", "STOP"})
_OPERATIONS: dict[str, Callable[[Reader, Any], None]] = {
    "MARK": Reader._mark,
    "BINPUT": Reader._put,
    "LONG_BINPUT": Reader._put,
    "MEMOIZE": Reader._memoize,
    "BINGET": Reader._get,
    "LONG_BINGET": Reader._get,
    "TUPLE": Reader._tuple,
    "TUPLE1": lambda reader, _: reader._tuple_of(1),
    "TUPLE2": lambda reader, _: reader._tuple_of(2),
    "TUPLE3": lambda reader, _: reader._tuple_of(3),
    "APPEND": Reader._append,
    "APPENDS": Reader._appends,
    "ADDITEMS": Reader._add,
    "SETITEM": Reader._set_item,
    "SETITEMS": Reader._set_items,
    "GLOBAL": Reader._global,
    "STACK_GLOBAL": Reader._stack_global,
    "REDUCE": Reader._reduce,
    "BINPERSID": Reader._persistent_id,
    "BUILD": Reader._build,
}
