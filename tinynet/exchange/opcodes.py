"""A reader of Python's pickle format that builds plain data and calls only listed functions.

Python's own reader imports and calls whatever a file names. This one supports the instructions that
build numbers, texts and containers, and calls functions by name from a short list; it refuses
everything else by name. ``pickletools`` splits the bytes into instructions and runs nothing.

Source: the documentation of the instructions in Python's ``pickletools``.
"""

from __future__ import annotations

import pickletools
import reprlib
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO, Any

# ---- instructions -------------------------------------------------------------------------------
# Pickle instructions, protocol 2, as bytes.
#
# Source: the documentation of the instructions in Python's ``pickletools``.


START, STOP = b"\x80\x02", b"."
MARK, REDUCE, BUILD, PERSISTENT = b"(", b"R", b"b", b"Q"
NEW_OBJECT, NEW_OBJECT_NAMED = b"\x81", b"\x92"  # the second is protocol 4, supported everywhere
TUPLE, LIST, DICT = b"t", b"]", b"}"
APPENDS, SET_ITEMS, POP = b"e", b"u", b"0"
NONE = b"N"


def text(value: str) -> bytes:
    """Return the instruction for a text."""
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value: int) -> bytes:
    """Return the instruction for an integer of any length."""
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if len(data) < 256:
        return b"\x8a" + bytes([len(data)]) + data
    return b"\x8b" + struct.pack("<i", len(data)) + data


def number(value: float) -> bytes:
    """Return the instruction for a float."""
    return b"G" + struct.pack(">d", value)


def truth(value: bool) -> bytes:
    """Return the instruction for a bool."""
    return b"\x88" if value else b"\x89"


def octets(value: bytes) -> bytes:
    """Return the instructions for bytes, which protocol 2 stores as text."""
    return call("_codecs.encode", text(value.decode("latin1")), text("latin1"))


def complex_number(value: complex) -> bytes:
    """Return the instructions for a complex number."""
    return call("__builtin__.complex", number(value.real), number(value.imag))


def named(name: str) -> bytes:
    """Return the instruction that looks up a class or function by its full name."""
    module, _, attribute = name.rpartition(".")
    return f"c{module}\n{attribute}\n".encode()


def items(parts: Iterable[bytes]) -> bytes:
    """Return the instructions for a tuple."""
    return MARK + b"".join(parts) + TUPLE


def call(name: str, *arguments: bytes) -> bytes:
    """Return the instructions for a call by name."""
    return named(name) + items(arguments) + REDUCE


def put(number: int) -> bytes:
    """Return the instruction that stores the last value in the memo under a number."""
    return b"r" + struct.pack("<I", number)


def get(number: int) -> bytes:
    """Return the instruction that fetches a value from the memo."""
    return b"j" + struct.pack("<I", number)


# ---- opcodes ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a file may call with plain data, and its full name in the file."""

    name: str
    call: Callable[..., Any]


def names_in(file: IO[bytes]) -> Iterator[tuple[str, str]]:
    """Yield module and name of everything that a pickle names, in order, without running it."""
    texts: list[str] = []
    memo: dict[int, Any] = {}
    last: Any = None
    argument: Any
    for opcode, argument, _ in pickletools.genops(file):
        if opcode.name == "GLOBAL":
            module, _, name = argument.partition(" ")
            yield module, name
        elif opcode.name == "STACK_GLOBAL":
            module, name = texts[-2:]
            yield module, name
        if opcode.name == "MEMOIZE":
            memo[len(memo)] = last
            continue
        if opcode.name in _PUTS:
            memo[argument] = last
            continue
        last = memo.get(argument) if opcode.name in _GETS else argument
        if isinstance(last, str):
            texts.append(last)


