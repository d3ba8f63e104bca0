"""Logarithm, derivatives and incomplete forms of the gamma function; the Hurwitz zeta function.

Recurrences lead to where an asymptotic series converges (Abramowitz and Stegun, "Handbook of
Mathematical Functions", 6.1 to 6.5 and 23.2). All is computed in float64.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels.threads import in_blocks

# Bernoulli numbers B2, B4, ...
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330,
)  # fmt: skip
_FAR = 10  # from here on, eight terms of the series give full precision
_STIRLING = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI[:8], 1)]
_BLOCK = 8192  # elements
_TINY = 1e-18  # below, the gamma function is 1 / x


def _sine_of_pi(x: Array) -> Array:
    """Return ``|sin(pi x)|``, accurate even for large x."""
    return np.sin(np.pi * np.abs(x - np.round(x)))


def _series(x: Array, coefficients: list[float]) -> Array:
    """Return the sum of ``c[k] / x^(2k + 2)``."""
    inverse = 1.0 / (x * x)
    found = inverse * coefficients[-1]
    for c in coefficients[-2::-1]:
        found += c
        found *= inverse
    return found


# ---- logarithm and derivatives ------------------------------------------------------------------


class _Far:
    """Ten steps from small x, above 0, to where the series converges.

    x to x + 9 have the product of ``u = x * (x + 9)``, u + 8, u + 14, u + 18 and u + 20; the sum of
    their inverses is that of the inverses of these five, times ``2 x + 9``.

    Attributes:
        below: whether a number takes the steps.
        x: the numbers after them.
        twice: ``2 x + 9`` before them; x is at most 10.
    """

    def __init__(self, x: Array):
        self.below = x < _FAR
        self.x = x + 10.0 * self.below
        near = np.minimum(x, _FAR)
        self.twice = near + near
        self.twice += 9
        self._u = near * (near + 9)

    def pairs(self) -> Iterator[Array]:
        """Yield the five products of two."""
        return (self._u + c if c else self._u for c in (0, 8, 14, 18, 20))


def _in_blocks(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Decorate a function of many passes in float64: blocks of it stay in the cache."""

    @functools.wraps(function)
    def run(x: Array) -> Array:
        return in_blocks(function, [x.reshape(-1)], _BLOCK).reshape(x.shape)

    return run


def _mirrored(x: Array) -> tuple[Array, Array]:
    """Return whether numbers are not positive, and ``1 - x`` of these, x of the others."""
    low = x <= 0
    return low, np.abs(x) + low


@_in_blocks
def log_gamma(given: Array) -> Array:
    """Return the logarithm of the absolute value of the gamma function, in the dtype given."""
    x = given.astype(np.float64)
    low, mirrored = _mirrored(x)
    far = _Far(mirrored)
    first, *others = far.pairs()
    for pair in others:
        first *= pair
    found = np.log(far.x)
    found *= far.x - 0.5
    found -= far.x
    found += 0.5 * math.log(2 * math.pi)
    terms = _STIRLING[:6] if given.dtype == np.float32 else _STIRLING
    found += _series(far.x, terms) * far.x  # powers 1 / x, 1 / x^3, ...
    found -= np.log(first, out=first) * far.below
    found[(mirrored == 1) | (mirrored == 2)] = 0
    if low.any():
        below = x[low]
        mirror = math.log(math.pi) - np.log(_sine_of_pi(below)) - found[low]
        mirror = np.where(np.abs(below) < _TINY, -np.log(np.abs(below)), mirror)
        mirror[below == np.floor(below)] = np.inf
        found[low] = mirror
    found[np.isinf(x)] = np.inf
    return found.astype(given.dtype)


@_in_blocks
def digamma(given: Array) -> Array:
    """Return the derivative of ``log_gamma``, in the dtype given."""
    x = given.astype(np.float64)
    low, mirrored = _mirrored(x)
    far = _Far(mirrored)
    total = np.zeros_like(x)
    for pair in far.pairs():
        total += np.divide(1, pair)
    total *= far.twice
    total *= far.below
    found = np.log(far.x)
    found -= 0.5 / far.x
    found -= _series(far.x, [b / (2 * k) for k, b in enumerate(_BERNOULLI[:8], 1)])
    found -= total
    if low.any():
        below = x[low]
        part = below - np.round(below)
        mirror = np.where(np.abs(part) == 0.5, 0.0, np.pi / np.tan(np.pi * part))
        mirror = np.where(below == np.floor(below), np.nan, found[low] - mirror)
        found[low] = np.where(below == 0, np.copysign(np.inf, -below), mirror)
    return found.astype(given.dtype)


