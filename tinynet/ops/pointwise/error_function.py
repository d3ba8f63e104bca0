"""The error function, its variants and inverse, and the normal distribution.

numpy has no error function. In float64, each block of an array, which fits in the cache, is split
into the ranges of W. J. Cody's approximations. In float32 a single formula covers all:
``erf(x) = tanh(x * P(x^2))`` with a rational function P, since numpy's tanh is as fast as a
division.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.ops.pointwise.exponential import exp, square
from tinynet.ops.special_functions import only_special, special

# ---- float64: relative error below 1e-15 --------------------------------------------------------

# Rational approximations of W. J. Cody, "Rational Chebyshev approximations for the error
# function", Mathematics of Computation 23 (1969): relative error below 6e-19, highest power first.
_ERF = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2,
     3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_ERFC_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
     6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
     1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3,
     3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip
_ERFC_TAIL = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346047e0, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def _rational(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    above, below = (_polynomial(c, x) for c in coefficients)
    above /= below
    return above


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    """Evaluate a polynomial, highest power first, in a new array."""
    first, *middle, last = coefficients
    value = x * first
    for c in middle:
        value += c
        value *= x
    value += last
    return value


def _near(x: Array) -> Array:
    """Return erf for ``|x| <= 0.46875``."""
    return x * _rational(_ERF, x * x)


def _far(size: Array) -> Array:
    """Return ``exp(x^2) * erfc(x)`` for ``x >= 0.46875``."""
    reciprocal = 1.0 / np.maximum(size, 4.0)  # its square underflows harmlessly
    inverse = np.square(reciprocal)
    tail = (1.0 / math.sqrt(math.pi) - inverse * _rational(_ERFC_TAIL, inverse)) * reciprocal
    return np.where(size <= 4.0, _rational(_ERFC_MIDDLE, np.minimum(size, 4.0)), tail)


def _middle(x: Array) -> Array:
    size = np.abs(x)
    return np.copysign(1.0 - np.exp(-x * x) * _rational(_ERFC_MIDDLE, size), x)


def _tail(x: Array) -> Array:
    size = np.minimum(np.abs(x), 6.0)  # erf(6) is 1 in double precision
    return np.copysign(1.0 - np.exp(-size * size) * _far(size), x)


def _erf_double(x: Array, scale: float, out: Array) -> None:
    """Write ``erf(scale * x)`` to ``out``, for one block."""
    x = x * scale
    size = np.abs(x)
    beyond = size > 4.0
    ranges = ((size > 0.46875) & ~beyond, _middle), (beyond, _tail)
    out[...] = _near(np.where(size <= 0.46875, x, 0.0)) if (size <= 0.46875).any() else 0.0
    for inside, function in ranges:
        places = np.flatnonzero(inside)
        if places.size:
            out[places] = function(x[places])
    out[np.isnan(x)] = np.nan


# ---- float32: at most 3.3 units in the last place, 0.4 on average -------------------------------

# P(u) = P0 + u * (N0 + N1 u + N2 u^2) / (1 + D0 u + D1 u^2 + D2 u^3), fitted to atanh(erf(x)) / x
# up to x = 4.3; the relative error of tanh is at most 3.4e-9.
_P0 = 1.1283791708468156
_DIVIDEND = (0.00181164184, 0.0159153348, 0.102772512)
_DIVISOR = (0.00032492379, 0.0236899062, 0.156892553, 1.0)
_END = 25.0  # tanh is 1 from here on, and u does not overflow


def _erf_single(x: Array, scale: float, out: Array) -> None:
    """Write ``erf(scale * x)`` to ``out``, for one block."""
    square = scale * scale
    u = x * x
    np.minimum(u, np.float32(_END / square), out=u)
    ratio = _rational((_scaled(_DIVIDEND, square), _scaled(_DIVISOR, square)), u)
    ratio *= u
    ratio *= scale * square
    ratio += scale * _P0
    ratio *= x
    np.tanh(ratio, out=out)


def _scaled(coefficients: tuple[float, ...], factor: float) -> tuple[float, ...]:
    """Return the coefficients of the polynomial of ``factor * u`` instead of u."""
    highest = len(coefficients) - 1
    return tuple(c * factor ** (highest - i) for i, c in enumerate(coefficients))


# ---- arrays of any size -------------------------------------------------------------------------

_BLOCK = 32768


def erf_of(x: Array, scale: float = 1.0) -> Array:
    """Return ``erf(scale * x)`` as a new array."""
    kernel: Callable[[Array, float, Array], None] = _erf_double
    if x.dtype != np.float64:
        kernel = _erf_single
    work = np.float64 if x.dtype == np.float64 else np.float32
    flat = np.ascontiguousarray(x, dtype=work).reshape(-1)
    out = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        kernel(flat[block], scale, out[block])
    return out.reshape(x.shape).astype(x.dtype, copy=False)


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
