"""Comparison, logic and bits: results without derivative."""

from __future__ import annotations

import numpy as np

from tinynet.core.operation import pointwise
from tinynet.dtypes import Array

# ---- comparison ---------------------------------------------------------------------------------


@pointwise(np.equal, operator="eq", inplace=True)
def eq(self: Array, other: Array, /) -> Array:
    """Return True where the elements are equal."""


@pointwise(np.not_equal, operator="ne", inplace=True)
def ne(self: Array, other: Array, /) -> Array:
    """Return True where the elements differ."""


@pointwise(np.less, operator="lt", inplace=True)
def lt(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` is less."""


@pointwise(np.less_equal, operator="le", inplace=True)
def le(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` is less or equal."""


@pointwise(np.greater, operator="gt", inplace=True)
def gt(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` is greater."""


@pointwise(np.greater_equal, operator="ge", inplace=True)
def ge(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` is greater or equal."""


# ---- logic and bits -----------------------------------------------------------------------------


@pointwise(np.logical_and, inplace=True)
def logical_and(self: Array, other: Array, /) -> Array:
    """Return True where both are nonzero."""


@pointwise(np.logical_or, inplace=True)
def logical_or(self: Array, other: Array, /) -> Array:
    """Return True where either is nonzero."""


@pointwise(np.logical_xor, inplace=True)
def logical_xor(self: Array, other: Array, /) -> Array:
    """Return True where exactly one is nonzero."""


@pointwise(np.logical_not)
def logical_not(self: Array, /) -> Array:
    """Return True where the element is zero."""


@pointwise(np.bitwise_and, operator="and", inplace=True)
def bitwise_and(self: Array, other: Array, /) -> Array:
    """Return the bitwise (for booleans: logical) and."""


@pointwise(np.bitwise_or, operator="or", inplace=True)
def bitwise_or(self: Array, other: Array, /) -> Array:
    """Return the bitwise (for booleans: logical) or."""


@pointwise(np.bitwise_xor, operator="xor", inplace=True)
def bitwise_xor(self: Array, other: Array, /) -> Array:
    """Return the bitwise (for booleans: logical) exclusive or."""


@pointwise(operator="invert")
def bitwise_not(self: Array, /) -> Array:
    """Return the bitwise (for booleans: logical) complement."""
    if self.dtype.kind == "f":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return np.invert(self)


@pointwise(np.isnan)
def isnan(self: Array, /) -> Array:
    """Return True where the element is NaN."""


@pointwise(np.isinf)
def isinf(self: Array, /) -> Array:
    """Return True where the element is infinite."""


@pointwise(np.isfinite)
def isfinite(self: Array, /) -> Array:
    """Return True where the element is neither infinite nor NaN."""
