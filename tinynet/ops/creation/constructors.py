"""Tensors from data and from constants."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import layouts
from tinynet.core.declaration.operation import composite
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.tensors.tensor import Tensor, _check_lone, public_function, wrap
from tinynet.core.trace import traced
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.arguments import also_named, whole
from tinynet.ops.shaping.views import Ints, sizes

# ---- from data ----------------------------------------------------------------------------------


def finish(array: Array, requires_grad: bool) -> Tensor:
    """Wrap a new array in a leaf tensor; refuse to record non-floating-point dtypes."""
    if requires_grad and not dtypes.is_inexact(array.dtype):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    t = wrap(array)
    t._requires_grad = bool(requires_grad)
    return t


def _array_of(data: Any, dtype: Any) -> Array:
    """Convert data to an array: Python floats in the default dtype, Python integers as int64."""
    kind = None if dtype is None else dtypes.as_numpy(dtype)
    if isinstance(data, Tensor):
        return np.array(data._array, dtype=kind)
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.array(data, dtype=kind)
        dtypes.of(array)
        return array
    values = plain_values(data)
    try:
        array = np.array(values)
        if kind == dtypes.uint64.numpy and array.dtype.kind not in "US":
            array = _unsigned(data)
    except ValueError:
        raise dtypes.ragged(data) from None
    if array.dtype.kind in "US" or array.dtype.kind == "O" and not _numbers_only(array):
        raise _not_numbers(data, kind)
    if kind is None:  # O: more than 64 bits
        kinds: dict[str, np.dtype[Any]] = dict.fromkeys("iuO", dtypes.int64.numpy)
        kinds |= {"f": dtypes.default_float(), "b": np.dtype(bool)}
        kind = kinds.get(array.dtype.kind)
        if array.dtype.kind == "c":
            kind = dtypes.result_type([0j])
        if array.dtype.kind == "O" and any(type(x) is float for x in array.flat):
            kind = dtypes.default_float()
        if _holds_arrays(data) and (array.dtype.kind == "c" or array.dtype in dtypes.FLOATS):
            kind = array.dtype
        if array.size == 0 and array.dtype == np.float64:
            kind = dtypes.default_float()
        elif array.dtype == np.float64 and np.abs(array).max(initial=0) >= 2.0**63:
            _refuse_long(data)  # numpy reads [-1, 2**63] as floats
    if kind is None:
        raise TypeError(f"can't make a tensor of {array.dtype}")
    _refuse_misfits(array, kind)
    return array.astype(kind, copy=False)


def _unsigned(data: Any) -> Array:
    """Return Python's integers for uint64, as objects; numpy reads [1, 2**63] as floats."""
    array = np.array(plain_values(data), dtype=object)
    for x in array.flat:
        if not isinstance(x, int):
            raise TypeError("an integer is required")
        if x < 0:
            raise OverflowError("can't convert negative int to unsigned")
        dtypes.refuse_large(x)
    return array


def _numbers_only(array: Array) -> bool:
    """Return whether an object array holds Python numbers only, some too large for any dtype."""
    return all(type(x) in dtypes.type_of_number for x in array.flat)


def _refuse_long(data: Any) -> None:
    """Raise for Python integers that int64 cannot hold, unless the data contains a float."""
    leaves = np.array(data, dtype=object)
    if all(type(x) in (int, bool) for x in leaves.flat):
        dtypes.refuse_longer(*leaves.flat)


def _refuse_misfits(array: Array, kind: np.dtype[Any]) -> None:
    """Raise for Python numbers, in the dtype numpy chose, that another dtype cannot hold."""
    if array.dtype.kind == "c" and kind.kind not in "bc":
        integer = "'complex' object cannot be interpreted as an integer"
        raise TypeError(integer if kind.kind in "iu" else "must be real number, not complex")
    if kind.kind not in "iu" or array.size == 0 or array.dtype.kind == "b":
        return
    low, high = np.asarray(array.min()).item(), np.asarray(array.max()).item()
    if not dtypes.is_floating(array.dtype) and kind != dtypes.uint64.numpy:
        dtypes.refuse_longer(low, high)
    if not (dtypes.fits(low, kind) and dtypes.fits(high, kind)):
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")


