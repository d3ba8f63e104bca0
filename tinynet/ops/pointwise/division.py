"""Integer division: quotients, remainders, common divisors, bit shifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, Single, in_single
from tinynet.ops.argument_errors import no_derivative, refuse_kinds
from tinynet.ops.pointwise.where import zeros_for

# ---- quotients and remainders -------------------------------------------------------------------


def _divided(name: str, function: Any, self: Array, other: Array) -> Array:
    """Divide integers; refuse zero divisors and booleans as PyTorch does."""
    if not isinstance(other, np.ndarray):
        other = np.asarray(other, self.dtype)
    if self.dtype.kind != "f" and other.dtype.kind != "f":
        if self.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")
        if not other.all():
            raise RuntimeError("ZeroDivisionError")
    return function(self, other)


@pointwise(operator="floordiv", inplace=True, node="NotImplemented", of_numbers=True, opmath=True)
def floor_divide(self: Array, other: Array, /) -> Array:
    """Divide and round down; without derivative.

    ``floor(self / other)``.

    Example:
        >>> tn.tensor([-7, 7]) // 2
        tensor([-4,  3])
    """
    return _divided("div_floor_cpu", np.floor_divide, self, other)


_no_slope = no_derivative("aten::floor_divide")
floor_divide.grad(self=_no_slope, other=_no_slope)


@pointwise(node="DivBackward2", methods=False, opmath=True)
def quotient_rounded(self: Array, other: Array, /, rounding: str = "floor") -> Array:
    """Divide and round down or towards zero, in the dtype of the operands."""
    if self.dtype.kind != "f":
        whole = _divided("div_cpu", np.floor_divide, self, other)
        if rounding == "trunc":
            short = (whole < 0) & (whole * other != self)
            whole = whole + short.astype(whole.dtype)
        return whole
    if type(other) is Single and self.dtype == HALF:
        return in_single(quotient_rounded, self, np.asarray(other), rounding=rounding)
    return np.floor_divide(self, other) if rounding == "floor" else np.trunc(self / other)


quotient_rounded.grad(self=zeros_for, other=zeros_for)


@pointwise(operator="mod", inplace=True, node="RemainderBackward1")
def remainder(self: Array, other: Array, /) -> Array:
    """Return the remainder, with the sign of the divisor: ``self - other * floor(self / other)``.

    Example:
        >>> tn.tensor([-7, 7]) % 3
        tensor([2, 1])
    """
    return _divided("remainder_cpu", np.remainder, self, other)


remainder.grad(
    self=lambda g: g, other=lambda g, self, other: -g * quotient_rounded(self, other, "floor")
)


@pointwise(inplace=True, node="FmodBackward1", numbers="other")
def fmod(self: Array, other: Array, /) -> Array:
    """Return the remainder, with the sign of ``self``: ``self - other * trunc(self / other)``.

    Example:
        >>> tn.fmod(tn.tensor([-7, 7]), 3)
        tensor([-1,  1])
    """
    return _divided("fmod_cpu", np.fmod, self, other)


fmod.grad(
    self=lambda g: g, other=lambda g, self, other: -g * quotient_rounded(self, other, "trunc")
)

# ---- common divisors ----------------------------------------------------------------------------


@pointwise(inplace="function", numbers=False)
def gcd(self: Array, other: Array, /) -> Array:
    """Return the greatest common divisor of integers, at least 0.

    Example:
        >>> tn.gcd(tn.tensor([12, 7]), tn.tensor([18, 3]))
        tensor([6, 1])
    """
    refuse_kinds("gcd", "fb", self)
    return np.gcd(self, other)


@pointwise(inplace="function", numbers=False)
def lcm(self: Array, other: Array, /) -> Array:
    """Return the least common multiple of integers, at least 0.

    Example:
        >>> tn.lcm(tn.tensor([4, 7]), tn.tensor([6, 3]))
        tensor([12, 21])
    """
    refuse_kinds("lcm", "fb", self)
    return np.lcm(self, other)


# ---- shifts -------------------------------------------------------------------------------------


@pointwise(inplace=True, operator="lshift")
def bitwise_left_shift(self: Array, other: Array, /) -> Array:
    """Shift the bits of integers to the left: multiply by ``2 ** other``.

    Example:
        >>> tn.tensor([1, 3]) << 2
        tensor([ 4, 12])
    """
    refuse_kinds("lshift", "fb", self, other)
    return np.left_shift(self, other)


@pointwise(inplace=True, operator="rshift")
def bitwise_right_shift(self: Array, other: Array, /) -> Array:
    """Shift the bits of integers to the right; the sign stays.

    Example:
        >>> tn.tensor([8, -8]) >> 1
        tensor([ 4, -4])
    """
    refuse_kinds("rshift", "fb", self, other)
    return np.right_shift(self, other)
