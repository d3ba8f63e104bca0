"""Type promotion and the default dtype, with PyTorch's rules instead of numpy's.

numpy promotes ``int64 + float32`` to float64 and gives ``exp(int64)`` as float64; PyTorch keeps
float32 in both. PyTorch also lets a 0-d tensor decide only between categories (bool < int <
float < complex), never inside one. Source: PyTorch documentation, "Tensor Attributes".
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.dtypes import extension_dtypes, kinds
from tinynet.dtypes.kinds import (
    Array,
    as_numpy,
    complex_of,
    dtype,
    from_numpy,
    is_floating,
    is_inexact,
    real_of,
)

# ---- promotion ----------------------------------------------------------------------------------


type_of_number: dict[type, int] = {builtins.bool: 0, builtins.int: 1, builtins.float: 2, complex: 3}
_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}
_UNSIGNED = {kind.numpy for kind in kinds.UNSIGNED}
_DEFAULT_OF_CATEGORY = [kinds.bool.numpy, kinds.int64.numpy, kinds.float32.numpy]


def get_default_dtype() -> dtype:
    """Return the dtype that Python floats become (float32 unless changed).

    Example:
        >>> tn.get_default_dtype()
        tinynet.float32
    """
    return from_numpy(_DEFAULT_OF_CATEGORY[2])


def set_default_dtype(d: dtype) -> None:
    """Set the dtype that Python floats become; only floating-point dtypes are supported.

    Args:
        d: bfloat16, float16, float32 (as at the start) or float64.

    Raises:
        TypeError: ``d`` is not a floating-point dtype.

    Example:
        >>> tn.set_default_dtype(tn.float32)
    """
    if not (isinstance(d, dtype) and d.is_floating_point):
        raise TypeError(
            f"only floating-point types are supported as the default type. Got {d!r} instead."
        )
    _DEFAULT_OF_CATEGORY[2] = d.numpy
    _promoted.clear()


def default_float() -> np.dtype[Any]:
    """Return the numpy dtype of the default dtype."""
    return _DEFAULT_OF_CATEGORY[2]


def floating_kind(array: Array) -> np.dtype[Any]:
    """Return the dtype of a floating-point or complex array, the default one for others."""
    return array.dtype if is_inexact(array.dtype) else _DEFAULT_OF_CATEGORY[2]


def promote_types(type1: dtype | type, type2: dtype | type) -> dtype:
    """Return the smallest dtype that both fit in, by PyTorch's table.

    Args:
        type1, type2: the dtypes.

    Raises:
        TypeError: what is not a dtype.

    Example:
        >>> tn.promote_types(tn.int64, tn.float32)
        tinynet.float32
    """
    return from_numpy(promoted(as_numpy(type1), as_numpy(type2)))


def can_cast(from_: dtype | type, to: dtype | type) -> builtins.bool:
    """Return whether an in-place result of one dtype can be written to a tensor of another.

    Args:
        from_: the dtype of the result.
        to: the dtype of the tensor that is written to.

    Raises:
        TypeError: what is not a dtype.

    Example:
        >>> tn.can_cast(tn.float32, tn.int64)
        False
    """
    return castable(as_numpy(from_), as_numpy(to))


def promoted(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Return the smallest numpy dtype that both fit in, by PyTorch's table.

    Raises:
        RuntimeError: uint16, uint32 or uint64 meets another dtype that is not floating-point.
    """
    if a == b:
        return a
    if _UNSIGNED & {a, b} and not (is_floating(a) or is_floating(b)):
        names = " and ".join(from_numpy(kind).scalar_name for kind in (a, b))
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{names}"
        )
    if is_inexact(a) != is_inexact(b):
        return a if is_inexact(a) else b
    if "c" in (a.kind, b.kind):
        double = 8 in (real_of(a).itemsize, real_of(b).itemsize)
        return kinds.complex128.numpy if double else kinds.complex64.numpy
    if is_floating(a) and a.itemsize == b.itemsize:  # bfloat16 and float16
        return kinds.float32.numpy
    return np.promote_types(a, b)