def _holds_arrays(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


def plain_values(data: Any) -> Any:
    """Replace tensors inside nested sequences, of one element each, by their numbers."""
    if isinstance(data, Tensor):
        _check_lone(data, warns=False)
        return data._array.reshape(())
    if isinstance(data, (list, tuple)) and any(isinstance(x, (list, tuple, Tensor)) for x in data):
        return [plain_values(x) for x in data]
    return data


def _not_numbers(data: Any, kind: np.dtype[Any] | None) -> Exception:
    """Return the error of data that are not numbers, of a dtype or to be inferred."""
    first = item = data
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    while isinstance(item, (list, tuple)) and item:
        item = next((x for x in item if not isinstance(x, (int, float))), item[0])
    name = type(item).__name__
    if isinstance(first, str) and first is not data:  # each letter is a string again
        return ValueError("too many dimensions 'str'")
    if isinstance(item, (str, bytes)) and (item is data or kind is None):
        return TypeError(f"new(): invalid data type '{name}'")
    if kind is not None:
        whole = f"'{name}' object cannot be interpreted as an integer"
        return TypeError(whole if kind.kind in "iub" else f"must be real number, not {name}")
    return RuntimeError(f"Could not infer dtype of {name}")


@public_function
@traced
def tensor(
    data: Any, *, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Create a leaf tensor with a copy of ``data``.

    Args:
        data: a number, nested sequence, numpy array or tensor.
        dtype: the data type; inferred from the data by default (Python floats: the default dtype).
        device: only ``"cpu"``.
        requires_grad: whether autograd records operations on the tensor.

    Raises:
        ValueError: nested sequences of unequal length.
        TypeError: an element is a string.
        RuntimeError: an element is not a number; ``requires_grad`` with a dtype that is not
            floating-point.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
    """
    require_cpu(device)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), "
            "rather than tinynet.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    return finish(_array_of(data, dtype), requires_grad)


@public_function
def as_tensor(data: Any, dtype: DtypeLike = None, device: DeviceLike = None) -> Tensor:
    """Convert ``data`` to a tensor, sharing memory with a tensor or array where possible.

    Raises:
        ValueError: nested sequences of unequal length.
        TypeError: an element is a string.
        RuntimeError: an element is not a number.

    Example:
        >>> tn.as_tensor([1.0, 2.0])
        tensor([1., 2.])
    """
    require_cpu(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        kind = data.dtype if dtype is None else dtypes.as_numpy(dtype)
        return from_numpy(np.asarray(data, dtype=kind))
    return tensor(data, dtype=dtype)


@public_function
@also_named(ndarray="array")
def from_numpy(array: Array) -> Tensor:
    """Create a tensor that shares the memory of a numpy array.

    Raises:
        TypeError: not an array, or its dtype is not supported.

    Example:
        >>> a = np.ones(2)
        >>> x = tn.from_numpy(a)
        >>> a[0] = 5
        >>> x
        tensor([5., 1.], dtype=tinynet.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array)
    if any(stride < 0 for stride in array.strides):
        raise dtypes.negative_stride()
    return wrap(array)


# ---- from constants -----------------------------------------------------------------------------


def shape_of(args: tuple[Any, ...], name: str) -> tuple[int, ...]:
    """Return the shape given by the arguments of ``name``; refuse invalid ones."""
    try:
        shape = sizes(args)
    except TypeError:
        listed = len(args) == 1 and isinstance(args[0], (tuple, list))
        for i, n in enumerate(args[0] if listed else args):
            if not isinstance(n, (int, np.integer, Tensor)) or isinstance(n, bool):
                kind = type(n).__name__
                said = f"but found element of type {kind} at pos {i}" if listed else f"not {kind}"
                words = "argument 'size' (position 1) must be tuple of ints"
                raise TypeError(f"{name}(): {words}, {said}") from None
        raise
    if min(shape, default=0) < 0:
        if name == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        negative = next(n for n in shape if n < 0)
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {negative}: {list(shape)}"
        )
    if math.prod(shape) >= _HUGE:
        refuse_huge(shape)
    return shape


_HUGE = 2**61  # elements


def refuse_huge(shape: Sequence[int]) -> None:
    """Raise RuntimeError for a shape with more elements than any memory can hold."""
    if math.prod(map(int, shape)) >= _HUGE:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")


def float_kind(dtype: Any) -> Any:
    """Return the numpy dtype; the default dtype for None."""
    return dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)


@composite(method=False, out=True)
@traced
def zeros(
    *size: Ints, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Create a tensor of zeros.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> tn.zeros(2, 3).shape
        tinynet.Size([2, 3])
    """
    require_cpu(device)
    return finish(np.zeros(shape_of(size, "zeros"), float_kind(dtype)), requires_grad)


@composite(method=False, out=True)
@traced
def ones(
    *size: Ints, dtype: DtypeLike = None, device: DeviceLike = None, requires_grad: bool = False
) -> Tensor:
    """Create a tensor of ones.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> tn.ones(2, 3)
        tensor([[1., 1., 1.],
                [1., 1., 1.]])
    """
    require_cpu(device)
    return finish(np.ones(shape_of(size, "ones"), float_kind(dtype)), requires_grad)


@composite(method=False, out=True)
@traced
def empty(
    *size: Ints,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    memory_format: layouts.memory_format = layouts.contiguous_format,
) -> Tensor:
    """Create a tensor with uninitialized values.

    Raises:
        RuntimeError: a size is negative, or the memory format requires another number of
            dimensions.

    Example:
        >>> tn.empty(2, 3).shape
        tinynet.Size([2, 3])
    """
    require_cpu(device)
    made = np.empty(shape_of(size, "empty"), float_kind(dtype))
    return finish(layouts.arranged(made, memory_format), requires_grad)


@composite(method=False, out=True)
@traced
def full(
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a tensor filled with one value, by default in that value's dtype.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> tn.full((2,), 7.0)
        tensor([7., 7.])
    """
    require_cpu(device)
    fill_value = dtypes.number_of(fill_value, "full", "fill_value", 2)
    kind = dtypes.result_type([fill_value]) if dtype is None else dtypes.as_numpy(dtype)
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    value = dtypes.representable(fill_value, kind)
    return finish(np.full(shape_of((size,), "full"), value, kind), requires_grad)


@composite(method=False, out=True)
@traced
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Create a matrix with ones on the diagonal and zeros elsewhere.

    Args:
        n: the number of rows.
        m: the number of columns; ``n`` by default.
        dtype: the default dtype if None.
        device: only ``"cpu"``.
        requires_grad: whether autograd records operations on the result.

    Raises:
        RuntimeError: ``n`` or ``m`` is negative.

    Example:
        >>> tn.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    require_cpu(device)
    for name, count in (("n", n), ("m", m)):
        if count is not None and whole(name, count) < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    refuse_huge((n, n if m is None else m))
    return finish(np.eye(n, m, dtype=float_kind(dtype)), requires_grad)
