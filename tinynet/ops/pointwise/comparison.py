"""Comparison, logic and bitwise operations; none has a derivative."""

from __future__ import annotations

import numpy as np

from tinynet.core.declaration.operation import composite, pointwise
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import BOOLEAN, FOUND, name_of, refuse_others

# ---- comparison ---------------------------------------------------------------------------------


@pointwise(np.equal, public=True, operator="eq", inplace=True, numbers="other", complex="given")
def eq(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` equals ``other``.

    Example:
        >>> tn.tensor([1, 2]) == tn.tensor([1, 3])
        tensor([ True, False])
    """


@pointwise(
    np.not_equal,
    public=True,
    operator="ne",
    inplace=True,
    numbers="other",
    aliases=("not_equal",),
    complex="given",
)
def ne(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` differs from ``other``.

    Example:
        >>> tn.tensor([1, 2]) != tn.tensor([1, 3])
        tensor([False,  True])
    """


@pointwise(np.less, public=True, operator="lt", inplace=True, numbers="other", aliases=("less",))
def lt(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` is less than ``other``.

    Example:
        >>> tn.tensor([1, 2, 3]) < 2
        tensor([ True, False, False])
    """


@pointwise(
    np.less_equal,
    public=True,
    operator="le",
    inplace=True,
    numbers="other",
    aliases=("less_equal",),
)
def le(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` is less than or equal to ``other``.

    Example:
        >>> tn.tensor([1, 2, 3]) <= 2
        tensor([ True,  True, False])
    """


@pointwise(
    np.greater, public=True, operator="gt", inplace=True, numbers="other", aliases=("greater",)
)
def gt(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` is greater than ``other``.

    Example:
        >>> tn.tensor([1, 2, 3]) > 2
        tensor([False, False,  True])
    """


@pointwise(
    np.greater_equal,
    public=True,
    operator="ge",
    inplace=True,
    numbers="other",
    aliases=("greater_equal",),
)
def ge(self: Array, other: Array, /) -> Array:
    """Return True where ``self`` is greater than or equal to ``other``.

    Example:
        >>> tn.tensor([1, 2, 3]) >= 2
        tensor([False,  True,  True])
    """


# ---- logic and bits -----------------------------------------------------------------------------


@pointwise(np.logical_and, public=True, inplace=True, numbers=False, complex="given")
def logical_and(self: Array, other: Array, /) -> Array:
    """Return True where both elements are nonzero.

    Example:
        >>> tn.logical_and(tn.tensor([True, True]), tn.tensor([True, False]))
        tensor([ True, False])
    """


@pointwise(np.logical_or, public=True, inplace=True, numbers=False, complex="given")
def logical_or(self: Array, other: Array, /) -> Array:
    """Return True where either element is nonzero.

    Example:
        >>> tn.logical_or(tn.tensor([True, False]), tn.tensor([False, False]))
        tensor([ True, False])
    """


@pointwise(np.logical_xor, public=True, inplace=True, numbers=False, complex="given")
def logical_xor(self: Array, other: Array, /) -> Array:
    """Return True where exactly one element is nonzero.

    Example:
        >>> tn.logical_xor(tn.tensor([True, True]), tn.tensor([True, False]))
        tensor([False,  True])
    """


@pointwise(np.logical_not, public=True, inplace="method", complex="given")
def logical_not(self: Array, /) -> Array:
    """Return True where the element is zero.

    Example:
        >>> tn.tensor([True, False]).logical_not()
        tensor([False,  True])
    """


@pointwise(np.bitwise_and, public=True, operator="and", inplace=True)
def bitwise_and(self: Array, other: Array, /) -> Array:
    """Return the bitwise AND; the logical one for booleans.

    Example:
        >>> tn.tensor([5, 6]) & 4
        tensor([4, 4])
    """


@pointwise(np.bitwise_or, public=True, operator="or", inplace=True)
def bitwise_or(self: Array, other: Array, /) -> Array:
    """Return the bitwise OR; the logical one for booleans.

    Example:
        >>> tn.tensor([5, 6]) | 1
        tensor([5, 7])
    """


@pointwise(np.bitwise_xor, public=True, operator="xor", inplace=True)
def bitwise_xor(self: Array, other: Array, /) -> Array:
    """Return the bitwise XOR; the logical one for booleans.

    Example:
        >>> tn.tensor([5, 6]) ^ 1
        tensor([4, 7])
    """


@pointwise(public=True, operator="invert", inplace="method", out=FOUND, complex="given")
def bitwise_not(self: Array, /) -> Array:
    """Return the bitwise NOT; the logical one for booleans.

    Example:
        >>> ~tn.tensor([0, 5])
        tensor([-1, -6])
    """
    if self.dtype.kind in "fc":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return np.invert(self)


@pointwise(np.isnan, public=True, complex="given")
def isnan(self: Array, /) -> Array:
    """Return True where the element is NaN.

    Example:
        >>> tn.tensor([1.0, tn.inf, tn.nan]).isnan()
        tensor([False, False,  True])
    """


@pointwise(np.isinf, public=True, complex="given")
def isinf(self: Array, /) -> Array:
    """Return True where the element is infinite.

    Example:
        >>> tn.tensor([1.0, tn.inf, tn.nan]).isinf()
        tensor([False,  True, False])
    """


@pointwise(np.isfinite, public=True, complex="given")
def isfinite(self: Array, /) -> Array:
    """Return True where the element is neither infinite nor NaN.

    Example:
        >>> tn.tensor([1.0, tn.inf, tn.nan]).isfinite()
        tensor([ True, False, False])
    """


@pointwise(public=True, out=BOOLEAN)
def isposinf(self: Array, /) -> Array:
    """Return True where the element is positive infinity.

    Example:
        >>> tn.tensor([-tn.inf, tn.inf]).isposinf()
        tensor([False,  True])
    """
    return (self == np.inf) if self.dtype.kind == "f" else np.zeros(self.shape, bool)


@pointwise(public=True, out=BOOLEAN)
def isneginf(self: Array, /) -> Array:
    """Return True where the element is negative infinity.

    Example:
        >>> tn.tensor([-tn.inf, tn.inf]).isneginf()
        tensor([ True, False])
    """
    return (self == -np.inf) if self.dtype.kind == "f" else np.zeros(self.shape, bool)


# ---- closeness ----------------------------------------------------------------------------------


def _one_kind(a: Array, b: Array) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(f"{name_of(a)} did not match {name_of(b)}")


@pointwise(public=True, numbers=False, complex="given")
def isclose(
    self: Array, other: Array, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    """Return True where ``|self - other| <= atol + rtol * |other|``.

    Args:
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether NaN counts as close to NaN.

    Example:
        >>> tn.isclose(tn.tensor([1.0, 2.0]), tn.tensor([1.0, 2.1]))
        tensor([ True, False])
    """
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if not bound >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {bound:g}")
    close = self == other
    if equal_nan and self.dtype.kind in "fc":
        close = close | (np.isnan(self) & np.isnan(other))
    if rtol == 0 and atol == 0:
        return close
    a, b = (x if x.dtype.kind in "fc" else x.astype(np.float64) for x in (self, other))
    distance = np.abs(a - b)
    return close | (np.isfinite(distance) & (distance <= atol + np.abs(rtol * b)))


isclose.mixed = _one_kind


@composite
def allclose(
    self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements are close to each other; see ``isclose`` for the arguments.

    Example:
        >>> tn.tensor([1.0, 2.0]).allclose(tn.tensor([1.0, 2.0 + 1e-9]))
        True
    """
    refuse_others("allclose", self=self, other=other)
    return bool(isclose.function(self, other, rtol, atol, equal_nan)._array.all())


@composite
def equal(self: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements; NaN equals nothing.

    Raises:
        TypeError: an argument is not a tensor.

    Example:
        >>> tn.tensor([1, 2]).equal(tn.tensor([1, 2]))
        True
    """
    refuse_others("equal", self=self, other=other)
    return bool(np.array_equal(self._array, other._array))
