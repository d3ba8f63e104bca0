"""The names that files of ``torch.save`` may use: functions that create tensors, and data classes.

Nothing else is reachable from such a file, unless the caller trusts it. All functions here validate
their arguments, which come from the file.
"""

from __future__ import annotations

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
from tinynet.exchange import python_names
from tinynet.exchange.costs import RefusedError, brief
from tinynet.exchange.opcodes import Function
from tinynet.exchange.python_names import set_attributes
from tinynet.kernels.strides import array_in, integers
from tinynet.nn.parameter import Parameter


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
    **python_names.FUNCTIONS,
}
VALUES: dict[str, Any] = {
    **python_names.VALUES,
    **{f"torch.{d.name}": d for d in dtypes.ALL},
    **{name: StorageType(dtype) for name, dtype in STORAGES.items()},
}
KINDS = (Tensor, Parameter, Size, dtypes.dtype, device, *python_names.KINDS)
