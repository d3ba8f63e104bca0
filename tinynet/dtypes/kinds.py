"""Data types: the objects, and their counterparts in numpy."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import errors
from tinynet.dtypes import extension_dtypes

Array = np.ndarray[Any, Any]


class dtype:
    """A data type such as ``tinynet.float32``.

    Args:
        name: its name in numpy.
        scalar_name: its name in messages, ``"Float"``. Users do not create dtypes.

    Attributes:
        name: ``"float32"``.
        numpy: the numpy dtype; ImportError for bfloat16 if ml_dtypes is not installed.
        is_floating_point: True for bfloat16, float16, float32 and float64.
        is_complex: True for complex64 and complex128.
        itemsize: bytes per element.
        tensor_name: the name of its tensors in messages, ``"FloatTensor"``.

    Example:
        >>> tn.float32.itemsize, tn.float32.is_floating_point, tn.float32.numpy
        (4, True, dtype('float32'))
    """

    __slots__ = (
        "_numpy",
        "is_complex",
        "is_floating_point",
        "itemsize",
        "name",
        "scalar_name",
        "tensor_name",
    )

    def __init__(self, name: str, scalar_name: str):
        self.name = name
        known = None if name == "bfloat16" else np.dtype(name)
        self.is_complex = known is not None and known.kind == "c"
        self.is_floating_point = known is None or is_floating(known)
        self.itemsize = 2 if known is None else known.itemsize
        late = self.is_complex or (self.is_floating_point and self.itemsize == 2)
        self._numpy = None if late else known  # late ones are prepared for at their first use
        self.scalar_name = scalar_name
        self.tensor_name = f"{scalar_name}Tensor"

    @property
    def numpy(self) -> np.dtype[Any]:
        return self._numpy or _first_use(self)

    @property
    def is_signed(self) -> builtins.bool:
        """True for types with negative values."""
        return self.is_floating_point or self.is_complex or self.numpy.kind == "i"

    def to_real(self) -> dtype:
        """Return the dtype of the real part: itself unless complex."""
        return from_numpy(real_of(self.numpy)) if self.is_complex else self

    def to_complex(self) -> dtype:
        """Return the complex dtype with parts of this one; itself if it is complex.

        Raises:
            RuntimeError: no complex dtype has such parts.
        """
        if not self.is_complex and self not in (float32, float64):
            raise RuntimeError(f"there is no complex dtype with parts of {self.name}")
        return from_numpy(complex_of(self.numpy))

    def __repr__(self) -> str:
        return f"{namespace(type(self))}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


HOMES: dict[int, str] = {}  # by id of a class that ``as_torch`` renamed: where it is defined


def namespace(cls: type) -> str:
    """Return the package in whose name a class stands: ``as_torch`` renames those of values."""
    return cls.__module__.partition(".")[0]


DtypeLike = dtype | type | None  # a type is Python's complex, float, int or bool


FLOATING = (
    "fV"  # numpy's kinds: bfloat16 is to numpy some bytes, "V"; tinynet has no others of that
)


def is_floating(kind: np.dtype[Any]) -> builtins.bool:
    """Return whether a numpy dtype is a floating-point dtype."""
    return kind.kind in FLOATING


INEXACT = FLOATING + "c"


def is_inexact(kind: np.dtype[Any]) -> builtins.bool:
    """Return whether a numpy dtype is floating-point or complex: one that can require grad."""
    return kind.kind in INEXACT


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
uint16 = dtype("uint16", "UInt16")
uint32 = dtype("uint32", "UInt32")
uint64 = dtype("uint64", "UInt64")
complex64 = cfloat = dtype("complex64", "ComplexFloat")
complex128 = cdouble = dtype("complex128", "ComplexDouble")

_LATE = (bfloat16, float16, complex64, complex128)  # prepared for at their first array
ALL = (*_LATE[:2], float32, float64, uint8, int8, int16, int32, int64, bool, *_LATE[2:])
UNSIGNED = (uint16, uint32, uint64)  # for data: they do not mix with other integers
NAMES = frozenset([*(d.name for d in ALL), "double", "float", "half", "int", "long", "short"])
_BY_NUMPY = {d.numpy: d for d in (*ALL, *UNSIGNED) if d not in _LATE}
FLOATS = {np.dtype(np.float16), *(d.numpy for d in _BY_NUMPY.values() if d.is_floating_point)}
# Functions of a dtype of _LATE, called before its first array is made.
before_first: list[Callable[[dtype], None]] = []
_PYTHON = {
    builtins.bool: bool,
    builtins.int: int64,
    builtins.float: float64,
    builtins.complex: complex128,
}


def _first_use(late: dtype) -> np.dtype[Any]:
    """Return numpy's dtype of one of _LATE; at the first call, prepare for arrays of it."""
    kind = extension_dtypes.bfloat16() if late is bfloat16 else np.dtype(late.name)
    late._numpy = kind
    _BY_NUMPY[kind] = late
    if late.is_floating_point:
        FLOATS.add(kind)
    for prepare in before_first:
        prepare(late)
    return kind


def of(array: Array) -> dtype:
    """Return the dtype of a numpy array; raise TypeError if tinynet does not support it."""
    return from_numpy(array.dtype)


def from_numpy(numpy_dtype: np.dtype[Any]) -> dtype:
    """Return tinynet's dtype for a numpy one; raise TypeError if tinynet does not support it."""
    try:
        return _BY_NUMPY[numpy_dtype]
    except KeyError:
        for late in _LATE:  # the user's own, made before tinynet's first
            if numpy_dtype.name == late.name and numpy_dtype.isnative and late._numpy is None:
                return from_numpy(late.numpy)
        if not numpy_dtype.isnative:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. "
                "Conversion between byte orders is currently not supported. "
                f"Convert it in numpy: array.astype('{numpy_dtype.newbyteorder('=').name}')."
            ) from None
        names = ", ".join(d.name for d in (*ALL, *UNSIGNED))
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. "
            f"The only supported types are: {names}."
        ) from None


def as_numpy(value: Any) -> np.dtype[Any]:
    """Return the numpy dtype of a dtype, or of Python's complex, float, int or bool."""
    if isinstance(value, dtype):
        return value.numpy
    if isinstance(value, type) and value in _PYTHON:
        return _PYTHON[value].numpy
    sentence = f"dtype must be a tinynet.dtype, not {type(value).__name__}"
    is_name = isinstance(value, str) and value in NAMES
    raise TypeError(in_quotes(sentence, value) if is_name else sentence)


def in_quotes(sentence: str, name: str) -> str:
    """Return the message about a dtype's name in place of the dtype."""
    return errors.with_fix(sentence, f"a dtype is not a string: `tn.{name}`, without quotes")


def real_of(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the parts of complex numbers; another dtype unchanged."""
    return np.dtype(f"f{kind.itemsize // 2}") if kind.kind == "c" else kind


def pairs_of(array: Array) -> Array:
    """Return a view of complex numbers as pairs of real and imaginary parts, ``[..., 2]``."""
    part = real_of(array.dtype)
    steps = (*array.strides, part.itemsize)
    return np.lib.stride_tricks.as_strided(array.real, (*array.shape, 2), steps)


def complex_of(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the complex dtype with parts of a floating-point one; 16 bits give complex64."""
    if kind.kind == "c":
        return kind
    return complex128.numpy if kind.itemsize == 8 else complex64.numpy
