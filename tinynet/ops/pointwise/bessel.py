"""Bessel functions and orthogonal polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.ops.arguments import refuse_half
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.exponential import abs as absolute
from tinynet.ops.pointwise.exponential import exp, sign
from tinynet.ops.special_functions import only_special, special

# ---- polynomials --------------------------------------------------------------------------------
# Orthogonal polynomials of degree n by three-term recurrences (DLMF 18.9).
#
# The degree is truncated to an integer; below 0 the value is 0. As in PyTorch, these functions have
# no derivatives.


_TRIGONOMETRIC = 6  # above, Chebyshev polynomials are computed as waves where |x| < 1


def _degree(n: Array) -> Array:
    whole = np.clip(np.nan_to_num(np.asarray(n, np.float64), nan=-1.0), -1.0, 2.0**62)
    return np.asarray(whole.astype(np.int64))


def _recurrence(
    x: Array, n: Array, first: Array, step: Callable[[int, Array, Array], Array]
) -> Array:
    """Return the values of degree n.

    Args:
        x: the arguments.
        n: their degrees, integers of the same shape.
        first: the values of degree 1.
        step: computes degree k + 1 from k and the values of degrees k and k - 1.
    """
    before, now = np.ones_like(x), first
    found = np.where(n < 0, 0, np.where(n == 0, before, now))
    for k in range(1, int(n.max(initial=0))):
        before, now = now, step(k, now, before)
        found = np.where(n > k, now, found)
        if not np.any(np.isfinite(now) & (n > k + 1)):
            break
    return found


def _polynomial(name: str, what: str, example: str, values: Callable[[Array, Array], Array]) -> Any:
    """Declare the operation ``name``; ``values`` takes arguments and integer degrees."""

    def kernel(x: Array, n: Array, /) -> Array:
        refuse_half(name, x)
        x, n = np.broadcast_arrays(x, _degree(n))
        return values(x, n)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"""Return {what}.

    Args:
        x: the arguments.
        n: the degree, a number or a tensor that is broadcast against ``x``.

    Raises:
        NotImplementedError: half-precision inputs.

    Example:
        >>> tn.special.{name}(tn.tensor([0.5, 2.0]), 3)
        tensor({example})
    """
    return only_special(kernel)


def _chebyshev(
    letter: str,
    kind: str,
    examples: tuple[str, str],
    first: Callable[[Array], Array],
    wave: Callable[[Array, Array], Array],
) -> tuple[Any, Any]:
    """Declare the Chebyshev polynomials of a kind, plain and shifted (of ``2 * x - 1``).

    Computed by ``2 * x * p_n - p_(n-1)``, or by the angle of x where |x| < 1 and n is not small.

    Args:
        letter, kind, examples: for the names and documentation.
        first: the values of degree 1.
        wave: computes the values from n and the angle t of ``x = cos(t)`` (DLMF 18.5.1 to 18.5.4).
    """

    def values(x: Array, n: Array) -> Array:
        waving = (n > _TRIGONOMETRIC) & (np.abs(x) < 1)
        low = np.where(waving, 0, n)
        found = _recurrence(x, low, first(x), lambda k, now, before: 2 * x * now - before)
        t = np.arccos(np.where(waving, x, 0))
        return np.where(waving, wave(n.astype(x.dtype), t), found)

    name, what = f"chebyshev_polynomial_{letter}", f"the Chebyshev polynomial of the {kind} kind"
    return (
        _polynomial(name, what, examples[0], values),
        _polynomial(
            f"shifted_{name}",
            f"{what} at ``2 * x - 1``",
            examples[1],
            lambda x, n: values(2 * x - 1, n),
        ),
    )


chebyshev_polynomial_t, shifted_chebyshev_polynomial_t = _chebyshev(
    *("t", "first", ("[-1., 26.]", "[-0., 99.]")),
    first=lambda x: x,
    wave=lambda n, t: np.cos(n * t),
)
chebyshev_polynomial_u, shifted_chebyshev_polynomial_u = _chebyshev(
    *("u", "second", ("[-1., 56.]", "[ -0., 204.]")),
    first=lambda x: 2 * x,
    wave=lambda n, t: np.sin((n + 1) * t) / np.sin(t),
)
chebyshev_polynomial_v, shifted_chebyshev_polynomial_v = _chebyshev(
    *("v", "third", ("[-1., 41.]", "[  1., 169.]")),
    first=lambda x: 2 * x - 1,
    wave=lambda n, t: np.cos((n + 0.5) * t) / np.cos(t / 2),
)
chebyshev_polynomial_w, shifted_chebyshev_polynomial_w = _chebyshev(
    *("w", "fourth", ("[-1., 71.]", "[ -1., 239.]")),
    first=lambda x: 2 * x + 1,
    wave=lambda n, t: np.sin((n + 0.5) * t) / np.sin(t / 2),
)
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h",
    "Hermite's polynomial H, of weight ``exp(-x**2)``",
    "[-5., 40.]",
    lambda x, n: _recurrence(x, n, 2 * x, lambda k, now, before: 2 * (x * now - k * before)),
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he",
    "Hermite's polynomial He, of weight ``exp(-x**2 / 2)``",
    "[-1.3750,  2.0000]",
    lambda x, n: _recurrence(x, n, x, lambda k, now, before: x * now - k * before),
)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l",
    "Laguerre's polynomial, of weight ``exp(-x)``",
    "[-0.1458, -0.3333]",
    lambda x, n: _recurrence(
        x, n, 1 - x, lambda k, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1)
    ),
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p",
    "Legendre's polynomial, of weight 1 on [-1, 1]",
    "[-0.4375, 17.0000]",
    lambda x, n: _recurrence(
        x, n, x, lambda k, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1)
    ),
)


# ---- bessel -------------------------------------------------------------------------------------
# Bessel functions of orders 0 and 1 (plain, modified, scaled) and the Airy function.
#
# I: the power series up to 25 (all terms are positive), then the asymptotic series, whose smallest
# term is below rounding there (Abramowitz and Stegun, 9.6.10 and 9.7.1).
#
# J, Y, K and Ai: power series near 0 (DLMF 10.2.2, 10.8.1, 10.31.1, 9.4.1); farther out, one
# integral of K over the complex numbers (DLMF 10.32.9). The trapezoidal rule converges
# exponentially there (Trefethen and Weideman, "The exponentially convergent trapezoidal rule",
# 2014). As in PyTorch, these functions have no derivatives.


_NEAR = 25.0
_SERIES = 2.0  # J, Y and K use the power series up to here
_AIRY_SERIES = 2.1  # 2/3 * 2.1 ** 1.5 exceeds 2
_STEP, _LAST = 0.2, 6.4  # exp(-6.4 ** 2) is below rounding


def _scaled(x: Array, order: int) -> Array:
    """Return ``exp(-x) * I(x)`` for x >= 0."""
    near = np.minimum(x, _NEAR)
    square = np.square(near / 2)
    term = total = near / 2 if order else np.ones_like(near)
    for k in range(1, 80):
        term = term * square / (k * (k + order))
        total = total + term
    far = np.maximum(x, _NEAR)
    piece = rest = np.ones_like(far)
    for k in range(1, 30):
        piece = piece * ((2 * k - 1) ** 2 - 4 * order) / (8 * k * far)
        rest = rest + piece
    return np.where(x <= _NEAR, total * np.exp(-near), rest / math.sqrt(2 * np.pi) / np.sqrt(far))


def _bessel(self: Array, order: int, scaled: bool) -> Array:
    x = np.abs(self.astype(np.float64))
    found = _scaled(x, order)
    if not scaled:
        found = found * np.exp(np.minimum(x, 700)) * np.exp(np.maximum(x - 700, 0))
    found = np.where(np.isinf(x), 0.0 if scaled else np.inf, found)
    return (found * np.sign(self) if order else found).astype(self.dtype)


@special()
@pointwise(public=True, ints="float", inplace=True)
def i0(self: Array, /) -> Array:
    """Return the modified Bessel function of order 0.

    Example:
        >>> tn.i0(tn.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    return _bessel(self, 0, False)


@only_special
def i0e(self: Array, /) -> Array:
    """Return ``exp(-|x|) * i0(x)``.

    Example:
        >>> tn.special.i0e(tn.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4658])
    """
    return _bessel(self, 0, True)


@only_special
def i1(self: Array, /) -> Array:
    """Return the modified Bessel function of order 1.

    Example:
        >>> tn.special.i1(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
    """
    return _bessel(self, 1, False)


@only_special
def i1e(self: Array, /) -> Array:
    """Return ``exp(-|x|) * i1(x)``.

    Example:
        >>> tn.special.i1e(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2079])
    """
    return _bessel(self, 1, True)


# The power series of ``i1(x) / x``, in powers of ``x^2 / 4``.
_QUOTIENT = tuple(0.5 / (math.factorial(k) * math.factorial(k + 1)) for k in range(9))


def _over(result: Any, x: Any, decay: Any = 1.0) -> Any:
    """Return ``result / x`` for i1 times ``decay``: near 0 by the series, for its derivatives."""
    near = absolute(x) < 1
    square = where(near, x * x * 0.25, 0.0)
    series = _QUOTIENT[-1]
    for term in _QUOTIENT[-2::-1]:
        series = series * square + term
    return where(near, series * decay, result / where(near, 1.0, x))


i0.grad(self=lambda g, self: g * i1(self))
i0e.grad(self=lambda g, self, result: g * (i1e(self) - sign(self) * result))
i1.grad(self=lambda g, self, result: g * (i0(self) - _over(result, self)))
i1e.grad(
    self=lambda g, self, result: (
        g * (i0e(self) - result * sign(self) - _over(result, self, exp(-absolute(self))))
    )
)

# ---- J, Y and K ---------------------------------------------------------------------------------


def _macdonald(z: Array, order: float) -> Array:
    """Return ``exp(z) * K(z)`` for complex or real z of size 2 or more and nonnegative real part.

    Integrates ``exp(z - z * cosh(t)) * cosh(order * t)`` over t >= 0, substituting
    ``u = sqrt(2 z) * sinh(t / 2)``.
    """
    root = math.sqrt(2) * np.sqrt(z)  # 2 * z may overflow
    total = 0.5 / root  # the term of u = 0 has half the weight
    for u in np.arange(_STEP, _LAST, _STEP):
        t = 2 * np.arcsinh(u / root)
        divisor = math.sqrt(2) * np.sqrt(z + u * u / 2)
        total = total + math.exp(-u * u) * np.cosh(order * t) / divisor
    return np.asarray(2 * _STEP * total)


def _near(x: Array, order: int, sign: int) -> tuple[Array, Array]:
    """Return the functions of the first and second kind by their power series.

    Args:
        x: from 0 to 2.
        order: 0 or 1.
        sign: 1 for I and K (of order 0 negated), -1 for J and Y (times pi / 2).
    """
    q = sign * np.square(x / 2)
    term = total = np.ones_like(x)
    harmonic = float(order)  # harmonic number of k, or the sum of those of k and k + 1
    logarithmic = harmonic * term
    for k in range(1, 16):
        term = term * q / (k * (k + order))
        harmonic += 1 / k + (1 / (k + 1) if order else 0)
        total, logarithmic = total + term, logarithmic + harmonic * term
    log = np.log(x) - math.log(2) + np.euler_gamma
    if order:
        total, logarithmic = total * x / 2, logarithmic * x / 4
        return total, log * total - logarithmic + sign / x
    return total, log * total - logarithmic


def _oscillating(self: Array, order: int, second: bool) -> Array:
    """Return J or Y. Beyond 2, ``J - i Y`` is ``2 i / pi * exp(i order pi / 2) * K(i x)``."""
    x = np.abs(self.astype(np.float64))
    first, other = _near(np.minimum(x, _SERIES), order, -1)
    far = np.maximum(x, _SERIES)
    wave = np.cos(far) - 1j * np.sin(far)
    hankel = 2j / math.pi * 1j**order * wave * _macdonald(1j * far, order)
    if not second:
        found = np.where(x <= _SERIES, first, hankel.real)
        return (found * np.copysign(1, self) if order else found).astype(self.dtype)
    found = np.where(x <= _SERIES, other * 2 / math.pi, -hankel.imag)
    found = np.where(x == 0, -np.inf, found)
    return np.where(self < 0, np.nan, found).astype(self.dtype)


def _decaying(self: Array, order: int, scaled: bool) -> Array:
    """Return K, or ``exp(x) * K``."""
    x = self.astype(np.float64)
    near, far = np.clip(x, 0, _SERIES), np.maximum(x, _SERIES)
    below = _near(near, order, 1)[1] * (1 if order else -1)
    above = _macdonald(far, order) * (1 if scaled else np.exp(-far))
    found = np.where(x <= _SERIES, below * (np.exp(near) if scaled else 1), above)
    found = np.where(x == 0, np.inf, np.where(x == np.inf, 0, found))
    return np.where(x < 0, np.nan, found).astype(self.dtype)


def _spherical(x: Array) -> Array:
    z = x.astype(np.float64)
    found = np.sin(np.where(np.isinf(z), 0, z)) / np.where(z == 0, 1, z)
    return np.where(z == 0, 1, found).astype(x.dtype)


# ---- Airy function ------------------------------------------------------------------------------


def _airy_series(x: Array) -> Array:
    """Return Ai by its power series, for x near 0."""
    cube = x**3
    even, odd = np.ones_like(x), x
    first, second = even, odd
    for k in range(3, 60, 3):
        even, odd = even * cube / (k * (k - 1)), odd * cube / (k * (k + 1))
        first, second = first + even, second + odd
    at_zero = 3 ** (-2 / 3) / math.gamma(2 / 3)
    slope = 3 ** (-1 / 3) / math.gamma(1 / 3)
    return np.asarray(at_zero * first - slope * second)


def _airy(x: Array) -> Array:
    z = x.astype(np.float64)
    far = np.maximum(np.abs(z), _AIRY_SERIES)
    zeta = 2 / 3 * far * np.sqrt(far)
    # DLMF 9.6.2, and 9.2.14 for negative numbers: z and zeta turn by 60 and 90 degrees.
    above = np.sqrt(far / 3) / math.pi * np.exp(-zeta) * _macdonald(zeta, 1 / 3)
    turn = 1j * (np.cos(zeta) - 1j * np.sin(zeta))
    below = 2 / math.pi * (np.sqrt(far / 3) * turn * _macdonald(1j * zeta, 1 / 3)).real
    near = _airy_series(np.clip(z, -_AIRY_SERIES, _AIRY_SERIES))
    found = np.where(np.abs(z) <= _AIRY_SERIES, near, np.where(z > 0, above, below))
    return found.astype(x.dtype)


# ---- functions without derivatives --------------------------------------------------------------


def _function(name: str, example: str, values: Callable[[Array], Array], what: str) -> Any:
    """Declare the operation ``name``; ``example`` is its value at 0.5 and at 3."""

    def kernel(x: Array, /) -> Array:
        refuse_half(name, x)
        return values(x)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"""Return {what}.

    Raises:
        NotImplementedError: half-precision inputs.

    Example:
        >>> tn.special.{name}(tn.tensor([0.5, 3.0]))
        tensor({example})
    """
    return only_special(kernel)


# fmt: off
_function("bessel_j0", "[ 0.9385, -0.2601]", lambda x: _oscillating(x, 0, False),
          "the Bessel function of the first kind of order 0")
_function("bessel_j1", "[0.2423, 0.3391]", lambda x: _oscillating(x, 1, False),
          "the Bessel function of the first kind of order 1")
_function("bessel_y0", "[-0.4445,  0.3769]", lambda x: _oscillating(x, 0, True),
          "the Bessel function of the second kind of order 0; NaN below 0")
_function("bessel_y1", "[-1.4715,  0.3247]", lambda x: _oscillating(x, 1, True),
          "the Bessel function of the second kind of order 1; NaN below 0")
_function("modified_bessel_i0", "[1.0635, 4.8808]", lambda x: _bessel(x, 0, False),
          "what ``i0`` returns, without a derivative")
_function("modified_bessel_i1", "[0.2579, 3.9534]", lambda x: _bessel(x, 1, False),
          "what ``i1`` returns, without a derivative")
_function("modified_bessel_k0", "[0.9244, 0.0347]", lambda x: _decaying(x, 0, False),
          "the modified Bessel function of the second kind of order 0; NaN below 0")
_function("modified_bessel_k1", "[1.6564, 0.0402]", lambda x: _decaying(x, 1, False),
          "the modified Bessel function of the second kind of order 1; NaN below 0")
_function("scaled_modified_bessel_k0", "[1.5241, 0.6978]", lambda x: _decaying(x, 0, True),
          "``exp(x) * modified_bessel_k0(x)``")
_function("scaled_modified_bessel_k1", "[2.7310, 0.8066]", lambda x: _decaying(x, 1, True),
          "``exp(x) * modified_bessel_k1(x)``")
_function("spherical_bessel_j0", "[0.9589, 0.0470]", _spherical,
          "``sin(x) / x``, the spherical Bessel function of order 0")
_function("airy_ai", "[0.2317, 0.0066]", _airy,
          "Airy's function Ai, which solves ``y'' = x * y`` and vanishes at infinity")
# fmt: on
