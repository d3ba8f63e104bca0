"""Remainders and rounded quotients of float32 numbers, from quotients in float64.

The C library divides one number after the other, in 16 ns. In float64, the quotient of two float32
numbers below 2**24 is never rounded to a whole number, so its whole part and the remainder are
exact.
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array
from tinynet.kernels.threads import blockwise

_SHORT = 512  # elements: fewer take longer in several calls
_EXACT = 2.0**22  # from here on, numpy rounds quotients before their floor, as PyTorch does


def divided(ufunc: np.ufunc, self: Array, other: Array) -> Array:
    """Return ``ufunc(self, other)`` for ``fmod``, ``remainder`` or ``floor_divide``."""
    if self.size < _SHORT or not self.dtype == other.dtype == np.float32:
        found: Array = ufunc(self, other)
        return found
    return _by_quotient(self, other, ufunc)


@blockwise
def _by_quotient(self: Array, other: Array, ufunc: np.ufunc) -> Array:
    a, b = self.astype(np.float64), other.astype(np.float64)
    quotient = a / b
    (np.trunc if ufunc is np.fmod else np.floor)(quotient, out=quotient)
    exact = np.abs(quotient) < _EXACT
    exact &= np.isfinite(b)
    if ufunc is np.floor_divide:
        found = quotient.astype(np.float32)
    else:
        quotient *= b
        found = np.subtract(a, quotient, out=quotient).astype(np.float32)
        np.copysign(found, self if ufunc is np.fmod else other, out=found)
    if not exact.all():
        left = ~exact
        pair = (np.broadcast_to(x, left.shape)[left] for x in (self, other))
        found[left] = ufunc(*pair)
    return found