@_in_blocks
def trigamma(given: Array) -> Array:
    """Return the derivative of ``digamma``, in the dtype given."""
    x = given.astype(np.float64)
    low, mirrored = _mirrored(x)
    far = _Far(mirrored)
    total, square = np.zeros_like(x), far.twice * far.twice
    for pair in far.pairs():  # 1 / a^2 + 1 / b^2 = ((a + b)^2 / ab - 2) / ab
        inverse = np.divide(1, pair)
        part = square * inverse
        part -= 2
        part *= inverse
        total += part
    total *= far.below
    inverse = 1 / far.x
    total += inverse * (1 + 0.5 * inverse + _series(far.x, list(_BERNOULLI[:8])))
    if low.any():  # the reflection formula is accurate far below zero
        total[low] = np.square(np.pi / _sine_of_pi(x[low])) - total[low]
    return total.astype(given.dtype)


# ---- zeta ---------------------------------------------------------------------------------------


def zeta(s: Array, q: Array) -> Array:
    """Compute the Hurwitz zeta function by the Euler-Maclaurin formula."""
    lowest = np.min(q, where=np.isfinite(q), initial=1.0)
    steps = _FAR + max(0, math.ceil(-max(lowest, -10_000.0)))
    total = np.zeros(np.broadcast_shapes(s.shape, q.shape))
    for k in range(steps):
        total = total + np.power(q + k, -s)
    far = q + steps
    power = np.power(far, -s)
    total = total + np.power(far, 1 - s) / (s - 1) + 0.5 * power
    factor = s / far
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + power * factor * (b / math.factorial(2 * k))
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (far * far)
    at_pole = (q <= 0) & (q == np.floor(q))
    total = np.where(at_pole, np.inf, np.where((q <= 0) & (s != np.floor(s)), np.nan, total))
    return np.where(s == 1, np.inf, np.where(s < 1, np.nan, total))


# ---- incomplete ---------------------------------------------------------------------------------

_MOST_TERMS = 5000


def _lower(a: Array, x: Array) -> Array:
    """Return the series of the lower incomplete function, for x up to about a."""
    term = 1 / a
    total = term
    for k in range(1, _MOST_TERMS):
        term = term * x / (a + k)
        total = total + term
        if not np.any(term > total * 1e-17):
            break
    return total


def _upper(a: Array, x: Array) -> Array:
    """Return the continued fraction of the upper incomplete function, for x above a + 1."""
    b = x + 1 - a
    c, d = np.full_like(b, 1e300), 1 / b
    found = d
    for k in range(1, _MOST_TERMS):
        factor = k * (a - k)
        b = b + 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        found = found * c * d
        if not np.any(np.abs(c * d - 1) > 1e-15):  # roundings of c and d never end
            break
    return found


def incomplete(a: Array, x: Array, upper: bool) -> Array:
    """Return the lower or upper regularized incomplete gamma function."""
    a, x = np.broadcast_arrays(a.astype(np.float64), x.astype(np.float64))
    part = functools.partial(_incomplete, upper=upper)
    found: Array = in_blocks(part, [a.reshape(-1), x.reshape(-1)], _BLOCK)
    return found.reshape(a.shape)


def _incomplete(a: Array, x: Array, upper: bool) -> Array:
    low = x < a + 1
    ordinary = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    safe_a, safe_x = np.where(ordinary, a, 1.0), np.where(ordinary, x, 1.0)
    scale = np.exp(safe_a * np.log(safe_x) - safe_x - log_gamma(safe_a))
    below = scale * _lower(np.where(low, safe_a, 3.0), np.where(low, safe_x, 1.0))
    above = scale * _upper(np.where(low, 1.0, safe_a), np.where(low, 3.0, safe_x))
    found = np.where(low, 1 - below if upper else below, above if upper else 1 - above)
    ends = np.where(upper, [1.0, 0.0], [0.0, 1.0])  # at 0, at infinity
    edge = np.where((a > 0) & (x == 0), ends[0], np.where((a > 0) & np.isinf(x), ends[1], np.nan))
    edge = np.where((a == 0) & (x > 0), ends[1], edge)
    edge = np.where(np.isinf(a) & np.isfinite(x) & (x >= 0), ends[0], edge)
    edge = np.where((a < 0) | (x < 0) | (np.isinf(a) & np.isinf(x)), np.nan, edge)
    return np.where(ordinary, found, edge)