_promoted: dict[tuple[Any, ...], np.dtype[Any]] = {}


def result_type(operands: Iterable[Any]) -> np.dtype[Any]:
    """Return the numpy dtype of an operation on arrays and Python numbers, by PyTorch's rules.

    Arrays with dimensions, 0-d arrays and numbers are three groups; a later group counts only
    where its category (bool < int < float < complex) is higher than in the groups before it.
    """
    key = tuple(type(o) if type(o) in type_of_number else (o.dtype, o.ndim == 0) for o in operands)
    found = _promoted.get(key)
    if found is None:
        found = _promoted[key] = _result_type(key)
    return found


def _result_type(key: tuple[Any, ...]) -> np.dtype[Any]:
    groups: list[np.dtype[Any] | None] = [None, None, None]
    for item in key:
        if isinstance(item, tuple):
            group, kind = (1 if item[1] else 0), item[0]
        else:
            group, kind = 2, _kind_of_number(item)
        before = groups[group]
        groups[group] = kind if before is None else promoted(before, kind)
    dimensioned, zero_dim, number = groups
    return _combine(dimensioned, _combine(zero_dim, number))  # type: ignore[return-value]


def _kind_of_number(number: type) -> np.dtype[Any]:
    category = type_of_number[number]
    if category == 3:
        return complex_of(_DEFAULT_OF_CATEGORY[2])
    return _DEFAULT_OF_CATEGORY[category]


def _combine(higher: np.dtype[Any] | None, lower: np.dtype[Any] | None) -> np.dtype[Any] | None:
    if higher is None or lower is None:
        return lower if higher is None else higher
    if _CATEGORY[lower.kind] > _CATEGORY[higher.kind]:
        if is_floating(higher):
            return complex_of(higher)
        return promoted(higher, lower)
    return higher


def castable(source: np.dtype[Any], target: np.dtype[Any]) -> builtins.bool:
    """Return whether a result of ``source`` can be written in place to an array of ``target``."""
    return _CATEGORY[source.kind] <= _CATEGORY[target.kind]


# ---- numbers ------------------------------------------------------------------------------------
# Python numbers in dtypes: conversion, limits, and what is refused.


def number(value: Any, kind: np.dtype[Any]) -> Any:
    """Return a Python number as a numpy scalar; integers out of range wrap around, as in C.

    Raises:
        OverflowError: an integer of more than 64 bits.
    """
    try:
        return kind.type(value)
    except OverflowError:
        if kind.kind not in "iu" or not isinstance(value, builtins.int):
            raise
    refuse_large(value)
    low, high = _limits(kind)
    return kind.type((value - low) % (high - low + 1) + low)


def operand(value: Any, kind: np.dtype[Any]) -> Any:
    """Return a Python number for kernels: for bfloat16 a rounded number, not an array.

    Raises:
        OverflowError: an integer of more than 64 bits.
    """
    return builtins.float(kind.type(value)) if kind.kind == "V" else number(value, kind)


_REAL = (builtins.int, builtins.float)
_NUMBERS = (builtins.int, builtins.float, builtins.complex)
_C_TYPES = {
    "bfloat16": "c10::BFloat16", "float16": "c10::Half", "float32": "float", "int8": "int8_t",
    "float64": "double", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "uint8": "uint8_t", "bool": "bool", "complex64": "c10::complex<float>",
}  # fmt: skip


def refuse_large(value: builtins.int) -> None:
    """Raise OverflowError for an integer of more than 64 bits."""
    if not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")


def refuse_longer(*values: builtins.int) -> None:
    """Raise ValueError for an integer that int64 cannot hold."""
    if min(values) < -(2**63) or max(values) >= 2**63:
        raise ValueError("Overflow when unpacking long long")


def negative_stride() -> ValueError:
    """Return the error for an array whose memory a tensor cannot share."""
    return ValueError(
        "At least one stride in the given numpy array is negative, and tensors with negative "
        "strides are not currently supported. (You can probably work around this by making a "
        "copy of your array  with array.copy().)"
    )