class Reader:
    """Reads one pickle.

    Args:
        functions: functions that may be called, by full name.
        values: objects that may be named as data, by full name.
        persistent: returns the object for a persistent id.
        kinds: types that may appear in the data, besides Python's.
        builders: type -> function that sets the state of an object of that type.

    Example:
        >>> import io, pickle
        >>> reader = Reader()
        >>> reader.read(io.BytesIO(pickle.dumps({"a": (1, 2.5), "b": [None]})))
        {'a': (1, 2.5), 'b': [None]}
        >>> reader.read(io.BytesIO(pickle.dumps(print)))
        Traceback (most recent call last):
        ...
        tinynet.exchange.opcodes.RefusedNameError: the name builtins.print (at byte ...)
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
        """Return the data of a pickle; leaves the file after it.

        Raises:
            ValueError: it is damaged, or names something that is not permitted. Bytes not written
                by a pickler may raise other errors.
        """
        self._stack, self._marks, self._memo = [], [], {}
        self._costs = Costs()
        for opcode, argument, place in pickletools.genops(file):
            self._place = place or 0
            try:
                if opcode.name in _LITERALS:
                    self._stack.append(_CONSTANTS.get(opcode.name, argument))
                elif opcode.name in _EMPTY:
                    self._stack.append(_EMPTY[opcode.name]())
                elif opcode.name in _TUPLES:
                    self._tuple_of(_TUPLES[opcode.name])
                elif opcode.name in _OPERATIONS:
                    getattr(self, _OPERATIONS[opcode.name])(argument)
                elif opcode.name not in _IGNORED:
                    raise RefusedError(f"the instruction {opcode.name}")
            except RefusedError as error:
                error.args = (f"{error} (at byte {place})",)
                raise
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

    def _pop(self, _: Any) -> None:
        self._stack.pop()

    def _pop_mark(self, _: Any) -> None:
        self._since_mark()

    def _tuple(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append(self._costs.made(tuple(items)))

    def _tuple_of(self, count: int) -> None:
        items = tuple(self._stack[-count:])
        del self._stack[-count:]
        self._stack.append(self._costs.made(items))

    def _append(self, _: Any) -> None:
        item = self._stack.pop()
        self._target(list, deque).append(item)

    def _appends(self, _: Any) -> None:
        items = self._since_mark()
        self._target(list, deque).extend(items)

    def _add(self, _: Any) -> None:
        items = self._since_mark()
        self._hashed(items)
        self._target(set).update(items)

    def _frozenset(self, _: Any) -> None:
        items = self._since_mark()
        self._hashed(items)
        self._stack.append(self._costs.made(frozenset(items)))

    def _bytearray(self, argument: bytes) -> None:
        self._stack.append(bytearray(argument))

    def _set_item(self, _: Any) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set_pairs([(key, value)])

    def _set_items(self, _: Any) -> None:
        items = self._since_mark()
        self._set_pairs(zip(items[::2], items[1::2], strict=True))

    def _set_pairs(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        target = self._target(dict, OrderedDict, Counter, defaultdict)
        for key, value in pairs:
            self._hashed([key])
            target[key] = value

    def _hashed(self, keys: list[Any]) -> None:
        for key in keys:
            if type(key) is not str:  # the most common type, whose hash is cached
                self._costs.spend(key, self._place)

    def _target(self, *kinds: type) -> Any:
        target = self._stack[-1]
        if type(target) not in kinds:
            raise RefusedError(f"a modification of a {type(target).__name__}")
        return target

    def _global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._name(module, name)

    def _stack_global(self, _: Any) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise RefusedError(f"the name {brief((module, name))}")
        self._name(module, name)

    def _is_listed(self, name: str) -> bool:
        return name in self._values or name in self._names

    def _name(self, module: str, name: str) -> None:
        name = f"{module}.{name}"
        if name in self._values:
            self._stack.append(self._values[name])
        elif name in self._names:
            self._stack.append(self._names[name])
        else:
            raise RefusedNameError(name)

    def _reduce(self, _: Any) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        self._stack.append(self._called(function, arguments))

    def _called(self, function: Any, arguments: Any) -> Any:
        """Return the result of a listed function."""
        if not isinstance(function, Function) or not isinstance(arguments, tuple):
            raise RefusedError(f"a call of a {type(function).__name__}")
        self._costs.spend(arguments, self._place, levels=3)  # such as OrderedDict([[key, value]])
        made = function.call(*arguments)
        return self._costs.made(made) if isinstance(made, (tuple, frozenset)) else made

    def _new_object(self, _: Any) -> None:
        arguments, kind = self._stack.pop(), self._stack.pop()
        self._stack.append(self._made(kind, arguments, {}))

    def _new_object_ex(self, _: Any) -> None:
        named, arguments, kind = self._stack.pop(), self._stack.pop(), self._stack.pop()
        self._stack.append(self._made(kind, arguments, named))

    def _made(self, kind: Any, arguments: Any, named: Any) -> Any:
        """Return a new object of a listed class, without its state."""
        if named:
            raise RefusedError(f"a new {type(kind).__name__} with keyword arguments")
        return self._called(kind, arguments)

    def _persistent_id(self, _: Any) -> None:
        if self._persistent is None:
            raise RefusedError("a persistent id")
        self._stack.append(self._persistent(self._stack.pop()))

    def _build(self, _: Any) -> None:
        state = self._stack.pop()
        target = self._target(*self._builders)
        self._costs.spend(state, self._place)
        self._builders[type(target)](target, state)

    # ---- the result -------------------------------------------------------------------------

    def _plain(self, data: Any) -> Any:
        """Return the data; refuse it if it contains anything that is not data."""
        seen: set[int] = set()
        stack = [data]
        while stack:
            item = stack.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if self._is_named(item):
                continue
            if not self._is_plain(item):
                raise RefusedError(getattr(item, "name", type(item).__name__) + " as a value")
            stack += getattr(item, "__dict__", {}).values()
            if isinstance(item, dict):
                stack += [*item.keys(), *item.values()]
            elif isinstance(item, (list, tuple, set, frozenset, deque)):
                stack += item
        return data

    def _is_plain(self, item: Any) -> bool:
        return type(item) in self._kinds

    def _is_named(self, item: Any) -> bool:
        """Return whether a class or function is permitted as a value."""
        return False


_PLAIN = (
    *(type(None), bool, int, float, complex, str, bytes),
    *(bytearray, list, tuple, set, frozenset, deque, dict, OrderedDict, Counter, defaultdict),
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
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = frozenset({"PROTO", "FRAME", "STOP"})
_OPERATIONS = {
    "MARK": "_mark",
    "BINPUT": "_put",
    "LONG_BINPUT": "_put",
    "MEMOIZE": "_memoize",
    "BINGET": "_get",
    "LONG_BINGET": "_get",
    "POP": "_pop",
    "POP_MARK": "_pop_mark",
    "TUPLE": "_tuple",
    "APPEND": "_append",
    "APPENDS": "_appends",
    "ADDITEMS": "_add",
    "FROZENSET": "_frozenset",
    "BYTEARRAY8": "_bytearray",
    "SETITEM": "_set_item",
    "SETITEMS": "_set_items",
    "GLOBAL": "_global",
    "STACK_GLOBAL": "_stack_global",
    "REDUCE": "_reduce",
    "NEWOBJ": "_new_object",
    "NEWOBJ_EX": "_new_object_ex",
    "BINPERSID": "_persistent_id",
    "BUILD": "_build",
}
_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
_GETS = ("GET", "BINGET", "LONG_BINGET")


# ---- limits -------------------------------------------------------------------------------------
# Limits on the cost of reading a pickle, errors for refusals, and values in messages.

DEPTH = 100  # levels of tuples in a key
_FREE, _WORK = 100_000, 30  # items; items per byte of a pickle


class RefusedError(ValueError):
    """A file contains something that is not permitted; the message says what, and where."""


class RefusedNameError(RefusedError):
    """A file names a class or function that is not permitted.

    Attributes:
        name: the full name.
    """

    def __init__(self, name: str):
        super().__init__(f"the name {name[:200]}")
        self.name = name[:200]


_SIZED = (str, bytes, bytearray, list, tuple, set, frozenset, deque, dict)
_short = reprlib.Repr()
_short.maxlevel = 3


def brief(value: Any) -> str:
    """Return a value for a message; a full ``repr`` may explode if parts are shared."""
    return _short.repr(value)[:200]


class Costs:
    """The cost of the keys and calls of a pickle, compared with its length.

    The hash of a tuple visits all its items. A tuple of pairs of pairs of the same tuple takes two
    bytes per level but doubles the time with each; one of 100,000 levels overflows the stack. The
    limits never refuse the output of a regular pickler.
    """

    def __init__(self) -> None:
        self._tuples: dict[int, tuple[int, int, Any]] = {}  # id -> depth, items in all, itself
        self._spent = 0

    def made(self, items: Any) -> Any:
        """Record a tuple or frozenset, and return it."""
        nested = [self._tuples[id(item)] for item in items if id(item) in self._tuples]
        depth = 1 + max((depth for depth, _, _ in nested), default=0)
        count = sum(count for _, count, _ in nested) + sum(map(_weight, items)) + 1
        self._tuples[id(items)] = depth, count, items
        return items

    def spend(self, value: Any, place: int, levels: int = 0) -> None:
        """Add the cost of hashing a value, or of visiting the given levels of containers.

        Raises:
            RefusedError: the cost is too high for a pickle read up to ``place``.
        """
        depth, count, _ = self._tuples.get(id(value), (0, _weight(value), None))
        if depth > DEPTH:
            raise RefusedError(f"a key or an argument nested {depth} levels deep")
        self._spent += count
        if self._spent > _FREE + _WORK * place:
            raise RefusedError("keys or arguments much larger than the pickle itself")
        if levels and isinstance(value, (list, tuple, dict, set)):
            for item in value:
                self.spend(item, place, levels - 1)


def _weight(value: Any) -> int:
    """Return the approximate cost of hashing or copying a value."""
    if isinstance(value, int):
        return 1 + value.bit_length() // 500
    return 1 + (len(value) if isinstance(value, _SIZED) else 0)
