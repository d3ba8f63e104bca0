"""The error function, its relatives and its inverse; the normal distribution."""

from __future__ import annotations

import math

import numpy as np

from tinynet.core.operation import pointwise
from tinynet.dtypes import Array
from tinynet.ops.exponential import exp

# ---- the error function -------------------------------------------------------------------------

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


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    above, below = coefficients
    return np.polyval(above, x) / np.polyval(below, x)


def _near(x: Array) -> Array:
    """Return erf, for sizes up to 0.46875."""
    return x * _ratio(_ERF, x * x)


def _far(size: Array) -> Array:
    """Return ``exp(x^2) * erfc(x)``, for x from 0.46875 on."""
    inverse = 1.0 / np.square(np.maximum(size, 4.0))
    tail = (1.0 / math.sqrt(math.pi) - inverse * _ratio(_ERFC_TAIL, inverse)) * np.sqrt(inverse)
    return np.where(size <= 4.0, _ratio(_ERFC_MIDDLE, np.minimum(size, 4.0)), tail)


@pointwise(ints="float", inplace=True)
def erf(self: Array, /) -> Array:
    """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` to x."""
    x = self.astype(np.float64)
    size = np.minimum(np.abs(x), 6.0)  # erf(6) is 1 in double precision
    small = _near(np.minimum(size, 0.46875))
    result = np.where(size <= 0.46875, small, 1.0 - np.exp(-size * size) * _far(size))
    return np.copysign(result, x).astype(self.dtype)


def _erfc(x: Array) -> Array:
    size = np.abs(x)
    far = np.exp(-x * x) * _far(size)
    small = 1.0 - _near(np.clip(x, -0.46875, 0.46875))
    return np.where(size <= 0.46875, small, np.where(x < 0, 2.0 - far, far))


@pointwise(ints="float", inplace=True)
def erfc(self: Array, /) -> Array:
    """Return ``1 - erf(x)``, exact also where erf is close to 1."""
    return _erfc(self.astype(np.float64)).astype(self.dtype)


def _erfcx(x: Array) -> Array:
    size = np.abs(x)
    square = np.exp(np.square(np.minimum(x, 0.46875)))
    small = square * (1.0 - _near(np.clip(x, -0.46875, 0.46875)))
    return np.where(size <= 0.46875, small, np.where(x < 0, 2 * square - _far(size), _far(size)))


@pointwise(ints="float", methods=False, node="SpecialErfcxBackward0")
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
erfcx.grad(self=lambda g, self, result: g * (2 * self * result - _SLOPE))

# ---- its inverse --------------------------------------------------------------------------------

# S. Winitzki, "A handy approximation for the error function and its inverse" (2008), is right to
# 0.2 %; Newton's method does the rest.
_WINITZKI = 0.147


def _first_guess(log_of_rest: Array) -> Array:
    """Return about what erf makes ``y`` of, from ``log(1 - y^2)``."""
    middle = 2 / (math.pi * _WINITZKI) + log_of_rest / 2
    return np.sqrt(np.maximum(np.sqrt(middle**2 - log_of_rest / _WINITZKI) - middle, 0))


def _inverse_near(y: Array) -> Array:
    """Return the inverse of erf, for sizes up to 0.5."""
    x = np.copysign(_first_guess(np.log1p(-y * y)), y)
    for _ in range(3):
        step = (_erf(x) - y) / (_SLOPE * np.exp(-x * x))
        x = x - step / (1 + x * step)
    return x


def _erf(x: Array) -> Array:
    return np.where(np.abs(x) <= 0.46875, _near(np.clip(x, -0.46875, 0.46875)), 1 - _erfc(x))


def _inverse_far(rest: Array) -> Array:
    """Return the inverse of erfc in (0, 0.5]; in logarithms, so that nothing is too small."""
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


@pointwise(ints="float", inplace=True)
def erfinv(self: Array, /) -> Array:
    """Return the inverse of the error function; NaN outside [-1, 1].

    Example:
        >>> tn.erfinv(tn.tensor([0.0, 0.5, 1.0]))
        tensor([0.0000, 0.4769,    inf])
    """
    y = self.astype(np.float64)
    return _inverse(y, 1 - np.abs(y)).astype(self.dtype)


erfinv.grad(self=lambda g, result: g * (exp(result * result) / _SLOPE))

# ---- the normal distribution --------------------------------------------------------------------

_ROOT = math.sqrt(0.5)


@pointwise(ints="float", methods=False, node="SpecialNdtrBackward0")
def ndtr(self: Array, /) -> Array:
    """Return the area below the standard normal density, from minus infinity to x.

    Example:
        >>> tn.special.ndtr(tn.tensor([0.0, 1.0]))
        tensor([0.5000, 0.8413])
    """
    return (0.5 * _erfc(self.astype(np.float64) * -_ROOT)).astype(self.dtype)


@pointwise(ints="float", methods=False, node="SpecialNdtriBackward0")
def ndtri(self: Array, /) -> Array:
    """Return where the area below the standard normal density is x: the inverse of ``ndtr``.

    Example:
        >>> tn.special.ndtri(tn.tensor([0.5, 0.8413]))
        tensor([0.0000, 0.9998])
    """
    p = self.astype(np.float64)
    rest = 2 * np.minimum(p, 1 - p)
    return (_inverse(2 * p - 1, rest) / _ROOT).astype(self.dtype)


@pointwise(ints="float", methods=False, node="SpecialLogNdtrBackward0")
def log_ndtr(self: Array, /) -> Array:
    """Return the logarithm of ``ndtr``, exact also far below zero.

    Example:
        >>> tn.special.log_ndtr(tn.tensor([0.0, -100.0]))
        tensor([-6.9315e-01, -5.0055e+03])
    """
    x = self.astype(np.float64) * _ROOT
    low = np.log(_erfcx(np.maximum(-x, 0.0)) / 2) - x * x
    return np.where(x < -_ROOT, low, np.log1p(-_erfc(x) / 2)).astype(self.dtype)


ndtr.grad(self=lambda g, self: g * (exp(-0.5 * (self * self)) / math.sqrt(2 * math.pi)))
ndtri.grad(self=lambda g, result: g * (exp(0.5 * (result * result)) * math.sqrt(2 * math.pi)))
log_ndtr.grad(self=lambda g, self: g * math.sqrt(2 / math.pi) / erfcx(self * -_ROOT))