def ragged(data: Any) -> ValueError:
    """Return the error for nested sequences of unequal lengths."""
    depth, level = 0, [*data]
    sentence = "expected sequences of equal length at dim 1"
    while level and all(isinstance(x, (list, tuple)) for x in level):
        depth += 1
        first = len(level[0])
        other = next((len(x) for x in level if len(x) != first), first)
        if other != first:
            sentence = f"expected sequence of length {first} at dim {depth} (got {other})"
            break
        level = [y for x in level for y in x]
        sentence = f"expected sequences of equal length at dim {depth + 1}"
    fix = "make a tensor of each sequence, and pad them: `nn.utils.rnn.pad_sequence(tensors)`"
    return ValueError(errors.with_fix(sentence, fix))


@functools.cache  # a loop over elements asks for each
def _limits(kind: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the least and the greatest finite number of a dtype, as Python's numbers."""
    if is_floating(kind):
        limit = builtins.float(extension_dtypes.finfo(kind).max)
        return -limit, limit
    info = np.iinfo(kind)
    return builtins.int(info.min), builtins.int(info.max)


def fits(value: Any, kind: np.dtype[Any]) -> builtins.bool:
    """Return whether a dtype can represent a Python number, truncated for integers.

    Negative integers fit in an unsigned dtype: they wrap around, as in PyTorch.
    """
    if kind.kind == "b":
        return True
    if kind.kind == "c":
        part = np.empty(0, kind).real.dtype
        return fits(value.real, part) and fits(value.imag, part)
    low, high = _limits(kind)
    if not math.isfinite(value):
        return is_floating(kind)
    if kind.kind == "u" and isinstance(value, builtins.int):
        low = -high
    return builtins.bool(low <= value <= high)


def representable(value: Any, kind: np.dtype[Any]) -> Any:
    """Return a number, truncated for integer dtypes.

    Raises:
        OverflowError: an integer of more than 64 bits.
        RuntimeError: a number that the dtype cannot hold.
    """
    if isinstance(value, _REAL) and kind.kind == "f" and -65504 <= value <= 65504:
        return value  # the common case: any floating dtype holds it
    if isinstance(value, (np.generic, np.ndarray)):  # an array without dimensions
        value = value.item()
    if isinstance(value, builtins.complex) and kind.kind not in "bc":
        if value.imag:
            name = _C_TYPES.get(kind.name, kind.name)
            raise RuntimeError(f"value cannot be converted to type {name} without overflow")
        value = value.real
    if isinstance(value, builtins.int):
        refuse_large(value)
    if kind.kind == "b" or not isinstance(value, _NUMBERS):
        return value
    if not fits(value, kind):
        name = _C_TYPES[kind.name]
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return value if is_inexact(kind) else number(builtins.int(value.real), kind)


def factor(name: str, value: Any, kind: np.dtype[Any]) -> Any:
    """Return the factor ``alpha`` or ``beta`` of a result.

    Args:
        name: the argument's name.
        value: the factor.
        kind: the result's dtype.

    Raises:
        RuntimeError: a factor of a kind beyond the result's.
    """
    if isinstance(value, builtins.bool) and kind.kind != "b":
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if not is_inexact(kind) and isinstance(value, (builtins.float, builtins.complex)):
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number."
        )
    return builtins.bool(value) if kind.kind == "b" else value


def number_of(value: Any, function: str, argument: str, position: int | None = None) -> Any:
    """Return an argument as a Python number, as PyTorch reads one.

    Args:
        value: a number, a numpy scalar, or a tensor of no dimensions that requires no grad.
        function: the name of the function, for the message.
        argument: the name of the argument, for the message.
        position: its place among the arguments, if the message names it.

    Raises:
        TypeError: it is none of these.
    """
    if type(value) in (int, float, bool, complex):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (int, float, complex)):
        return value
    if getattr(value, "requires_grad", True) is False and value.ndim == 0:
        return value.item()
    kind = "numpy.ndarray" if isinstance(value, np.ndarray) else type(value).__name__
    place = f" (position {position})" if position else ""
    raise TypeError(f"{function}(): argument '{argument}'{place} must be Number, not {kind}")
