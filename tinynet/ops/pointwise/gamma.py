"""Logarithm, derivatives and incomplete forms of the gamma function; the Hurwitz zeta function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation, pointwise
from tinynet.core.tensors.tensor import Tensor, method
from tinynet.dtypes import Array
from tinynet.kernels import gamma
from tinynet.ops.arguments import no_derivative, refuse_half, refuse_whole
from tinynet.ops.pointwise.exponential import exp, log
from tinynet.ops.special_functions import only_special, special

# ---- logarithm and derivatives ------------------------------------------------------------------


@special("gammaln")
@pointwise(public=True, ints="float", inplace="method")
def lgamma(self: Array, /) -> Array:
    """Return the logarithm of the absolute value of the gamma function.

    Example:
        >>> tn.lgamma(tn.tensor([1.0, 5.0]))
        tensor([0.0000, 3.1781])
    """
    return gamma.log_gamma(self)


@special("digamma", "psi")
@pointwise(public=True, ints="float", inplace="method")
def digamma(self: Array, /) -> Array:
    """Return the derivative of ``lgamma``.

    Example:
        >>> tn.digamma(tn.tensor([1.0, 0.5]))
        tensor([-0.5772, -1.9635])
    """
    return gamma.digamma(self)


# ---- zeta, and higher derivatives ---------------------------------------------------------------


@only_special
def zeta(self: Array, other: Array, /) -> Array:
    """Return the Hurwitz zeta function: the sum of ``(k + other) ** -self`` over k >= 0.

    Example:
        >>> tn.special.zeta(tn.tensor(2.0), tn.tensor(1.0))
        tensor(1.6449)
    """
    refuse_half("zeta", self)
    q = np.asarray(other, np.float64)
    return gamma.zeta(self.astype(np.float64), q).astype(self.dtype)


zeta.grad(
    self=no_derivative("zeta"), other=lambda g, self, other: g * -self * zeta(self + 1, other)
)


@operation(node="PolygammaBackward0", order="iterated")
def higher_gamma(self: Array, /, order: int) -> Array:
    """Return the derivative of digamma of the given order."""
    if order < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    kind = self.dtype if self.dtype.kind == "f" else np.dtype(np.float32)
    if order < 2:
        return (gamma.trigamma if order else gamma.digamma)(self.astype(kind))
    x = self.astype(np.float64)
    sign = 1 if order % 2 else -1
    return (sign * math.factorial(order) * gamma.zeta(np.asarray(order + 1, np.float64), x)).astype(
        kind
    )


lgamma.grad(self=lambda g, self: g * digamma(self))
digamma.grad(self=lambda g, self: g * higher_gamma(self, 1))
higher_gamma.grad(self=lambda g, self, order: g * higher_gamma(self, order + 1))

# ---- incomplete ---------------------------------------------------------------------------------


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
    return gamma.incomplete(self, other, False).astype(self.dtype)


@special("gammaincc")
@pointwise(public=True, inplace=True, numbers=False)
def igammac(self: Array, other: Array, /) -> Array:
    """Return the regularized upper incomplete gamma function, ``1 - igamma``.

    Example:
        >>> tn.igammac(tn.tensor(1.0), tn.tensor(2.0))
        tensor(0.1353)
    """
    refuse_whole("igammac", self)
    return gamma.incomplete(self, other, True).astype(self.dtype)


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
