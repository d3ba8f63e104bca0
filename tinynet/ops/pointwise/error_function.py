"""The error function, its variants and inverse, and the normal distribution."""

from __future__ import annotations

import math

import numpy as np

from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.ops.pointwise.erf_kernel import erf_of
from tinynet.ops.pointwise.erf_kernel import far as _far
from tinynet.ops.pointwise.erf_kernel import near as _near
from tinynet.ops.pointwise.exponential import exp, square
from tinynet.ops.special_functions import only_special, special

# ---- the error function -------------------------------------------------------------------------


@special()
@pointwise(public=True, ints="float", inplace=True)
def erf(self: Array, /) -> Array:
    """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` to x.

    Example:
        >>> tn.tensor([0.0, 1.0]).erf()
        tensor([0.0000, 0.8427])
    """
    return erf_of(self)


def _erfc(x: Array) -> Array:
    size = np.abs(x)
    far = np.exp(-x * x) * _far(size)
    small = 1.0 - _near(np.clip(x, -0.46875, 0.46875))
    return np.where(size <= 0.46875, small, np.where(x < 0, 2.0 - far, far))


@special()
@pointwise(public=True, ints="float", inplace=True)
def erfc(self: Array, /) -> Array:
    """Return ``1 - erf(x)``, accurate even where erf is close to 1.

    Example:
        >>> tn.tensor([0.0, 1.0]).erfc()
        tensor([1.0000, 0.1573])
    """
    return _erfc(self.astype(np.float64)).astype(self.dtype)


def _erfcx(x: Array) -> Array:
    size = np.abs(x)
    square = np.exp(np.square(np.minimum(x, 0.46875)))
    small = square * (1.0 - _near(np.clip(x, -0.46875, 0.46875)))
    return np.where(size <= 0.46875, small, np.where(x < 0, 2 * square - _far(size), _far(size)))


@only_special
def erfcx(self: Array, /) -> Array:
    """Return ``exp(x^2) * erfc(x)``, without overflow for large x.

    Example:
        >>> tn.special.erfcx(tn.tensor([0.0, 100.0]))
        tensor([1.0000, 0.0056])
    """
    return _erfcx(self.astype(np.float64)).astype(self.dtype)


_SLOPE = 2 / math.sqrt(math.pi)
erf.grad(self=lambda g, self: g * (_SLOPE * exp(-(self * self))))
erfc.grad(self=lambda g, self: g * (-_SLOPE * exp(-(self * self))))

# ---- its inverse --------------------------------------------------------------------------------

# The approximation of S. Winitzki, "A handy approximation for the error function and its inverse"
# (2008), is accurate to 0.2 %; Newton's method refines it.
_WINITZKI = 0.147


def _first_guess(log_of_rest: Array) -> Array:
    """Approximate the inverse of erf at ``y``, given ``log(1 - y^2)``."""
    middle = 2 / (math.pi * _WINITZKI) + log_of_rest / 2
    return np.sqrt(np.maximum(np.sqrt(middle**2 - log_of_rest / _WINITZKI) - middle, 0))


def _inverse_near(y: Array) -> Array:
    """Return the inverse of erf for ``|y| <= 0.5``."""
    x = np.copysign(_first_guess(np.log1p(-y * y)), y)
    for _ in range(3):
        step = (_erf(x) - y) / (_SLOPE * np.exp(-x * x))
        x = x - step / (1 + x * step)
    return x


def _erf(x: Array) -> Array:
    return np.where(np.abs(x) <= 0.46875, _near(np.clip(x, -0.46875, 0.46875)), 1 - _erfc(x))


def _inverse_far(rest: Array) -> Array:
    """Return the inverse of erfc on (0, 0.5], in logarithms to avoid underflow."""
    wanted = np.log(rest)
    x = _first_guess(np.log(rest * (2 - rest)))
    for _ in range(4):
        scaled = _far(np.maximum(x, 0.46875))
        x = x + (np.log(scaled) - x * x - wanted) * scaled / _SLOPE
    return x


def _inverse(y: Array, rest: Array) -> Array:
    """Return the inverse of erf at ``y``, where ``rest`` is ``1 - abs(y)`` without rounding."""
    near = _inverse_near(np.clip(y, -0.5, 0.5))
    far = np.copysign(_inverse_far(np.clip(rest, 5e-324, 0.5)), y)
    inner = np.where(np.abs(y) <= 0.5, near, far)
    return np.where(rest > 0, inner, np.where(rest == 0, np.copysign(np.inf, y), np.nan))


