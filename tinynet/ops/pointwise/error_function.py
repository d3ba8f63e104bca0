"""The error function, its variants and inverse, and the normal distribution.

numpy has no error function. In float64, each block of an array, which fits in the cache, is split
into the ranges of W. J. Cody's approximations. In float32 a single formula covers all:
``erf(x) = tanh(x * P(x^2))`` with a rational function P, since numpy's tanh is as fast as a
division.
"""

from __future__ import annotations

import math

import numpy as np

from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.kernels import threads
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


# ---- the error function -------------------------------------------------------------------------

_BLOCK = 32768


def erf_of(x: Array, scale: float = 1.0) -> Array:
    """Return ``erf(scale * x)`` as a new array."""
    is_double = x.dtype == np.float64
    kernel = _erf_double if is_double else _erf_single
    flat = np.ascontiguousarray(x, np.float64 if is_double else np.float32).reshape(-1)
    out = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        kernel(flat[block], scale, out[block])
    return out.reshape(x.shape).astype(x.dtype, copy=False)


@special()
@pointwise(public=True, ints="float", inplace=True)
def erf(self: Array, /) -> Array:
    """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` to x.

    Example:
        >>> tn.tensor([0.0, 1.0]).erf()
        tensor([0.0000, 0.8427])
    """
    return erf_of(self)


@threads.blockwise
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


@threads.blockwise
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

# Rational approximations of the normal quantile by M. J. Wichura, "Algorithm AS 241: the percentage
# points of the normal distribution", Applied Statistics 37 (1988): relative error of 1e-16.
_CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0),
)  # fmt: skip
_SIDES = (
    (7.7454501427834140764e-4, 2.2723844989269184583e-2, 2.4178072517745061177e-1,
     1.2704582524523683826e0, 3.6478483247632046050e0, 5.7694972214606914055e0,
     4.6303378461565452959e0, 1.4234371107496835773e0),
    (1.0507500716444168432e-9, 5.4759380849953449460e-4, 1.5198666563616457197e-2,
     1.4810397642748007459e-1, 6.8976733498510000455e-1, 1.6763848301838038494e0,
     2.0531916266377588219e0, 1.0),
)  # fmt: skip
_ENDS = (
    (2.0103343992922881327e-7, 2.7115555687434875782e-5, 1.2426609473880784386e-3,
     2.6532189526576123093e-2, 2.9656057182850489123e-1, 1.7848265399172913358e0,
     5.4637849111641143699e0, 6.6579046435011037772e0),
    (2.0442631033899397856e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.8686913114561325910e-4, 1.4875361290850615025e-2, 1.3692988092273580531e-1,
     5.9983220655588793769e-1, 1.0),
)  # fmt: skip


@threads.blockwise
def _quantile(y: Array, rest: Array) -> Array:
    """Return the normal quantile at ``(1 + y) / 2``, where ``rest`` is ``1 - abs(y)`` exactly."""
    shape, y, rest = y.shape, y.reshape(-1), rest.reshape(-1)
    x: Array = y * (0.5 * _rational(_CENTRE, np.maximum(0.180625 - 0.25 * y * y, 0.0)))
    outside = np.flatnonzero(rest < 0.15)
    if outside.size:
        depth = np.sqrt(low := -np.log(0.5 * rest[outside]))
        size = np.where(depth <= 5.0, _rational(_SIDES, depth - 1.6), _rational(_ENDS, depth - 5.0))
        scaled = 0.5 * _far(size * _ROOT)  # one step of Newton's method, in logarithms
        size += (np.log(scaled) - 0.5 * size * size + low) * scaled / DENSITY
        x[outside] = np.copysign(size, y[outside])
        x[rest == 0] = np.copysign(np.inf, y[rest == 0])
    return x.reshape(shape)


@special()
@pointwise(public=True, ints="float", inplace="method")
def erfinv(self: Array, /) -> Array:
    """Return the inverse of the error function; NaN outside [-1, 1].

    Example:
        >>> tn.erfinv(tn.tensor([0.0, 0.5, 1.0]))
        tensor([0.0000, 0.4769,    inf])
    """
    y = self.astype(np.float64)
    return (_quantile(y, 1 - np.abs(y)) * _ROOT).astype(self.dtype)


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
    return _quantile(2 * p - 1, rest).astype(self.dtype)


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
