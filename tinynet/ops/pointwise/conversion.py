"""Conversion between dtypes."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import layouts
from tinynet.core.callsite import warn
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.devices import device as Device
from tinynet.core.tensors.tensor import Tensor, method, public_function, wrap
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.arguments import also_named
from tinynet.ops.creation.tensor_types import TensorKind
from tinynet.ops.shaping import copies


@operation(node="ToCopyBackward0", complex=True, order="iterated")
def cast(self: Array, /, kind: Any) -> Array:
    """Return a copy in another dtype."""
    if self.dtype.kind == "c" and kind.kind not in "cb":
        warn(_DISCARDS)
        self = self.real
    return self.astype(kind)


_DISCARDS = "Casting complex values to real discards the imaginary part"


cast.grad(self=lambda g: g)  # the engine casts it back


def converted(t: Tensor, kind: Any, copy: bool = False, memory_format: Any = None) -> Tensor:
    """Return the tensor in another dtype and memory format, or itself if nothing changes."""
    if t._array.dtype != kind or copy:
        t = cast.function(t if dtypes.is_inexact(kind) else t.detach(), kind)
    if memory_format in (None, layouts.preserve_format):
        return t
    return copies.contiguous(t, memory_format)


def _array_wrap(
    self: Tensor, array: Array, context: Any = None, return_scalar: bool = False
) -> Tensor:
    """Wrap what a numpy function such as ``np.sin(tensor)`` computed in a tensor.

    Booleans become uint8, as in PyTorch.
    """
    array = np.asarray(array)
    return wrap(array.astype(np.uint8) if array.dtype == np.bool_ else array)


method(_array_wrap, "__array_wrap__")


@method
def cuda(
    self: Tensor, device: DeviceLike = None, non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """Raise an error: tinynet runs on the CPU only.

    Raises:
        RuntimeError: always.

    Example:
        >>> tn.ones(2).cuda()
        Traceback (most recent call last):
        RuntimeError: tinynet runs on the cpu only. Got device 'cuda' instead...
    """
    require_cpu("cuda" if device is None else device)
    raise RuntimeError("tinynet runs on the cpu only: leave cuda() out, or guard it.")


def target_of(args: tuple[Any, ...]) -> tuple[Any, tuple[bool, ...]]:
    """Return the dtype that the positional arguments of ``to`` name, and the flags after it.

    The flags are ``non_blocking`` and ``copy``. A dtype, a tensor, or a device with an optional
    dtype comes first; anything else raises TypeError.
    """
    kind, *rest = args
    if kind is None or isinstance(kind, (str, Device)):
        if isinstance(kind, str) and kind in dtypes.NAMES:
            raise RuntimeError(dtypes.in_quotes(f"Invalid device string: {kind!r}", kind))
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


@composite(function=False)
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
    """Convert to another dtype, or that of another tensor; return ``self`` if nothing changes.

    Floating-point results keep the autograd history. The only device is the CPU.

    Args:
        *args: a dtype, a tensor or a device.
        dtype: the dtype of the result.
        device: only ``"cpu"``.
        non_blocking: accepted, without effect.
        copy: return a new tensor even if nothing changes.
        memory_format: the order in memory, such as ``channels_last``; None keeps it.
        other: a tensor that gives the dtype.

    Raises:
        RuntimeError: the device is not the CPU, or the format requires another number of
            dimensions.
        TypeError: an argument is not a dtype, tensor or device.

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
    require_cpu(device)
    kind = self._array.dtype if dtype is None else dtypes.as_numpy(dtype)
    return converted(self, kind, copy, memory_format)


