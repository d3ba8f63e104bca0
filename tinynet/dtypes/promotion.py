"""Type promotion and the default dtype, with PyTorch's rules instead of numpy's.

numpy promotes ``int64 + float32`` to float64 and gives ``exp(int64)`` as float64; PyTorch keeps
float32 in both. PyTorch also lets a 0-d tensor decide only between categories (bool < int <
float < complex), never inside one. Source: PyTorch documentation, "Tensor Attributes".
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinynet.dtypes import kinds
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
