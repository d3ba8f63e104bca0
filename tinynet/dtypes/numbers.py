"""Python numbers in dtypes: conversion, limits, and what is refused."""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.dtypes import extension_dtypes
from tinynet.dtypes.kinds import is_floating, is_inexact


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
