"""Ranges of numbers, and tensors on existing memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import composite
from tinynet.core.declaration.out_argument import OutRules
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.tensors.tensor import Tensor, public_function, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array, DtypeLike
from tinynet.kernels.strides import array_in, integers
from tinynet.ops.arguments import same_dtype, whole
from tinynet.ops.creation.constructors import (
    as_tensor,
    finish,
    float_kind,
    refuse_huge,
    shape_of,
    tensor,
)
from tinynet.ops.shaping.strided import storage_needed

_INT64 = np.dtype(np.int64)
_BY_COUNT = same_dtype(
    "dtype {result} does not match dtype of out parameter ({out})", by_count=True, inside=True
)

# ---- ranges -------------------------------------------------------------------------------------


@composite(method=False, out=OutRules(by_count=True, warns=True))
@traced
def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the values from ``start`` (0) up to but excluding ``end``, in steps of ``step`` (1).

    Element i is ``start + i * step``.

    Called as ``arange(end)``, ``arange(start, end)`` or ``arange(start, end, step)``.

    Raises:
        RuntimeError: ``step`` is 0 or leads away from ``end``; a bound is not finite.
        ValueError: ``step`` is 0 as an int64.

    Example:
        >>> tn.arange(1, 2, 0.5)
        tensor([1.0000, 1.5000])
    """
    require_cpu(device)
    if end is None:
        start, end = 0, start
    given = {"start": start, "end": end, "step": step}
    start, end, step = [dtypes.number_of(x, "arange", name) for name, x in given.items()]
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = [start, end, step]
    usual = dtypes.default_float() if any([isinstance(x, float) for x in whole]) else _INT64
    kind = usual if dtype is None else dtypes.as_numpy(dtype)
    if kind.kind in "iu":  # int64 alone counts elements before truncating the bounds
        if not all([type(x) is int and abs(x) < 2**63 for x in whole]):
            whole = [int(dtypes.representable(x, _INT64)) for x in whole]
    first, last, each = whole if kind == np.int64 else (start, end, step)
    if each == 0:
        raise ValueError("step must be nonzero")
    count = math.ceil((last - first) / each)
    refuse_huge((count,))
    start, _, step = whole
    counted = np.arange(count)
    values = counted if start == 0 and step == 1 else start + step * counted
    return finish(values.astype(kind, copy=False), requires_grad)


def _ends(name: str, start: Any, end: Any, kind: np.dtype[Any]) -> tuple[float, float]:
    """Convert both ends to the dtype; integer dtypes truncate them."""
    ndims = [x._array.ndim if isinstance(x, Tensor) else 0 for x in (start, end)]
    if any(ndims):
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got start with "
            f"{ndims[0]} dimension(s) and end with {ndims[1]} dimension(s)"
        )
    start, end = (x.detach() if isinstance(x, Tensor) else x for x in (start, end))
    first, last = (
        dtypes.representable(dtypes.number_of(x, name, argument), kind)
        for argument, x in (("start", start), ("end", end))
    )
    return first, last


