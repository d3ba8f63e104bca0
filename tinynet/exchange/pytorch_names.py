"""What files of ``torch.save`` may name: the functions that make tensors, and a few types.

Nothing else can be reached from such a file. All functions here check their arguments: they come
from the file, too.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.device import CPU, device
from tinynet.core.size import Size
from tinynet.core.tensor import Tensor, wrap
from tinynet.core.version import new_version
from tinynet.core.views import set_requires_grad
from tinynet.dtypes import Array
from tinynet.exchange.opcodes import Function, RefusedError, brief
from tinynet.exchange.structure import hides
from tinynet.nn.parameter import Parameter
from tinynet.strides import array_in, integers


class Storage:
    """The memory of tensors: its values, and the counter of writes to it."""

    __slots__ = ("array", "version")

    def __init__(self, array: Array):
        self.array = array
        self.version = new_version()

    def part(self, start: int, length: int) -> Storage:
        """Return a part; writes to it are writes to the whole."""
        made = Storage(self.array[start : start + length])
        made.version = self.version
        return made


class StorageType:
    """A class of storages, where a file names it; ``name`` is that of its dtype."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name


BFLOAT16 = "bfloat16"
STORAGES = {f"torch.{d.scalar_name}Storage": d.name for d in dtypes.ALL}
"""PyTorch's classes of storages -> the name of their dtype."""


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
    """Return a tensor that lies in a storage; ValueError if it would lie outside."""
    if hooks or metadata:
        raise RefusedError("a tensor with hooks, or with lazy conjugation or negation")
    memory = storage.array
    steps = [n * memory.itemsize for n in integers(stride)]
    t = wrap(array_in(memory, size, memory.dtype, offset * memory.itemsize, steps))
    t._counter = storage.version
    set_requires_grad(t, requires_grad)
    return t


def _parameter(
    data: Tensor, requires_grad: bool, hooks: Any = None, state: Any = None
) -> Parameter:
    if hooks or not isinstance(data, Tensor):
        raise RefusedError("a parameter with hooks, or of no tensor")
    p = Parameter(data, requires_grad)
    _set_attributes(p, state or {})
    return p


def _of_type(make: Function, kind: Any, arguments: tuple[Any, ...], state: Any) -> Any:
    """Return a tensor with attributes."""
    makes_tensors = isinstance(make, Function) and make.call in (_tensor, _parameter)
    if not makes_tensors or not isinstance(kind, Function):
        raise RefusedError("a tensor of an unknown type")
    t = make.call(*arguments)
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    if slots or not isinstance(t, Tensor):
        raise RefusedError(f"a {type(t).__name__} with slots")
    _set_attributes(t, attributes or {})
    return t


def _set_attributes(target: Any, state: Mapping[str, Any]) -> None:
    """Set attributes; none may hide what the class has."""
    for name, value in state.items():
        if hides(type(target), name):
            raise RefusedError(f"the attribute {name!r} of a {type(target).__name__}")
        target.__dict__[name] = value


def _not_called(*arguments: Any) -> None:
    raise RefusedError("a tensor made by calling its class")


# ---- other data ---------------------------------------------------------------------------------


def _bytes(text: str, encoding: str) -> bytes:
    """Return bytes, which old pickles keep as text."""
    if encoding != "latin1":
        raise RefusedError(f"the encoding {brief(encoding)}")
    return text.encode("latin1")


def _device(kind: str, index: int | None = None) -> Any:
    """Return the cpu; of other devices only the name is left."""
    if not isinstance(kind, str) or not isinstance(index, int | None):
        raise RefusedError(f"the device {brief((kind, index))}")
    return CPU if kind == "cpu" else kind if index is None else f"{kind}:{index}"


class _NumpyType:
    """A dtype of numpy; its order of bytes is set after it is made."""

    __slots__ = ("dtype",)

    def __init__(self, code: str, align: Any = False, copy: Any = True):
        if not isinstance(code, str) or not re.fullmatch(r"[biuf]\d{1,2}", code):
            raise RefusedError(f"numpy's dtype {brief(code)}")
        self.dtype = np.dtype(code)

    def set_state(self, state: Any) -> None:
        """Take the order of bytes from the second item; the others say nothing of numbers."""
        if state[1] == ">":
            self.dtype = self.dtype.newbyteorder(">")


def _numpy_number(kind: _NumpyType, data: bytes) -> Any:
    """Return a number of numpy: metrics are often left as such."""
    return array_in(data, (), kind.dtype).astype(kind.dtype.newbyteorder("="))[()]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _of_type,
    "torch.Tensor": _not_called,
    "torch._tensor.Tensor": _not_called,
    "torch.nn.parameter.Parameter": _not_called,
    "torch.Size": Size,
    "torch.device": _device,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "_codecs.encode": _bytes,
    "numpy.dtype": _NumpyType,
    "numpy.core.multiarray.scalar": _numpy_number,
    "numpy._core.multiarray.scalar": _numpy_number,
    "__builtin__.set": set,
    "builtins.set": set,
    "__builtin__.complex": complex,
    "builtins.complex": complex,
}
VALUES: dict[str, Any] = {
    **{f"torch.{d.name}": d for d in dtypes.ALL},
    **{name: StorageType(dtype) for name, dtype in STORAGES.items()},
    "torch.BFloat16Storage": StorageType(BFLOAT16),
}
BUILDERS: dict[type, Callable[[Any, Any], None]] = {
    OrderedDict: _set_attributes,  # a state_dict's _metadata
    _NumpyType: _NumpyType.set_state,
}
KINDS = (
    *(Tensor, Parameter, Size, dtypes.dtype, device),
    *(np.dtype(code).type for code in "?bhilqBHILQefd"),
)
