"""The limits of dtypes: ``finfo`` and ``iinfo``."""

from __future__ import annotations

import builtins

import numpy as np

from tinynet.dtypes import (
    DtypeLike,
    as_numpy,
    bool,
    dtype,
    extension_dtypes,
    from_numpy,
    get_default_dtype,
)


class finfo:
    """The limits of a floating-point dtype (the default one unless given), or of complex parts.

    Args:
        type: the dtype.

    Attributes:
        bits: bits per number.
        min, max: the smallest and the largest number.
        eps: the distance from 1 to the next number.
        tiny, smallest_normal: the smallest positive normal number.
        resolution: the decimal resolution at 1.
        dtype: the name of the dtype.

    Raises:
        TypeError: it is not a floating-point dtype.

    Example:
        >>> tn.finfo(tn.float32).max
        3.4028234663852886e+38
    """

    def __init__(self, type: DtypeLike = None):
        kind = get_default_dtype() if type is None else from_numpy(as_numpy(type))
        kind = kind.to_real()
        if not kind.is_floating_point:
            raise TypeError(
                "tinynet.finfo() requires a floating point input type. Use tinynet.iinfo to handle "
                "'tinynet.finfo'"
            )
        info = extension_dtypes.finfo(kind.numpy)
        self.bits: builtins.int = info.bits
        self.min, self.max = builtins.float(info.min), builtins.float(info.max)
        self.eps, self.resolution = builtins.float(info.eps), 10.0**-info.precision
        self.smallest_normal = self.tiny = builtins.float(info.smallest_normal)
        self.dtype = kind.name

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        values = ", ".join(f"{n}={getattr(self, n):g}" for n in names)
        return f"finfo({values}, dtype={self.dtype})"

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)


class iinfo:
    """The limits of an integer dtype.

    Args:
        type: the dtype.

    Attributes:
        bits: bits per number.
        min, max: the least and the largest number.
        dtype: the name of the dtype.

    Raises:
        TypeError: it is not an integer dtype.

    Example:
        >>> tn.iinfo(tn.int8)
        iinfo(min=-128, max=127, dtype=int8)
    """

    def __init__(self, type: dtype | builtins.type):
        kind = from_numpy(as_numpy(type))
        if kind.is_floating_point or kind.is_complex:
            raise TypeError(
                "tinynet.iinfo() requires an integer input type. Use tinynet.finfo to handle "
                "'tinynet.iinfo'"
            )
        if kind is bool:
            raise TypeError("tinynet.bool is not supported by tinynet.iinfo")
        info = np.iinfo(kind.numpy)
        self.bits: builtins.int = info.bits
        self.min, self.max = builtins.int(info.min), builtins.int(info.max)
        self.dtype = kind.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)
