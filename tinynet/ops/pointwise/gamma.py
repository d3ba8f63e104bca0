"""Logarithm, derivatives and incomplete forms of the gamma function; the Hurwitz zeta function.

Recurrences lead to where an asymptotic series converges (Abramowitz and Stegun, "Handbook of
Mathematical Functions", 6.1 to 6.5 and 23.2). All is computed in double precision.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation, pointwise
from tinynet.core.tensors.tensor import Tensor, method
from tinynet.dtypes import Array
from tinynet.ops.arguments import no_derivative, refuse_half, refuse_whole
from tinynet.ops.pointwise.exponential import exp, log
from tinynet.ops.special_functions import only_special, special

# Bernoulli numbers B2, B4, ...
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330,
)  # fmt: skip
_FAR = 10  # from here on, eight terms of the series give full precision


def _sine_of_pi(x: Array) -> Array:
    """Return ``|sin(pi x)|``, accurate even for large x."""
    return np.sin(np.pi * np.abs(x - np.round(x)))


def _series(x: Array, coefficients: list[float]) -> Array:
    """Return the sum of ``c[k] / x^(2k + 2)``."""
    inverse = 1.0 / (x * x)
    return np.polyval([*coefficients[::-1], 0.0], inverse)


# ---- logarithm and derivatives ------------------------------------------------------------------


def _pairs(x: Array) -> tuple[Array, Array, Array, list[Array]]:
    """Prepare ten steps from small x to where the series converges.

    x to x + 9 have the product of ``u = x * (x + 9)``, u + 8, u + 14, u + 18 and u + 20; the sum of
    their inverses is that of the inverses of these five, times ``2 x + 9``.
    """
    below = x < _FAR
    near = np.where(below, x, 1.0)
    u = near * (near + 9)
    return below, x + 10.0 * below, near, [u, u + 8, u + 14, u + 18, u + 20]


def _lgamma(x: Array) -> Array:
    mirrored = np.where(x < 0.5, 1 - x, x)
    below, far, _, (a, b, c, d, e) = _pairs(mirrored)
    product = np.where(below, a * b * c * d * e, 1.0)
    terms = [b_2k / (2 * k * (2 * k - 1)) for k, b_2k in enumerate(_BERNOULLI[:8], 1)]
    small = _series(far, terms) * far  # powers 1 / far, 1 / far^3, ...
    found = (far - 0.5) * np.log(far) - far + 0.5 * math.log(2 * math.pi) + small - np.log(product)
    found = np.where(np.isinf(mirrored), np.inf, found)
    found = np.where((mirrored == 1) | (mirrored == 2), 0.0, found)
    return np.where(x < 0.5, math.log(math.pi) - np.log(_sine_of_pi(x)) - found, found)


@special("gammaln")
@pointwise(public=True, ints="float", inplace="method")
def lgamma(self: Array, /) -> Array:
    """Return the logarithm of the absolute value of the gamma function.

    Example:
        >>> tn.lgamma(tn.tensor([1.0, 5.0]))
        tensor([0.0000, 3.1781])
    """
    x = self.astype(np.float64)
    pole = (x <= 0) & (x == np.floor(x))
    tiny = np.abs(x) < 1e-18  # where the gamma function is 1 / x
    found = np.where(tiny, -np.log(np.abs(x)), _lgamma(x))
    return np.where(pole | np.isinf(x), np.inf, found).astype(self.dtype)


def _digamma(x: Array) -> Array:
    mirrored = np.where(x < 0.5, 1 - x, x)
    below, far, near, pairs = _pairs(mirrored)
    total = below * (2 * near + 9) * sum(1 / pair for pair in pairs)
    terms = [b / (2 * k) for k, b in enumerate(_BERNOULLI[:8], 1)]
    found = np.log(far) - 0.5 / far - _series(far, terms) - total
    part = x - np.round(x)
    mirror = np.where(np.abs(part) == 0.5, 0.0, np.pi / np.tan(np.pi * part))
    below = np.where(x == np.floor(x), np.nan, found - mirror)
    found = np.where(x < 0.5, below, found)
    return np.where(x == 0, np.copysign(np.inf, -x), found)


@special("digamma", "psi")
@pointwise(public=True, ints="float", inplace="method")
def digamma(self: Array, /) -> Array:
    """Return the derivative of ``lgamma``.

    Example:
        >>> tn.digamma(tn.tensor([1.0, 0.5]))
        tensor([-0.5772, -1.9635])
    """
    return _digamma(self.astype(np.float64)).astype(self.dtype)


# ---- zeta, and higher derivatives ---------------------------------------------------------------


def _zeta(s: Array, q: Array) -> Array:
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


@only_special
def zeta(self: Array, other: Array, /) -> Array:
    """Return the Hurwitz zeta function: the sum of ``(k + other) ** -self`` over k >= 0.

    Example:
        >>> tn.special.zeta(tn.tensor(2.0), tn.tensor(1.0))
        tensor(1.6449)
    """
    refuse_half("zeta", self)
    q = np.asarray(other, np.float64)
    return _zeta(self.astype(np.float64), q).astype(self.dtype)


zeta.grad(
    self=no_derivative("zeta"), other=lambda g, self, other: g * -self * zeta(self + 1, other)
)


@operation(node="PolygammaBackward0", order="iterated")
def higher_gamma(self: Array, /, order: int) -> Array:
    """Return the derivative of digamma of the given order."""
    if order < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    kind = self.dtype if self.dtype.kind == "f" else np.dtype(np.float32)
    x = self.astype(np.float64)
    if order == 0:
        return _digamma(x).astype(kind)
    if order == 1:  # the reflection formula is accurate far below zero
        near = _zeta(np.asarray(2, np.float64), np.where(x < 0.5, 1 - x, x))
        mirror = np.square(np.pi / _sine_of_pi(x)) - near
        slope = np.where(x < 0.5, mirror, near)
        return np.where(x == np.inf, 0.0, slope).astype(kind)
    sign = 1 if order % 2 else -1
    return (sign * math.factorial(order) * _zeta(np.asarray(order + 1, np.float64), x)).astype(kind)


lgamma.grad(self=lambda g, self: g * digamma(self))
digamma.grad(self=lambda g, self: g * higher_gamma(self, 1))
higher_gamma.grad(self=lambda g, self, order: g * higher_gamma(self, order + 1))

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
        if not np.any(np.abs(c * d - 1) > 4e-16):  # two roundings
            break
    return found


def _incomplete(a: Array, x: Array, upper: bool) -> Array:
    """Return the lower or upper regularized incomplete gamma function."""
    a, x = np.broadcast_arrays(a.astype(np.float64), x.astype(np.float64))
    low = x < a + 1
    ordinary = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    safe_a, safe_x = np.where(ordinary, a, 1.0), np.where(ordinary, x, 1.0)
    scale = np.exp(safe_a * np.log(safe_x) - safe_x - _lgamma(safe_a))
    below = scale * _lower(np.where(low, safe_a, 3.0), np.where(low, safe_x, 1.0))
    above = scale * _upper(np.where(low, 1.0, safe_a), np.where(low, 3.0, safe_x))
    found = np.where(low, 1 - below if upper else below, above if upper else 1 - above)
    ends = np.where(upper, [1.0, 0.0], [0.0, 1.0])  # at 0, at infinity
    edge = np.where((a > 0) & (x == 0), ends[0], np.where((a > 0) & np.isinf(x), ends[1], np.nan))
    edge = np.where((a == 0) & (x > 0), ends[1], edge)
    edge = np.where(np.isinf(a) & np.isfinite(x) & (x >= 0), ends[0], edge)
    edge = np.where((a < 0) | (x < 0) | (np.isinf(a) & np.isinf(x)), np.nan, edge)
    return np.where(ordinary, found, edge)


@special("gammainc")
@pointwise(public=True, inplace=True, numbers=False)
def igamma(self: Array, other: Array, /) -> Array:
    """Return the regularized lower incomplete gamma function P(self, other), from 0 to 1.

    Only ``other`` has a derivative.

    Example:
        >>> tn.igamma(tn.tensor(1.0), tn.tensor(2.0))
        tensor(0.8647)
    """
    refuse_whole("igamma", self)
    return _incomplete(self, other, False).astype(self.dtype)


@special("gammaincc")
@pointwise(public=True, inplace=True, numbers=False)
def igammac(self: Array, other: Array, /) -> Array:
    """Return the regularized upper incomplete gamma function, ``1 - igamma``.

    Example:
        >>> tn.igammac(tn.tensor(1.0), tn.tensor(2.0))
        tensor(0.1353)
    """
    refuse_whole("igammac", self)
    return _incomplete(self, other, True).astype(self.dtype)


def _density(g: Any, self: Any, other: Any) -> Any:
    return g * exp((self - 1) * log(other) - other - lgamma(self))


igamma.grad(self=no_derivative("igamma: input"), other=_density)
igammac.grad(
    self=no_derivative("igammac: input"),
    other=lambda g, self, other: -_density(g, self, other),
)

# ---- of a tensor and an integer -----------------------------------------------------------------


@special()
@composite(method=False, out=True)
def polygamma(n: int, input: Tensor) -> Tensor:
    """Return the ``n``-th derivative of ``digamma``.

    Raises:
        RuntimeError: ``n`` is negative.

    Example:
        >>> tn.polygamma(1, tn.tensor([1.0, 0.5]))
        tensor([1.6449, 4.9348])
    """
    return higher_gamma.function(input, n)


def _polygamma(self: Tensor, n: int) -> Tensor:
    """Return the ``n``-th derivative of ``digamma``."""
    return higher_gamma.function(self, n)


def _polygamma_(self: Tensor, n: int) -> Tensor:
    """Write the ``n``-th derivative of ``digamma`` to this tensor and return it."""
    return in_place(higher_gamma, "polygamma_")(self, n)


method(_polygamma, "polygamma")
method(_polygamma_, "polygamma_")


def _halves(p: int) -> list[float]:
    return [j / 2 for j in range(p)]


@special("multigammaln")
@operation(public=True, inplace=True, order="in_rows")
def mvlgamma(self: Array, /, p: int) -> Array:
    """Return the logarithm of the multivariate gamma function of dimension ``p``.

    ``p * (p - 1) / 4 * log(pi) + sum(lgamma(x - i / 2))`` over i below p.

    Raises:
        RuntimeError: ``p`` is below 1.

    Example:
        >>> tn.mvlgamma(tn.tensor(3.0), 2)
        tensor(1.5502)
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    kind = self.dtype if self.dtype.kind == "f" else np.dtype(np.float32)
    x = self.astype(np.float64)
    total = sum((lgamma.kernel(x - h) for h in _halves(p)), np.zeros(()))
    return (total + p * (p - 1) / 4 * math.log(math.pi)).astype(kind)


mvlgamma.grad(
    self=lambda g, self, p: g * sum((digamma(self - h) for h in _halves(p)[1:]), digamma(self))
)
