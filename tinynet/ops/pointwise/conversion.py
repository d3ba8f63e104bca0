"""Changes of dtype."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tinynet import dtypes, layouts
from tinynet.core.declaration.operation import operation, public
from tinynet.core.tensors.tensor import Tensor, method, wrap
from tinynet.devices import DeviceLike, require_cpu
from tinynet.devices import device as Device
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.creation.tensor_types import TensorKind
from tinynet.ops.shaping import flipping


@operation(methods=False, node="ToCopyBackward0")
def cast(self: Array, /, kind: Any) -> Array:
    """Return a copy in another dtype."""
    return self.astype(kind)


cast.grad(self=lambda g: g)  # the engine casts it back


def converted(t: Tensor, kind: Any, copy: bool = False, memory_format: Any = None) -> Tensor:
    """Return the tensor in another dtype and memory format: itself if it already has them."""
    if t._array.dtype != kind or copy:
        t = cast.function(t if dtypes.is_floating(kind) else t.detach(), kind)
    if memory_format in (None, layouts.preserve_format):
        return t
    return flipping.contiguous(t, memory_format)


def _array_wrap(
    self: Tensor, array: Array, context: Any = None, return_scalar: bool = False
) -> Tensor:
    """Return what a numpy function such as ``np.sin(tensor)`` computed as a tensor.

    Truth values become uint8, as in PyTorch.
    """
    array = np.asarray(array)
    return wrap(array.astype(np.uint8) if array.dtype == np.bool_ else array)


method(_array_wrap, "__array_wrap__")


@method
def cuda(
    self: Tensor, device: DeviceLike = None, non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """Refuse: tinynet runs on the cpu only.

    Raises:
        RuntimeError: always.

    Example:
        >>> tn.ones(2).cuda()
        Traceback (most recent call last):
        RuntimeError: tinynet runs on the cpu only. Got device 'cuda' instead.
    """
    require_cpu("cuda" if device is None else device)
    raise RuntimeError("tinynet runs on the cpu only: leave cuda() out, or guard it.")


def target_of(args: tuple[Any, ...]) -> tuple[Any, tuple[bool, ...]]:
    """Return the dtype that the positional arguments of ``to`` mean, and the flags after it.

    The flags are ``non_blocking`` and ``copy``. Before them stands a dtype, a tensor, or a device
    and perhaps a dtype; anything else is a TypeError.
    """
    kind, *rest = args
    if kind is None or isinstance(kind, (str, Device)):
        if kind is not None:
            require_cpu(kind)
        kind = rest.pop(0) if rest else None
    if isinstance(kind, Tensor) and len(rest) == len(args) - 1:
        kind = kind.dtype
    known = kind is None or isinstance(kind, (dtypes.dtype, builtins.type))
    if not known or len(rest) > 2 or not all(isinstance(flag, bool) for flag in rest):
        names = {dtypes.dtype: "tinynet.dtype", Device: "tinynet.device"}
        given = ", ".join(names.get(a.__class__, a.__class__.__name__) for a in args)
        raise TypeError(f"to() received an invalid combination of arguments - got ({given})")
    return kind, tuple(rest)


@public
def to(
    self: Tensor,
    *args: Any,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
    other: Tensor | None = None,
) -> Tensor:
    """Return the tensor in another dtype, or in that of another tensor; itself if nothing changes.

    A floating-point result keeps the history. Devices are accepted where they name the cpu.

    Args:
        *args: a dtype, a tensor or a device.
        dtype: of the result.
        device: only the cpu.
        non_blocking: accepted, without effect.
        copy: return a new tensor also where nothing changes.
        memory_format: the order in memory, such as ``channels_last``; as it is if None.
        other: a tensor whose dtype is meant.

    Raises:
        RuntimeError: a device that is not the cpu, or a format of another number of dimensions.
        TypeError: something else that is not a dtype.

    Example:
        >>> tn.tensor([1.5, 2.5]).to(tn.int64), tn.tensor([1]).to(dtype=tn.bool)
        (tensor([1, 2]), tensor([True]))
    """
    if args:
        wanted, flags = target_of(args)
        dtype = dtype if wanted is None else wanted
        copy = copy or (len(flags) == 2 and flags[1])
    if other is not None:
        dtype = other.dtype
    if device is not None:
        require_cpu(device)
    kind = self._array.dtype if dtype is None else dtypes.as_numpy(dtype)
    return converted(self, kind, copy, memory_format)


@public
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor in the dtype of another one.

    Raises:
        AttributeError: no tensor.

    Example:
        >>> tn.tensor([1, 2]).type_as(tn.tensor(1.0))
        tensor([1., 2.])
    """
    return converted(self, other._array.dtype)


