"""The error function on arrays, in blocks that fit in the cache.

numpy has no error function. In float64, each block is split into the ranges of W. J. Cody's
approximations. In float32 a single formula covers all: ``erf(x) = tanh(x * P(x^2))`` with a
rational function P, since numpy's tanh is as fast as a division.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tinynet.dtypes import Array

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


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
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


def near(x: Array) -> Array:
    """Return erf for ``|x| <= 0.46875``."""
    return x * _ratio(_ERF, x * x)


def far(size: Array) -> Array:
    """Return ``exp(x^2) * erfc(x)`` for ``x >= 0.46875``."""
    reciprocal = 1.0 / np.maximum(size, 4.0)  # its square underflows harmlessly
    inverse = np.square(reciprocal)
    tail = (1.0 / math.sqrt(math.pi) - inverse * _ratio(_ERFC_TAIL, inverse)) * reciprocal
    return np.where(size <= 4.0, _ratio(_ERFC_MIDDLE, np.minimum(size, 4.0)), tail)


def _middle(x: Array) -> Array:
    size = np.abs(x)
    return np.copysign(1.0 - np.exp(-x * x) * _ratio(_ERFC_MIDDLE, size), x)


def _tail(x: Array) -> Array:
    size = np.minimum(np.abs(x), 6.0)  # erf(6) is 1 in double precision
    return np.copysign(1.0 - np.exp(-size * size) * far(size), x)


def _erf_double(x: Array, scale: float, out: Array) -> None:
    """Write ``erf(scale * x)`` to ``out``, for one block."""
    x = x * scale
    size = np.abs(x)
    beyond = size > 4.0
    ranges = ((size > 0.46875) & ~beyond, _middle), (beyond, _tail)
    out[...] = near(np.where(size <= 0.46875, x, 0.0)) if (size <= 0.46875).any() else 0.0
    for inside, function in ranges:
        places = np.flatnonzero(inside)
        if places.size:
            out[places] = function(x[places])
    out[np.isnan(x)] = np.nan


# ---- float32: at most 3.3 units in the last place, 0.4 on average -------------------------------

# P(u) = P0 + u * (N0 + N1 u + N2 u^2) / (1 + D0 u + D1 u^2 + D2 u^3), fitted to atanh(erf(x)) / x
# up to x = 4.3; the relative error of tanh is at most 3.4e-9.
_P0 = 1.1283791708468156
_ABOVE = (0.00181164184, 0.0159153348, 0.102772512)
_BELOW = (0.00032492379, 0.0236899062, 0.156892553, 1.0)
_END = 25.0  # tanh is 1 from here on, and u does not overflow


def _erf_single(x: Array, scale: float, out: Array) -> None:
    """Write ``erf(scale * x)`` to ``out``, for one block."""
    square = scale * scale
    u = x * x
    np.minimum(u, np.float32(_END / square), out=u)
    ratio = _ratio((_scaled(_ABOVE, square), _scaled(_BELOW, square)), u)
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