def _steps(start: Any, end: Any, steps: int, wide: np.dtype[Any]) -> Array:
    """Return evenly spaced values, computed from the nearer end, as PyTorch rounds them."""
    if isinstance(start, np.integer):  # their difference may overflow the dtype
        start, end = float(start), float(end)
    if whole("steps", steps) < 0:
        raise RuntimeError("number of steps must be non-negative")
    refuse_huge((steps,))
    if steps < 2:
        return np.full(steps, start, wide)
    step = wide.type((end - start) / (steps - 1))
    place = np.arange(steps).astype(wide)
    low = wide.type(start) + step * place
    high = wide.type(end) - step * place[::-1]
    return np.where(np.arange(steps) < steps // 2, low, high)


def _wide(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to compute in."""
    single = dtypes.is_floating(kind) and kind.itemsize < 8
    return np.dtype(np.float32 if single else np.float64)


@composite(method=False, out=_BY_COUNT)
@traced
def linspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``steps`` evenly spaced values from ``start`` to ``end``, both included.

    Element i is ``start + i * (end - start) / (steps - 1)``.

    Raises:
        RuntimeError: ``steps`` is negative, or a tensor has several elements.

    Example:
        >>> tn.linspace(0, 1, 3)
        tensor([0.0000, 0.5000, 1.0000])
    """
    require_cpu(device)
    kind = float_kind(dtype)
    first, last = _ends("linspace", start, end, kind)
    found = _steps(first, last, steps, _wide(kind))
    if kind.kind in "iu" and steps > 0:  # float64 rounds the largest int64 up
        inner = found[1:-1].astype(kind)
        return finish(np.array([first, *inner, last][:steps], kind), requires_grad)
    return finish(found.astype(kind), requires_grad)


@composite(method=False, out=_BY_COUNT)
@traced
def logspace(
    start: Tensor | float,
    end: Tensor | float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``steps`` powers of ``base`` with evenly spaced exponents.

    Element i is ``base ** (start + i * (end - start) / (steps - 1))``.

    Args:
        start, end: the first and the last exponent: numbers or 0-d tensors.
        steps: the number of elements.
        base: the base of the powers.
        dtype: the dtype of the result; the default dtype if None.
        device: only ``"cpu"``.
        requires_grad: whether autograd records operations on the result.

    Raises:
        RuntimeError: ``steps`` is negative, or a tensor has several elements.

    Example:
        >>> tn.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    require_cpu(device)
    kind = float_kind(dtype)
    exponents = _steps(*_ends("logspace", start, end, kind), steps, _wide(kind))
    return finish(np.power(exponents.dtype.type(base), exponents).astype(kind), requires_grad)


# ---- numbers, and existing memory ---------------------------------------------------------------


@public_function
@traced
def scalar_tensor(
    s: float, *, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Create a 0-d tensor from a number.

    Args:
        s: the number.
        dtype: the dtype of the result; the default dtype if None.
        device: only ``"cpu"``.
        requires_grad: whether autograd records operations on the result.

    Example:
        >>> tn.scalar_tensor(3)
        tensor(3.)
    """
    require_cpu(device)
    kind = float_kind(dtype)
    return finish(np.asarray(dtypes.representable(s, kind), kind), requires_grad)


@public_function
def asarray(
    obj: Any,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Convert data to a tensor, sharing memory with a tensor or array where possible.

    Args:
        obj: a tensor, an array, a number, or nested sequences of numbers.
        dtype: the dtype of the result; inferred from the data by default.
        device: only ``"cpu"``.
        copy: True always copies; False raises if a copy is needed; None copies if needed.
        requires_grad: whether autograd records operations on the result.

    Raises:
        ValueError: ``copy`` is False, but a copy is needed.

    Example:
        >>> tn.asarray([1, 2])
        tensor([1, 2])
    """
    require_cpu(device)
    shareable = isinstance(obj, (Tensor, np.ndarray))
    if copy and shareable:
        source = obj._array if isinstance(obj, Tensor) else obj
        found = wrap(np.array(source, None if dtype is None else dtypes.as_numpy(dtype)))
    else:
        found = as_tensor(obj, dtype) if shareable else tensor(obj, dtype=dtype)
        memory = obj._array if isinstance(obj, Tensor) else obj
        if copy is False and not (shareable and np.shares_memory(found._array, memory)):
            raise ValueError(
                "can't alias arbitrary sequence into a tensor."
                if not shareable
                else "can't alias tensor with dtype of another size."
            )
    if requires_grad and found.is_leaf:
        found.requires_grad_()
    return found


@public_function
def frombuffer(
    buffer: Any,
    *,
    dtype: dtypes.dtype,
    count: int = -1,
    offset: int = 0,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a 1-d tensor that shares the memory of a buffer, such as a bytearray.

    Args:
        count: the number of elements; -1 takes all.
        offset: the number of bytes to skip.

    Raises:
        ValueError: the buffer is empty, too short, or not a multiple of the element size.

    Example:
        >>> tn.frombuffer(bytearray([1, 0, 2, 0]), dtype=tn.int16)
        tensor([1, 2], dtype=tinynet.int16)
    """
    require_cpu(device)
    kind = dtypes.as_numpy(dtype)
    length, size = memoryview(buffer).nbytes, kind.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({size})"
        )
    if count > 0 and offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({length} bytes)"
        )
    return finish(np.frombuffer(buffer, kind, count, offset), requires_grad)


@public_function
def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a tensor with uninitialized values and the given strides, in elements.

    Raises:
        RuntimeError: the numbers of strides and sizes differ, or an element lies before the first.

    Example:
        >>> tn.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    require_cpu(device)
    shape = shape_of((size,), "empty_strided")
    if len(shape) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    kind = float_kind(dtype)
    steps = integers(stride)
    memory = np.empty(storage_needed(shape, steps, kind.itemsize), kind)
    made = array_in(memory, shape, kind, 0, [s * kind.itemsize for s in steps])
    return finish(made, requires_grad)


@public_function
def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a tensor with uninitialized values and the given order of dimensions in memory.

    Args:
        size: the shape.
        physical_layout: the dimensions, from the one with the largest stride to the smallest.

    Raises:
        RuntimeError: ``physical_layout`` does not contain each dimension once.

    Example:
        >>> tn.empty_permuted((2, 3, 4), (0, 2, 1)).stride()
        (12, 1, 3)
    """
    require_cpu(device)
    count, order = len(size), integers(physical_layout)
    if len(order) != count:
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {count} is not equal to len(physical_layout) = {len(order)}"
        )
    for place, axis in enumerate(order):
        if not 0 <= axis < count:
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {count - 1}, but got {axis} "
                f"at index {place})."
            )
    if len({*order}) != count:
        raise RuntimeError("Duplicate dim not allowed")
    in_memory = np.empty(shape_of(([size[i] for i in order],), "empty_permuted"), float_kind(dtype))
    return finish(in_memory.transpose(np.argsort(order)), requires_grad)