@composite(function=False)
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Convert the tensor to the dtype of another one.

    Raises:
        AttributeError: ``other`` is not a tensor.

    Example:
        >>> tn.tensor([1, 2]).type_as(tn.tensor(1.0))
        tensor([1., 2.])
    """
    return converted(self, other._array.dtype)


_PACKAGES = "tinynet", "torch"
_BY_TENSOR_NAME = {f"{package}.{d.tensor_name}": d for d in dtypes.ALL for package in _PACKAGES}
_NAMES: dict[str, Any] = _BY_TENSOR_NAME | {f"{package}.Tensor": Tensor for package in _PACKAGES}


@composite(function=False)
def type(
    self: Tensor,
    dtype: dtypes.dtype | TensorKind | str | None = None,
    non_blocking: bool = False,
) -> Any:
    """Return the name of the tensor's type, or convert the tensor to another dtype.

    Args:
        dtype: a dtype, a tensor type (``DoubleTensor``), or the name of one:
            ``"tinynet.DoubleTensor"``, ``"torch.DoubleTensor"``; ``Tensor`` is the default dtype.
        non_blocking: accepted, without effect.

    Raises:
        TypeError: neither a dtype nor a name.
        ValueError: an unknown name, or a type of Python.
        RuntimeError: a tensor type of another device.

    Example:
        >>> tn.tensor([1, 2]).type(tn.float32), tn.tensor([1, 2]).type()
        (tensor([1., 2.]), 'tinynet.LongTensor')
    """
    if dtype is None:
        return f"{dtypes.namespace(Tensor)}.{self.dtype.tensor_name}"
    if isinstance(dtype, str):
        if dtype.startswith(("tinynet.cuda.", "torch.cuda.")):
            require_cpu("cuda")
        if dtype not in _NAMES:
            raise ValueError(f"invalid type: {dtype!r}")
        dtype = _NAMES[dtype]
    if dtype is Tensor:
        dtype = dtypes.get_default_dtype()
    elif isinstance(dtype, TensorKind) and dtype.dtype is not None:
        dtype = dtype.dtype
    elif isinstance(dtype, builtins.type):
        if dtype.__module__ == "tinynet.cuda":
            require_cpu("cuda")
        raise ValueError(f"invalid type: {dtype.__name__!r}")
    return converted(self, dtypes.as_numpy(dtype))


@composite(function=False)
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor itself, or a copy in another memory format.

    Example:
        >>> x = tn.ones(2)
        >>> x.cpu() is x
        True
    """
    return converted(self, self._array.dtype, memory_format=memory_format)


__test__: dict[str, Any] = {}  # functions that doctest does not find


def _shorthand(name: str, kind: dtypes.dtype) -> Any:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return converted(self, kind.numpy, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"""Convert the tensor to {kind.name}; return ``self`` if it already is.

    Args:
        memory_format: the order in memory; None keeps it.

    Raises:
        RuntimeError: the memory format requires another number of dimensions.

    Example:
        >>> tn.tensor([0, 1]).{name}().dtype
        {kind!r}
    """
    __test__[name] = convert
    return method(convert)


_shorthand("bfloat16", dtypes.bfloat16)
_shorthand("float", dtypes.float32)
_shorthand("double", dtypes.float64)
_shorthand("half", dtypes.float16)
_shorthand("cfloat", dtypes.complex64)
_shorthand("cdouble", dtypes.complex128)
_shorthand("long", dtypes.int64)
_shorthand("int", dtypes.int32)
_shorthand("short", dtypes.int16)
_shorthand("bool", dtypes.bool)
_shorthand("char", dtypes.int8)
_shorthand("byte", dtypes.uint8)


@public_function
def set_default_tensor_type(t: Any) -> None:
    """Set the default floating-point dtype by tensor type; prefer ``set_default_dtype``.

    Args:
        t: a floating-point tensor type, or its name: ``"torch.DoubleTensor"``.

    Raises:
        TypeError: not a floating-point tensor type or the name of one.

    Example:
        >>> tn.set_default_tensor_type(tn.FloatTensor)
    """
    kind = _BY_TENSOR_NAME.get(t) if isinstance(t, str) else getattr(t, "dtype", None)
    if kind is None or t is Tensor:
        text = "invalid type object: only floating-point types are supported as the default type."
        raise TypeError(f"{text} Got {t!r} instead.")
    dtypes.set_default_dtype(kind)


# ---- queries ------------------------------------------------------------------------------------


@public_function
def is_tensor(obj: Any) -> bool:
    """Return True if ``obj`` is a tensor.

    Example:
        >>> tn.is_tensor(tn.tensor(1)), tn.is_tensor(1)
        (True, False)
    """
    return isinstance(obj, Tensor)


@composite(method=False, checks=True)
def is_floating_point(input: Tensor) -> bool:
    """Return True if the dtype is a floating-point one.

    Example:
        >>> tn.is_floating_point(tn.tensor([1])), tn.tensor([1.0]).is_floating_point()
        (False, True)
    """
    return input.is_floating_point()


@composite(method=False, checks=True)
def numel(input: Tensor) -> int:
    """Return the number of elements.

    Raises:
        AttributeError: not a tensor.

    Example:
        >>> tn.numel(tn.zeros(2, 3))
        6
    """
    return input.numel()


@public_function
@also_named(
    tensor="tensor1", other="tensor2", scalar="tensor2", scalar1="tensor1", scalar2="tensor2"
)
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """Return the dtype that an operation on two tensors or numbers would give.

    Args:
        tensor1, tensor2: tensors, or Python numbers, whose dtype yields to that of a tensor.

    Raises:
        AttributeError: an argument is neither a tensor nor a number.

    Example:
        >>> tn.result_type(tn.tensor([1]), 1.0)
        tinynet.float32
    """
    operands = [x._array if isinstance(x, Tensor) else x for x in (tensor1, tensor2)]
    return dtypes.from_numpy(dtypes.result_type(operands))