@special()
@pointwise(public=True, ints="float", inplace="method")
def erfinv(self: Array, /) -> Array:
    """Return the inverse of the error function; NaN outside [-1, 1].

    Example:
        >>> tn.erfinv(tn.tensor([0.0, 0.5, 1.0]))
        tensor([0.0000, 0.4769,    inf])
    """
    y = self.astype(np.float64)
    return _inverse(y, 1 - np.abs(y)).astype(self.dtype)


erfinv.grad(self=lambda g, self: g * (exp(square(erfinv(self))) / _SLOPE))

# ---- the normal distribution --------------------------------------------------------------------

_ROOT = math.sqrt(0.5)
DENSITY = 1 / math.sqrt(2 * math.pi)


@only_special
def ndtr(self: Array, /) -> Array:
    """Return the standard normal distribution function: the area below the density up to x.

    Example:
        >>> tn.special.ndtr(tn.tensor([0.0, 1.0]))
        tensor([0.5000, 0.8413])
    """
    return (0.5 * _erfc(self.astype(np.float64) * -_ROOT)).astype(self.dtype)


@only_special
def ndtri(self: Array, /) -> Array:
    """Return the standard normal quantile function, the inverse of ``ndtr``.

    Example:
        >>> tn.special.ndtri(tn.tensor([0.5, 0.8413]))
        tensor([0.0000, 0.9998])
    """
    p = self.astype(np.float64)
    rest = 2 * np.minimum(p, 1 - p)
    return (_inverse(2 * p - 1, rest) / _ROOT).astype(self.dtype)


@only_special
def log_ndtr(self: Array, /) -> Array:
    """Return the logarithm of ``ndtr``, accurate even far below zero.

    Example:
        >>> tn.special.log_ndtr(tn.tensor([0.0, -100.0]))
        tensor([-6.9315e-01, -5.0055e+03])
    """
    x = self.astype(np.float64) * _ROOT
    low = np.log(_erfcx(np.maximum(-x, 0.0)) / 2) - x * x
    return np.where(x < -_ROOT, low, np.log1p(-_erfc(x) / 2)).astype(self.dtype)


ndtr.grad(self=lambda g, self: g * (exp(-0.5 * (self * self)) * DENSITY))
ndtri.grad(self=lambda g, result: g * (exp(0.5 * (result * result)) * math.sqrt(2 * math.pi)))

# ---- their logarithmic derivative ---------------------------------------------------------------

# Density over distribution function, the inverse Mills ratio r(x), is close to -x far below 0; the
# derivatives are made of what it has beyond -x, without the cancellation: r' = -r (x + r).
_BELOW = -11.0  # from here on down, _TERMS terms of the asymptotic series give full precision
_TERMS = 20
_ODD = [math.prod(range(1, 2 * k, 2)) * (-1.0) ** k for k in range(_TERMS + 1)]
_ODDER = [c * (2 * k + 1) for k, c in enumerate(_ODD)]


def _beyond(x: Array) -> Array:
    """Return ``x + r(x)`` for x far below 0 (Abramowitz and Stegun, 26.2.12)."""
    size = np.maximum(-x, -_BELOW)
    square = np.square(1 / size)
    return np.polyval(_ODDER[::-1], square) / np.polyval(_ODD[::-1], square) / size


def _ratio(x: Array) -> Array:
    """Return r(x), except for x far below 0."""
    near = np.maximum(x, _BELOW)
    above = DENSITY * np.exp(-0.5 * x * x) / (0.5 * _erfc(near * -_ROOT))
    below = math.sqrt(2 / math.pi) / _erfcx(np.minimum(near, 0.0) * -_ROOT)
    return np.where(x < 0, below, above)


@pointwise()
def inverse_mills(self: Array, /) -> Array:
    """Return the standard normal density over the distribution function."""
    x = self.astype(np.float64)
    return np.where(x < _BELOW, _beyond(x) - x, _ratio(x)).astype(self.dtype)


@pointwise()
def beyond_line(self: Array, /) -> Array:
    """Return ``x + inverse_mills(x)``, without cancellation below 0."""
    x = self.astype(np.float64)
    return np.where(x < _BELOW, _beyond(x), x + _ratio(x)).astype(self.dtype)


inverse_mills.grad(self=lambda g, self, result: g * (result * -beyond_line(self)))
beyond_line.grad(self=lambda g, self, result: g * (1 - inverse_mills(self) * result))
log_ndtr.grad(self=lambda g, self: g * inverse_mills(self))

_ROOT_2 = math.sqrt(2)
erfcx.grad(self=lambda g, self, result: g * (result * beyond_line(self * -_ROOT_2) * -_ROOT_2))