_BY_TENSOR_NAME = {
    f"{package}.{d.tensor_name}": d for d in dtypes.ALL for package in ("tinynet", "torch")
}


@public
def type(
    self: Tensor,
    dtype: dtypes.dtype | TensorKind | str | None = None,
    non_blocking: bool = False,
) -> Any:
    """Return the name of the tensor's type, or the tensor in another dtype.

    Args:
        dtype: a dtype, a tensor type (``DoubleTensor``), or the name of one:
            ``"tinynet.DoubleTensor"``, ``"torch.DoubleTensor"``.
        non_blocking: accepted, without effect.

    Raises:
        TypeError: neither None nor a dtype nor a name.
        ValueError: a name that no type has, or a type of Python.
        RuntimeError: a type of tensors on another device.

    Example:
        >>> tn.tensor([1, 2]).type(tn.float32), tn.tensor([1, 2]).type()
        (tensor([1., 2.]), 'tinynet.LongTensor')
    """
    if dtype is None:
        return f"tinynet.{self.dtype.tensor_name}"
    if isinstance(dtype, str):
        if dtype.startswith(("tinynet.cuda.", "torch.cuda.")):
            require_cpu("cuda")
        if dtype not in _BY_TENSOR_NAME:
            raise ValueError(f"invalid type: {dtype!r}")
        dtype = _BY_TENSOR_NAME[dtype]
    if isinstance(dtype, TensorKind) and dtype.dtype is not None:
        dtype = dtype.dtype
    elif isinstance(dtype, builtins.type):
        if dtype.__module__ == "tinynet.cuda":
            require_cpu("cuda")
        raise ValueError(f"invalid type: {dtype.__name__!r}")
    return converted(self, dtypes.as_numpy(dtype))


@public
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor itself, as it always is on the cpu; or a copy in a memory format.

    Example:
        >>> x = tn.ones(2)
        >>> x.cpu() is x
        True
    """
    return converted(self, self._array.dtype, memory_format=memory_format)


__test__: dict[str, Any] = {}  # the functions that doctest does not find by itself


def _shorthand(name: str, kind: dtypes.dtype) -> Any:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return converted(self, kind.numpy, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"""Return the tensor as {kind.name}; itself if it is that already.

    Args:
        memory_format: the order in memory; as it is if None.

    Raises:
        RuntimeError: a memory format of another number of dimensions.

    Example:
        >>> tn.tensor([0, 1]).{name}().dtype
        {kind!r}
    """
    __test__[name] = convert
    return method(convert)


for _name in ("bfloat16", "float", "double", "half", "long", "int", "short", "bool"):
    _shorthand(_name, getattr(dtypes, _name))
_shorthand("char", dtypes.int8)
_shorthand("byte", dtypes.uint8)


def set_default_tensor_type(t: Any) -> None:
    """Set the dtype that Python floats become, by a tensor type; ``set_default_dtype`` is clearer.

    Args:
        t: a floating-point tensor type, or its name: ``"torch.DoubleTensor"``.

    Raises:
        TypeError: neither a floating-point tensor type nor the name of one.

    Example:
        >>> tn.set_default_tensor_type(tn.FloatTensor)
    """
    kind = _BY_TENSOR_NAME.get(t) if isinstance(t, str) else getattr(t, "dtype", None)
    if kind is None:
        raise TypeError(
            "invalid type object: only floating-point types are supported as the "
            f"default type. Got {t!r} instead."
        )
    dtypes.set_default_dtype(kind)


# ---- questions about tensors ---------------------------------------------------------------------


def is_tensor(obj: Any) -> bool:
    """Return True if ``obj`` is a tensor.

    Example:
        >>> tn.is_tensor(tn.tensor(1)), tn.is_tensor(1)
        (True, False)
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Return True if the elements are floating-point numbers.

    Example:
        >>> tn.is_floating_point(tn.tensor([1])), tn.tensor([1.0]).is_floating_point()
        (False, True)
    """
    return input.is_floating_point()


def numel(input: Tensor) -> int:
    """Return the number of elements.

    Raises:
        AttributeError: no tensor.

    Example:
        >>> tn.numel(tn.zeros(2, 3))
        6
    """
    return input.numel()


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """Return the dtype of an operation on two tensors or numbers.

    Args:
        tensor1, tensor2: tensors, or Python numbers, which give way to the dtype of a tensor.

    Raises:
        AttributeError: neither tensors nor numbers.

    Example:
        >>> tn.result_type(tn.tensor([1]), 1.0)
        tinynet.float32
    """
    operands = [x._array if isinstance(x, Tensor) else x for x in (tensor1, tensor2)]
    return dtypes.from_numpy(dtypes.result_type(operands))
