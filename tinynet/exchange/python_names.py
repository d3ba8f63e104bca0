"""The names of Python and numpy that pickles may use: classes of plain data only.

All functions here validate their arguments, which come from the file.
"""

from __future__ import annotations

import argparse
import datetime
import pathlib
import re
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.exchange.costs import RefusedError, brief
from tinynet.exchange.opcodes import Function
from tinynet.exchange.structure import hides
from tinynet.kernels.strides import array_in

# ---- Python's -----------------------------------------------------------------------------------


def encoded(text: str, encoding: str) -> bytes:
    """Return bytes that old pickles store as text."""
    if encoding not in ("latin1", "latin-1"):
        raise RefusedError(f"the encoding {brief(encoding)}")
    return text.encode("latin1")


class Factory:
    """A class that a defaultdict may use as its factory; not permitted as data elsewhere."""

    __slots__ = ("call", "name")

    def __init__(self, call: type):
        self.call, self.name = call, f"builtins.{call.__name__}"


def _bytearray(data: Any = b"", *encoding: str) -> bytearray:
    content = encoded(data, *encoding) if encoding else data
    if not isinstance(content, (bytes, bytearray)):  # bytes(n) would allocate n zeros
        raise RefusedError(f"a bytearray of a {type(content).__name__}")
    return bytearray(content)


def _defaultdict(make: Any = None) -> defaultdict[Any, Any]:
    """Return a defaultdict whose default is an empty container; other functions are refused."""
    if make is not None and not isinstance(make, Factory) and getattr(make, "call", 0) is not set:
        raise RefusedError(f"a defaultdict of {getattr(make, 'name', type(make).__name__)}")
    return defaultdict(make and make.call)


def _slice(*ends: Any) -> slice:
    """Return a slice of integers: hashing other contents could take unbounded time."""
    if not all(isinstance(end, int | None) for end in ends):
        raise RefusedError("a slice whose bounds are not integers")
    return slice(*ends)


def _no_call(*arguments: Any) -> None:
    raise RefusedError("a call of one of Python's or numpy's types")


def _path(*parts: str) -> pathlib.Path:
    """Return a path of this system, even if it was written on another one."""
    return pathlib.Path(*parts)


def set_attributes(target: Any, state: Any) -> None:
    """Set attributes, none of which may hide an attribute of the class.

    Raises:
        RefusedError: an attribute would.
    """
    for name, value in state.items():
        if hides(type(target), name):
            raise RefusedError(f"the attribute {name!r:.100} of a {type(target).__name__}")
        target.__dict__[name] = value


# ---- numpy's ------------------------------------------------------------------------------------


class _NumpyType:
    """A numpy dtype, whose byte order is set after creation."""

    __slots__ = ("dtype",)

    def __init__(self, code: str, align: Any = False, copy: Any = True):
        if not isinstance(code, str) or not re.fullmatch(r"[biufcSU]\d{1,6}", code):
            raise RefusedError(f"numpy's dtype {brief(code)}")
        self.dtype = np.dtype(code)

    def set_state(self, state: Any) -> None:
        """Set the byte order from the second item; the others are irrelevant for numbers."""
        if state[1] == ">":
            self.dtype = self.dtype.newbyteorder(">")


def _number(kind: _NumpyType, data: bytes) -> Any:
    """Return a numpy scalar: metrics are often stored as such."""
    return array_in(data, (), kind.dtype).astype(kind.dtype.newbyteorder("="))[()]


def _array(kind: Any, shape: Any, code: Any) -> Array:
    """Return the empty array that a pickle creates first."""
    if not isinstance(kind, Function) or kind.name != "numpy.ndarray":
        raise RefusedError("an array of another class than numpy's")
    return np.ndarray.__new__(np.ndarray, (0,), np.int8)


def _fill(array: Array, state: Any) -> None:
    """Set the values of an array, whose number must match its shape."""
    _version, shape, kind, in_columns, data = state
    if not isinstance(kind, _NumpyType) or not isinstance(data, (bytes, bytearray)):
        raise RefusedError("an array of objects")
    made = array_in(data, shape, kind.dtype, order="F" if in_columns else "C")
    if made.nbytes != len(data):
        raise RefusedError(f"{len(data)} bytes for an array of shape {brief(shape)}")
    state = (1, tuple(made.shape), kind.dtype, bool(in_columns), bytes(data))
    array.__setstate__(state)


def _from_buffer(data: Any, kind: _NumpyType, shape: Any, order: str) -> Array:
    """Return the array of a protocol 5 pickle."""
    return array_in(data, shape, kind.dtype, order="F" if order == "F" else "C").copy(order="K")


# ---- permitted names ----------------------------------------------------------------------------

_CORE = ("numpy.core", "numpy._core")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "collections.defaultdict": _defaultdict,
    "collections.deque": deque,
    "_codecs.encode": encoded,
    **{
        f"{builtins}.{kind.__name__}": kind
        for builtins in ("builtins", "__builtin__")
        for kind in (set, frozenset, complex, range)
    },
    "builtins.slice": _slice,
    "__builtin__.slice": _slice,
    "__builtin__.xrange": range,  # also written by Python 3
    "builtins.bytes": lambda *data: bytes(_bytearray(*data)),  # empty bytes, in protocol 2
    "__builtin__.bytes": lambda *data: bytes(_bytearray(*data)),
    "builtins.bytearray": _bytearray,
    "__builtin__.bytearray": _bytearray,
    "argparse.Namespace": argparse.Namespace,
    "types.SimpleNamespace": types.SimpleNamespace,
    **{
        f"datetime.{kind.__name__}": kind
        for kind in (
            *(datetime.date, datetime.datetime, datetime.time),
            *(datetime.timedelta, datetime.timezone),
        )
    },
    **{
        f"{module}.{kind}": made
        for module in ("pathlib", "pathlib._local")
        for made, kinds in (
            (_path, ("Path", "PosixPath", "WindowsPath")),
            (pathlib.PurePath, ("PurePath", "PurePosixPath", "PureWindowsPath")),
        )
        for kind in kinds
    },
    "numpy.dtype": _NumpyType,
    "numpy.ndarray": _no_call,
    **{f"{core}.multiarray.scalar": _number for core in _CORE},
    **{f"{core}.multiarray._reconstruct": _array for core in _CORE},
    **{f"{core}.numeric._frombuffer": _from_buffer for core in _CORE},
}
VALUES: dict[str, Any] = {
    f"{builtins}.{kind.__name__}": Factory(kind)
    for builtins in ("builtins", "__builtin__")
    for kind in (list, dict, int, float, str, bool, tuple)
} | {"__builtin__.long": Factory(int), "__builtin__.unicode": Factory(str)}
BUILDERS: dict[type, Callable[[Any, Any], None]] = {
    OrderedDict: set_attributes,  # a state_dict's _metadata
    argparse.Namespace: set_attributes,
    types.SimpleNamespace: set_attributes,
    _NumpyType: _NumpyType.set_state,
    np.ndarray: _fill,
}
KINDS = (
    *(range, slice, argparse.Namespace, types.SimpleNamespace),
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    *(type(pathlib.Path()), type(pathlib.PurePath()), np.ndarray, np.str_, np.bytes_),
    *(np.dtype(code).type for code in "?bhilqBHILQefdFD"),
)
