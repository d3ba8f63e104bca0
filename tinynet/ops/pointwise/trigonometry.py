"""Trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import refuse_whole
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.exponential import rsqrt
from tinynet.ops.special_functions import special

# ---- sine, cosine, tangent -----------------------------------------------------------------------


@pointwise(np.sin, public=True, ints="float", inplace=True, complex=True)
def sin(self: Array, /) -> Array:
    """Return the sine of angles in radians.

    Example:
        >>> tn.tensor([0.0, tn.pi / 2]).sin()
        tensor([0., 1.])
    """


@pointwise(np.cos, public=True, ints="float", inplace=True, complex=True)
def cos(self: Array, /) -> Array:
    """Return the cosine of angles in radians.

    Example:
        >>> tn.tensor([0.0, tn.pi]).cos()
        tensor([ 1., -1.])
    """


sin.grad(self=lambda g, self: g * cos(self))
cos.grad(self=lambda g, self: -g * sin(self))


@pointwise(np.tan, public=True, ints="float", inplace=True, complex=True)
def tan(self: Array, /) -> Array:
    """Return the tangent of angles in radians.

    Example:
        >>> tn.tensor([0.0, tn.pi / 4]).tan()
        tensor([0., 1.])
    """


tan.grad(self=lambda g, result: g * (1 + result * result))

# ---- their inverses -----------------------------------------------------------------------------


@pointwise(np.arcsin, public=True, ints="float", inplace=True, aliases=("arcsin",), complex=True)
def asin(self: Array, /) -> Array:
    """Return the angle in [-pi/2, pi/2] whose sine is the element; NaN outside [-1, 1].

    Example:
        >>> tn.asin(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5708])
    """


@pointwise(np.arccos, public=True, ints="float", inplace=True, aliases=("arccos",), complex=True)
def acos(self: Array, /) -> Array:
    """Return the angle in [0, pi] whose cosine is the element; NaN outside [-1, 1].

    Example:
        >>> tn.tensor([1.0, 0.0]).acos()
        tensor([0.0000, 1.5708])
    """


@pointwise(np.arctan, public=True, ints="float", inplace=True, aliases=("arctan",), complex=True)
def atan(self: Array, /) -> Array:
    """Return the angle in [-pi/2, pi/2] whose tangent is the element.

    Example:
        >>> tn.tensor([0.0, 1.0]).atan()
        tensor([0.0000, 0.7854])
    """


asin.grad(self=lambda g, self: g * rsqrt(1 - self * self))
acos.grad(self=lambda g, self: g * -rsqrt(1 - self * self))
atan.grad(self=lambda g, self: g / (self * self + 1))


@pointwise(np.arctan2, public=True, ints="float", inplace=True, numbers=False, aliases=("arctan2",))
def atan2(self: Array, other: Array, /) -> Array:
    """Return the angle in [-pi, pi] of the point with x ``other`` and y ``self``.

    Example:
        >>> tn.atan2(tn.tensor([1.0, 0.0]), tn.tensor([0.0, -1.0]))
        tensor([1.5708, 3.1416])
    """


atan2.grad(
    self=lambda g, self, other: g * other * _per_square(self, other),
    other=lambda g, self, other: g * -self * _per_square(self, other),
)


def _per_square(x: Any, y: Any) -> Any:
    """Return ``1 / (x^2 + y^2)``, and 0 at the origin, where an angle has no derivative."""
    square = x * x + y * y
    return where(square == 0, 0.0, 1 / square)


@pointwise(public=True, inplace=True, numbers=False)
def hypot(self: Array, other: Array, /) -> Array:
    """Return the length of the hypotenuse, ``sqrt(self^2 + other^2)``, without overflow.

    Example:
        >>> tn.hypot(tn.tensor(3.0), tn.tensor(4.0))
        tensor(5.)
    """
    refuse_whole("hypot", self)
    return np.hypot(self, other)


hypot.grad(
    self=lambda g, self, result: g * self / result,
    other=lambda g, other, result: g * other / result,
)

# ---- hyperbolic ---------------------------------------------------------------------------------


@pointwise(np.sinh, public=True, ints="float", inplace=True, complex=True)
def sinh(self: Array, /) -> Array:
    """Return the hyperbolic sine.

    Example:
        >>> tn.tensor([0.0, 1.0]).sinh()
        tensor([0.0000, 1.1752])
    """


@pointwise(np.cosh, public=True, ints="float", inplace=True, complex=True)
def cosh(self: Array, /) -> Array:
    """Return the hyperbolic cosine.

    Example:
        >>> tn.tensor([0.0, 1.0]).cosh()
        tensor([1.0000, 1.5431])
    """


sinh.grad(self=lambda g, self: g * cosh(self))
cosh.grad(self=lambda g, self: g * sinh(self))


@pointwise(np.arcsinh, public=True, ints="float", inplace=True, aliases=("arcsinh",), complex=True)
def asinh(self: Array, /) -> Array:
    """Return the inverse of the hyperbolic sine.

    Example:
        >>> tn.tensor([0.0, 1.0]).asinh()
        tensor([0.0000, 0.8814])
    """


@pointwise(np.arccosh, public=True, ints="float", inplace=True, aliases=("arccosh",), complex=True)
def acosh(self: Array, /) -> Array:
    """Return the inverse of the hyperbolic cosine, at least 0; NaN below 1.

    Example:
        >>> tn.tensor([1.0, 2.0]).acosh()
        tensor([0.0000, 1.3170])
    """


@pointwise(np.arctanh, public=True, ints="float", inplace=True, aliases=("arctanh",), complex=True)
def atanh(self: Array, /) -> Array:
    """Return the inverse of the hyperbolic tangent; NaN outside [-1, 1].

    Example:
        >>> tn.tensor([0.0, 0.5]).atanh()
        tensor([0.0000, 0.5493])
    """


asinh.grad(self=lambda g, self: g * rsqrt(self * self + 1))
acosh.grad(self=lambda g, self: g * rsqrt(self * self - 1))
atanh.grad(self=lambda g, self: g / (1 - self * self))

# ---- degrees, and sine over angle ---------------------------------------------------------------


@pointwise(public=True, ints="float", inplace=True, node="Deg2RadBackward0")
def deg2rad(self: Array, /) -> Array:
    """Convert degrees to radians.

    Example:
        >>> tn.deg2rad(tn.tensor(180.0))
        tensor(3.1416)
    """
    return self * (math.pi / 180)


deg2rad.grad(self=lambda g: g * (math.pi / 180))


@pointwise(public=True, ints="float", inplace=True, node="Rad2DegBackward0")
def rad2deg(self: Array, /) -> Array:
    """Convert radians to degrees.

    Example:
        >>> tn.tensor([tn.pi, 1.0]).rad2deg()
        tensor([180.0000,  57.2958])
    """
    return self * (180 / math.pi)


rad2deg.grad(self=lambda g: g * (180 / math.pi))


@special()
@pointwise(public=True, ints="float", inplace=True, complex=True)
def sinc(self: Array, /) -> Array:
    """Return ``sin(pi x) / (pi x)``, and 1 at 0.

    Example:
        >>> tn.sinc(tn.tensor([0.0, 0.5]))
        tensor([1.0000, 0.6366])
    """
    if self.dtype == HALF:
        return in_single(sinc, self)
    angle = self * self.dtype.type(math.pi)
    return np.where(self == 0, self.dtype.type(1), np.sin(angle) / np.where(self == 0, 1, angle))


# The Taylor series of the derivative of sin(a) / a, divided by a, in powers of a^2.
_SERIES = tuple((-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(1, 11))


def _sinc_slope(g: Any, x: Any) -> Any:
    """Return the gradient of ``sinc``: near 0 by its series, since the terms cancel there."""
    angle = x * math.pi
    small = abs(angle) < 1
    near, far = where(small, angle, 0.0), where(small, 1.0, angle)
    square, series = near * near, _SERIES[-1]
    for term in _SERIES[-2::-1]:
        series = series * square + term
    slope = (cos(far) - sin(far) / far) / far
    return where(small, g * (series * near * math.pi), g * (slope * math.pi))


sinc.grad(self=lambda g, self: _sinc_slope(g, self))
