"""Data types, type promotion and the default dtype, with PyTorch's rules instead of numpy's.

numpy promotes ``int64 + float32`` to float64 and gives ``exp(int64)`` as float64; PyTorch keeps
float32 in both. PyTorch also lets a 0-d tensor decide only between categories (bool < int <
float), never inside one. Source: PyTorch documentation, "Tensor Attributes", type promotion.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tinynet import errors, extension_dtypes

Array = np.ndarray[Any, Any]
type_of_number: dict[type, int] = {bool: 0, int: 1, float: 2}


class dtype:
    """A data type such as ``tinynet.float32``.

    Args:
        name: its name in numpy.
        scalar_name: its name in messages, ``"Float"``. Users do not create dtypes.

    Attributes:
        name: ``"float32"``.
        numpy: the numpy dtype; ImportError for bfloat16 if ml_dtypes is not installed.
        is_floating_point: True for bfloat16, float16, float32 and float64.
        itemsize: bytes per element.
        tensor_name: the name of its tensors in messages, ``"FloatTensor"``.

    Example:
        >>> tn.float32.itemsize, tn.float32.is_floating_point, tn.float32.numpy
        (4, True, dtype('float32'))
    """

    __slots__ = ("_numpy", "is_floating_point", "itemsize", "name", "scalar_name", "tensor_name")
    is_complex = False

    def __init__(self, name: str, scalar_name: str):
        self.name = name
        known = None if name in ("bfloat16", "float16") else np.dtype(name)
        self._numpy = known
        self.is_floating_point = known is None or is_floating(known)
        self.itemsize = 2 if known is None else known.itemsize
        self.scalar_name = scalar_name
        self.tensor_name = f"{scalar_name}Tensor"

    @property
    def numpy(self) -> np.dtype[Any]:
        return self._numpy or _first_use(self)

    @property
    def is_signed(self) -> builtins.bool:
        """True for types with negative values."""
        return self.is_floating_point or self.numpy.kind == "i"

    def to_real(self) -> dtype:
        """Return the dtype itself: complex numbers are not supported."""
        return self

    def __repr__(self) -> str:
        return f"{namespace(type(self))}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


def namespace(cls: type) -> str:
    """Return the package in whose name a class stands: ``as_torch`` renames those of values."""
    return cls.__module__.partition(".")[0]


DtypeLike = dtype | type | None  # a type is Python's float, int or bool


FLOATING = (
    "fV"  # numpy's kinds: bfloat16 is to numpy some bytes, "V"; tinynet has no others of that
)


def is_floating(kind: np.dtype[Any]) -> builtins.bool:
    """Return whether a numpy dtype is a floating-point dtype."""
    return kind.kind in FLOATING


bfloat16 = dtype("bfloat16", "BFloat16")
float16 = half = dtype("float16", "Half")
float32 = float = dtype("float32", "Float")
float64 = double = dtype("float64", "Double")
uint8 = dtype("uint8", "Byte")
int8 = dtype("int8", "Char")
int16 = short = dtype("int16", "Short")
int32 = int = dtype("int32", "Int")
int64 = long = dtype("int64", "Long")
bool = dtype("bool", "Bool")

ALL = (bfloat16, float16, float32, float64, uint8, int8, int16, int32, int64, bool)
NAMES = frozenset([*(d.name for d in ALL), *"double float half int long short".split()])
_BY_NUMPY = {d.numpy: d for d in ALL if d not in (bfloat16, float16)}
FLOATS = {np.dtype(np.float16), *(d.numpy for d in _BY_NUMPY.values() if d.is_floating_point)}
# Functions of bfloat16 or float16, called before the first array of it is made.
before_halves: list[Callable[[dtype], None]] = []
_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2}
_PYTHON = {builtins.bool: bool.numpy, builtins.int: int64.numpy, builtins.float: float64.numpy}
_DEFAULT_OF_CATEGORY = [bool.numpy, int64.numpy, float32.numpy]


def _first_use(half: dtype) -> np.dtype[Any]:
    """Return numpy's dtype of bfloat16 or float16; at the first call, prepare for arrays of it."""
    kind = extension_dtypes.bfloat16() if half is bfloat16 else np.dtype(np.float16)
    half._numpy = kind
    _BY_NUMPY[kind] = half
    FLOATS.add(kind)
    for prepare in before_halves:
        prepare(half)
    return kind


def of(array: Array) -> dtype:
    """Return the dtype of a numpy array; raise TypeError if tinynet does not support it."""
    return from_numpy(array.dtype)


def from_numpy(numpy_dtype: np.dtype[Any]) -> dtype:
    """Return tinynet's dtype for a numpy one; raise TypeError if tinynet does not support it."""
    try:
        return _BY_NUMPY[numpy_dtype]
    except KeyError:
        for half in (bfloat16, float16):  # the user's own, made before tinynet's first
            if numpy_dtype.name == half.name and numpy_dtype.isnative and half._numpy is None:
                return from_numpy(half.numpy)
        if not numpy_dtype.isnative:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. "
                "Conversion between byte orders is currently not supported. "
                f"Convert it in numpy: array.astype('{numpy_dtype.newbyteorder('=').name}')."
            ) from None
        names = ", ".join(d.name for d in ALL)
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. "
            f"The only supported types are: {names}."
        ) from None


