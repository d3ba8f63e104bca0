"""Logarithms of sums and odds, and logarithms times a factor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.kernels.sums import log_added
from tinynet.ops.arguments import refuse_whole
from tinynet.ops.indexing.index_select import without
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.exponential import exp, exp2, log
from tinynet.ops.special_functions import only_special, special

# ---- of sums ------------------------------------------------------------------------------------


@pointwise(public=True, numbers=False, complex=True)
def logaddexp(self: Array, other: Array, /) -> Array:
    """Return ``log(exp(self) + exp(other))``, without overflow.

    Example:
        >>> tn.logaddexp(tn.tensor(1000.0), tn.tensor(1000.0))
        tensor(1000.6932)
    """
    refuse_whole("logaddexp", self)
    if self.dtype.kind == "c":
        return complex_logaddexp(self, other)
    return log_added(self, other)


def complex_logaddexp(a: Array, b: Array) -> Array:
    """Return ``log(exp(a) + exp(b))`` of complex numbers, without overflow."""
    larger = a.real >= b.real
    top, low = np.where(larger, a, b), np.where(larger, b, a)
    return top + np.log(1 + np.exp(low - top))


@pointwise(public=True, numbers=False)
def logaddexp2(self: Array, other: Array, /) -> Array:
    """Return ``log2(2 ** self + 2 ** other)``, without overflow.

    Example:
        >>> tn.logaddexp2(tn.tensor(3.0), tn.tensor(3.0))
        tensor(4.)
    """
    refuse_whole("logaddexp2", self)
    return np.logaddexp2(self, other)


logaddexp.grad(
    self=lambda g, self, other: g / (1 + exp(other - self)),
    other=lambda g, self, other: g / (1 + exp(self - other)),
)
logaddexp2.grad(
    self=lambda g, self, other: g / (1 + exp2(other - self)),
    other=lambda g, self, other: g / (1 + exp2(self - other)),
)

# ---- times a factor -----------------------------------------------------------------------------


def _times(factor: Array, logarithm: Array, other: Any) -> Array:
    """Multiply; the result is 0 where the factor is, and NaN where ``other`` is."""
    kind = np.result_type(logarithm)
    return np.where(
        (factor == 0) & ~np.isnan(other), kind.type(0), np.multiply(factor, logarithm, dtype=kind)
    )


@special()
@pointwise(public=True, ints="float", inplace="function")
def xlogy(self: Array, other: Array, /) -> Array:
    """Return ``self * log(other)``, or 0 where ``self`` is 0.

    Example:
        >>> tn.xlogy(tn.tensor([0.0, 2.0]), tn.tensor([0.0, 1.0]))
        tensor([0., 0.])
    """
    return _times(self, np.log(other, dtype=self.dtype), other)


xlogy.grad(
    self=lambda g, self, other: without(xlogy(g, other), (self == 0) & (other <= 0)),
    other=lambda g, self, other: g * self / other,
)


@only_special
def xlog1py(self: Array, other: Array, /) -> Array:
    """Return ``self * log(1 + other)``, or 0 where ``self`` is 0.

    Example:
        >>> tn.special.xlog1py(tn.tensor([0.0, 2.0]), tn.tensor([-1.0, 0.0]))
        tensor([0., 0.])
    """
    return _times(self, np.log1p(other, dtype=self.dtype), other)


xlog1py.grad(
    self=lambda g, self, other: without(xlog1py(g, other), (self == 0) & (other <= -1)),
    other=lambda g, self, other: g * self / (other + 1),
)

# ---- of odds ------------------------------------------------------------------------------------


@special()
@pointwise(public=True, ints="float", inplace=True)
def logit(self: Array, /, eps: float | None = None) -> Array:
    """Return ``log(x / (1 - x))``, the inverse of sigmoid.

    Args:
        eps: if given, x is first clamped to ``[eps, 1 - eps]``.

    Example:
        >>> tn.tensor([0.5, 1.0]).logit(eps=0.25)
        tensor([0.0000, 1.0986])
    """
    kind = self.dtype.type
    x = self if eps is None else np.clip(self, kind(eps), kind(1 - eps))
    return np.log(x / (1 - x))


def _logit_slope(g: Any, x: Any, eps: float | None) -> Any:
    low, high, outside = (0.0, 1.0, math.nan) if eps is None else (eps, 1 - eps, 0.0)
    return where((x < low) | (x > high), outside, g / (x * (1 - x)))


logit.grad(self=lambda g, self, eps: _logit_slope(g, self, eps))


@only_special
def entr(self: Array, /) -> Array:
    """Return ``-x * log(x)``: 0 at 0, minus infinity below.

    Example:
        >>> tn.special.entr(tn.tensor([0.0, 1.0, -1.0]))
        tensor([0., 0., -inf])
    """
    found = 0 - _times(self, np.log(self), self)
    return np.where(self < 0, self.dtype.type(-np.inf), found)


entr.grad(self=lambda g, self: g * (-log(self) - 1))
