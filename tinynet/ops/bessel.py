"""Modified Bessel functions of the first kind, of orders 0 and 1, also scaled by ``exp(-|x|)``.

Up to 25 by the power series, whose terms are all positive; beyond by the asymptotic series, whose
smallest term is then below rounding (Abramowitz and Stegun, 9.6.10 and 9.7.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.operation import pointwise
from tinynet.dtypes import Array
from tinynet.ops.arithmetic import where
from tinynet.ops.exponential import sign

_NEAR = 25.0


def _scaled(x: Array, order: int) -> Array:
    """Return ``exp(-x) * I(x)`` for x from 0 on."""
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
    return np.where(x <= _NEAR, total * np.exp(-near), rest / np.sqrt(2 * np.pi * far))


def _bessel(self: Array, order: int, scaled: bool) -> Array:
    x = np.abs(self.astype(np.float64))
    found = _scaled(x, order)
    if not scaled:
        found = found * np.exp(np.minimum(x, 700)) * np.exp(np.maximum(x - 700, 0))
    found = np.where(np.isinf(x), 0.0 if scaled else np.inf, found)
    return (found * np.sign(self) if order else found).astype(self.dtype)


@pointwise(ints="float", inplace=True)
def i0(self: Array, /) -> Array:
    """Return the modified Bessel function of order 0.

    Example:
        >>> tn.i0(tn.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    return _bessel(self, 0, False)


@pointwise(ints="float", methods=False, out=True, node="SpecialI0EBackward0")
def i0e(self: Array, /) -> Array:
    """Return ``exp(-|x|) * i0(x)``.

    Example:
        >>> tn.special.i0e(tn.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4658])
    """
    return _bessel(self, 0, True)


@pointwise(ints="float", methods=False, out=True, node="SpecialI1Backward0")
def i1(self: Array, /) -> Array:
    """Return the modified Bessel function of order 1.

    Example:
        >>> tn.special.i1(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
    """
    return _bessel(self, 1, False)


@pointwise(ints="float", methods=False, out=True, node="SpecialI1EBackward0")
def i1e(self: Array, /) -> Array:
    """Return ``exp(-|x|) * i1(x)``.

    Example:
        >>> tn.special.i1e(tn.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2079])
    """
    return _bessel(self, 1, True)


def _over(result: Any, x: Any) -> Any:
    """Return ``result / x``, and its limit 1/2 at 0."""
    return where(x == 0, 0.5, result / where(x == 0, 1.0, x))


i0.grad(self=lambda g, self: g * i1(self))
i0e.grad(self=lambda g, self, result: g * (i1e(self) - sign(self) * result))
i1.grad(self=lambda g, self, result: g * (i0(self) - _over(result, self)))
i1e.grad(self=lambda g, self, result: g * (i0e(self) - result * sign(self) - _over(result, self)))