def as_numpy(value: Any) -> np.dtype[Any]:
    """Return the numpy dtype that ``value`` (a dtype, or Python's float, int, bool) stands for."""
    if isinstance(value, dtype):
        return value.numpy
    if isinstance(value, type) and value in _PYTHON:
        return _PYTHON[value]
    sentence = f"dtype must be a tinynet.dtype, not {type(value).__name__}"
    is_name = isinstance(value, str) and value in NAMES
    raise TypeError(in_quotes(sentence, value) if is_name else sentence)


def in_quotes(sentence: str, name: str) -> str:
    """Return the message about a dtype's name in place of the dtype."""
    return errors.with_fix(sentence, f"a dtype is no string: `tn.{name}`, without quotes")


def get_default_dtype() -> dtype:
    """Return the dtype that Python floats become (float32 unless changed).

    Example:
        >>> tn.get_default_dtype()
        tinynet.float32
    """
    return _BY_NUMPY[_DEFAULT_OF_CATEGORY[2]]


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
    """Return the numpy dtype of an array, the default one for integers and booleans."""
    return array.dtype if is_floating(array.dtype) else _DEFAULT_OF_CATEGORY[2]


def promote_types(type1: dtype | type, type2: dtype | type) -> dtype:
    """Return the smallest dtype that both fit in, by PyTorch's table.

    Args:
        type1, type2: the dtypes.

    Raises:
        TypeError: what is no dtype.

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
        TypeError: what is no dtype.

    Example:
        >>> tn.can_cast(tn.float32, tn.int64)
        False
    """
    return castable(as_numpy(from_), as_numpy(to))


def promoted(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Return the smallest numpy dtype that both fit in, by PyTorch's table."""
    if a == b:
        return a
    if is_floating(a) != is_floating(b):
        return a if is_floating(a) else b
    if is_floating(a) and a.itemsize == b.itemsize:  # bfloat16 and float16
        return float32.numpy
    return np.promote_types(a, b)


_promoted: dict[tuple[Any, ...], np.dtype[Any]] = {}


def result_type(operands: Iterable[Any]) -> np.dtype[Any]:
    """Return the numpy dtype of an operation on arrays and Python numbers, by PyTorch's rules.

    Arrays with dimensions, 0-d arrays and numbers are three groups; a later group counts only
    where its category (bool < int < float) is higher than that of the groups before it.
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
            group, kind = 2, _DEFAULT_OF_CATEGORY[type_of_number[item]]
        before = groups[group]
        groups[group] = kind if before is None else promoted(before, kind)
    dimensioned, zero_dim, number = groups
    return _combine(dimensioned, _combine(zero_dim, number))  # type: ignore[return-value]


def _combine(higher: np.dtype[Any] | None, lower: np.dtype[Any] | None) -> np.dtype[Any] | None:
    if higher is None or lower is None:
        return lower if higher is None else higher
    if _CATEGORY[lower.kind] > _CATEGORY[higher.kind]:
        return promoted(higher, lower)
    return higher


def castable(source: np.dtype[Any], target: np.dtype[Any]) -> builtins.bool:
    """Return whether a result of ``source`` can be written in place to an array of ``target``."""
    return _CATEGORY[source.kind] <= _CATEGORY[target.kind]


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
    info = np.iinfo(kind)
    low, high = builtins.int(info.min), builtins.int(info.max)
    return kind.type((value - low) % (high - low + 1) + low)


def operand(value: Any, kind: np.dtype[Any]) -> Any:
    """Return a Python number for kernels: for bfloat16 a rounded number, not an array.

    Raises:
        OverflowError: an integer of more than 64 bits.
    """
    return builtins.float(kind.type(value)) if kind.kind == "V" else number(value, kind)


_C_TYPES = {
    "bfloat16": "c10::BFloat16", "float16": "c10::Half", "float32": "float", "int8": "int8_t",
    "int16": "int16_t", "int32": "int", "int64": "int64_t", "uint8": "uint8_t",
}  # fmt: skip


def refuse_large(value: builtins.int) -> None:
    """Raise OverflowError for an integer of more than 64 bits."""
    if not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert")


def refuse_longer(*values: builtins.int) -> None:
    """Raise ValueError for an integer that int64 cannot hold."""
    if not all(-(2**63) <= value < 2**63 for value in values):
        raise ValueError("Overflow when unpacking long long")


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


def fits(value: Any, kind: np.dtype[Any]) -> builtins.bool:
    """Return whether a dtype can represent a Python number, truncated for integers.

    Negative integers fit in an unsigned dtype: they wrap around, as in PyTorch.
    """
    if kind.kind == "b":
        return True
    if is_floating(kind):
        limit = builtins.float(extension_dtypes.finfo(kind).max)
        return not math.isfinite(value) or -limit <= value <= limit
    info = np.iinfo(kind)
    wraps = kind.kind == "u" and isinstance(value, builtins.int)
    low = -builtins.int(info.max) if wraps else builtins.int(info.min)
    return math.isfinite(value) and low <= value <= builtins.int(info.max)


def representable(value: Any, kind: np.dtype[Any]) -> Any:
    """Return a number, truncated for integer dtypes.

    Raises:
        OverflowError: an integer of more than 64 bits.
        RuntimeError: a number that the dtype cannot hold.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (builtins.int, builtins.float)) or kind.kind == "b":
        return value
    if isinstance(value, builtins.int):
        refuse_large(value)
    if not fits(value, kind):
        name = _C_TYPES[kind.name]
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return value if is_floating(kind) else number(builtins.int(value), kind)
