"""The names that a pickle may use: classes of plain data of Python and numpy, and PyTorch's.

Those of ``torch.save`` are functions that create tensors, and data classes. Nothing else is
reachable from such a file, unless the caller trusts it. All functions here validate their
arguments, which come from the file."""

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

from tinynet import dtypes
from tinynet.core.devices import device
from tinynet.core.graph.views import set_requires_grad
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor, _rebuild, wrap
from tinynet.core.tensors.version import new_version
from tinynet.dtypes import Array
from tinynet.exchange.opcodes import Function, RefusedError, brief
from tinynet.exchange.structure import hides
from tinynet.kernels.strides import array_in, integers
from tinynet.nn.parameter import Parameter

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
PYTHON_FUNCTIONS: dict[str, Callable[..., Any]] = {
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
PYTHON_VALUES: dict[str, Any] = {
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
PYTHON_KINDS = (
    *(range, slice, argparse.Namespace, types.SimpleNamespace),
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    *(type(pathlib.Path()), type(pathlib.PurePath()), np.ndarray, np.str_, np.bytes_),
    *(np.dtype(code).type for code in "?bhilqBHILQefdFD"),
)


# ---- PyTorch's ----


class Storage:
    """The memory of tensors: its values and its version counter."""

    __slots__ = ("array", "version")

    def __init__(self, array: Array):
        self.array = array
        self.version = new_version()

    def part(self, start: int, length: int) -> Storage:
        """Return a view; writes to it are writes to the whole storage."""
        made = Storage(self.array[start : start + length])
        made.version = self.version
        return made


class StorageType:
    """A storage class that a file names; ``name`` is the name of its dtype."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name


STORAGES = {f"torch.{d.scalar_name}Storage": d.name for d in dtypes.ALL}
"""PyTorch's storage classes -> the names of their dtypes."""


# ---- tensors ------------------------------------------------------------------------------------


def _tensor(
    storage: Storage,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool = False,
    hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    """Return a tensor within a storage; ValueError if it would lie outside."""
    marks = metadata or {}
    if hooks or not isinstance(marks, dict) or not {*marks} <= {"conj", "neg"}:
        raise RefusedError("a tensor with hooks, or with unknown metadata")
    memory = storage.array
    steps = [n * memory.itemsize for n in integers(stride)]
    t = wrap(array_in(memory, size, memory.dtype, offset * memory.itemsize, steps))
    t._counter = storage.version
    if any(marks.values()):  # a conjugate or negative that PyTorch has not computed yet
        array = np.conjugate(t._array) if marks.get("conj") else t._array
        t = wrap(np.negative(array) if marks.get("neg") else array)
    set_requires_grad(t, requires_grad)
    return t


def _parameter(
    data: Tensor, requires_grad: bool, hooks: Any = None, state: Any = None
) -> Parameter:
    if hooks or not isinstance(data, Tensor):
        raise RefusedError("a parameter with hooks, or without a tensor")
    p = Parameter(data, requires_grad)
    set_attributes(p, state or {})
    return p


def _of_type(make: Any, kind: Any, arguments: tuple[Any, ...], state: Any) -> Any:
    """Return a tensor with attributes, of a user's class if that is permitted."""
    call = make.call if isinstance(make, Function) else make
    known = isinstance(kind, Function) or (isinstance(kind, type) and issubclass(kind, Tensor))
    if call not in (_tensor, _parameter) or not known:
        raise RefusedError("a tensor of an unknown type")
    t = call(*arguments)
    if isinstance(kind, type) and type(t) is not kind:
        t = _rebuild(kind, t._array, t.requires_grad, {})
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    if slots:
        raise RefusedError(f"a {type(t).__name__} with slots")
    set_attributes(t, attributes or {})
    return t


def _not_called(*arguments: Any) -> None:
    raise RefusedError("a tensor created by calling its class")


# ---- other data ---------------------------------------------------------------------------------


def _device(kind: str, index: int | None = None) -> device:
    if not isinstance(kind, str) or not isinstance(index, int | None):
        raise RefusedError(f"the device {brief((kind, index))}")
    return device(kind, index)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _of_type,
    "torch.Tensor": _not_called,
    "torch._tensor.Tensor": _not_called,
    "torch.nn.parameter.Parameter": _not_called,
    "torch.nn.parameter.Buffer": _not_called,
    "torch.Size": Size,
    "torch.device": _device,
    **PYTHON_FUNCTIONS,
}
VALUES: dict[str, Any] = {
    **PYTHON_VALUES,
    **{f"torch.{d.name}": d for d in dtypes.ALL},
    **{name: StorageType(dtype) for name, dtype in STORAGES.items()},
}
KINDS = (Tensor, Parameter, Size, dtypes.dtype, device, *PYTHON_KINDS)
