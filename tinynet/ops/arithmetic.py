"""Elementwise arithmetic of two tensors, or of a tensor and a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.inplace import run_inplace
from tinynet.core.operation import operation, pointwise, public
from tinynet.core.tensor import Tensor, method
from tinynet.ops.exponential import log

Array = np.ndarray[Any, Any]

# ---- sum, difference, product, quotient ---------------------------------------------------------


@pointwise(np.add, operator="add", methods=False)
def add(self: Array, other: Array, /) -> Array:
    """Return the elementwise sum."""


add.grad(self=lambda g: g, other=lambda g: g)


@pointwise(np.subtract, operator="sub", methods=False)
def sub(self: Array, other: Array, /) -> Array:
    """Return the elementwise difference."""


sub.grad(self=lambda g: g, other=lambda g: -g)


@pointwise(np.multiply, operator="mul", inplace=True)
def mul(self: Array, other: Array, /) -> Array:
    """Return the elementwise product.

    Example:
        >>> tn.tensor([1.0, 2.0]) * 3
        tensor([3., 6.])
    """


mul.grad(self=lambda g, other: g * other, other=lambda g, self: g * self)


@pointwise(np.true_divide, operator="truediv", ints="float", methods=False)
def div(self: Array, other: Array, /) -> Array:
    """Return the elementwise quotient; integers give floats."""


div.grad(
    self=lambda g, other: g / other,
    other=lambda g, self, other: -g * ((self / other) / other),
)


@pointwise(np.floor_divide, operator="floordiv", inplace=True)
def floor_divide(self: Array, other: Array, /) -> Array:
    """Return the quotient rounded down."""


@pointwise(np.remainder, operator="mod", inplace=True)
def remainder(self: Array, other: Array, /) -> Array:
    """Return the remainder with the sign of the divisor: ``self - other * floor(self / other)``."""


remainder.grad(
    self=lambda g: g, other=lambda g, self, other: -g * floor_divide(self, other)
)


# ---- powers -------------------------------------------------------------------------------------


@pointwise(np.power, node="PowBackward1", methods=False)
def power(self: Array, exponent: Array, /) -> Array:
    """Return ``self`` to the power of a tensor."""


power.grad(
    self=lambda g, self, exponent: g
    * where(exponent == 0, 0.0, exponent * self ** (exponent - 1)),
    exponent=lambda g, self, exponent, result: g
    * where((self == 0) & (exponent >= 0), 0.0, result * log(self)),
)


@operation(node="PowBackward0", methods=False)
def power_number(self: Array, /, exponent: float) -> Array:
    """Return ``self`` to the power of a number."""
    if self.dtype.kind != "f" and isinstance(exponent, float):
        self = self.astype(dtypes.default_float())
    return np.power(self, exponent)


power_number.grad(
    self=lambda g, self, exponent: g * (exponent * self ** (exponent - 1))
    if exponent != 0
    else g * 0
)


# ---- maximum, minimum, choice -------------------------------------------------------------------


@pointwise(np.maximum)
def maximum(self: Array, other: Array, /) -> Array:
    """Return the elementwise maximum; NaN where either is NaN."""


maximum.grad(
    self=lambda g, self, other: where(
        self == other, g * 0.5, where(self > other, g, 0.0)
    ),
    other=lambda g, self, other: where(
        self == other, g * 0.5, where(other > self, g, 0.0)
    ),
)


@pointwise(np.minimum)
def minimum(self: Array, other: Array, /) -> Array:
    """Return the elementwise minimum; NaN where either is NaN."""


minimum.grad(
    self=lambda g, self, other: where(
        self == other, g * 0.5, where(self < other, g, 0.0)
    ),
    other=lambda g, self, other: where(
        self == other, g * 0.5, where(other < self, g, 0.0)
    ),
)


@pointwise(np.where, exempt=("condition",), methods=False)
def where(condition: Array, self: Array, other: Array, /) -> Array:
    """Return ``self`` where the condition holds and ``other`` elsewhere."""


where.grad(
    self=lambda g, condition: where(condition, g, 0.0),
    other=lambda g, condition: where(condition, 0.0, g),
)



# ---- the public faces that take more than the operation -----------------------------------------


def _number_times(other: Any, alpha: Any) -> Any:
    return other if alpha == 1 else other * alpha


@public
def pow(self: Any, exponent: Any) -> Tensor:  # noqa: A001
    """Return each element of ``self`` to the power of ``exponent`` (a number or a tensor).

    Example:
        >>> tn.tensor([1.0, 2.0]).pow(3)
        tensor([1., 8.])
    """
    if type(exponent) in (int, float, bool):
        return power_number.function(self, exponent)
    return power.function(self, exponent)


@public
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """Write each element to the power of ``exponent`` to this tensor and return it."""
    number = type(exponent) in (int, float, bool)
    return run_inplace(power_number if number else power, self, (exponent,), {}, what="pow_")


method(pow, "__pow__")
method(lambda self, other: power.function(other, self), "__rpow__")
method(pow_, "__ipow__")


def _with_alpha(name: str, op: Any) -> Any:
    """Make the public function with ``alpha``, and its in-place form, of add or sub."""

    def function(self: Any, other: Any, *, alpha: Any = 1) -> Tensor:
        return op.function(self, _number_times(other, alpha))

    def inplace(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        return run_inplace(op, self, (_number_times(other, alpha),), {})

    sign = "+" if name == "add" else "-"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return ``self {sign} alpha * other``."
    inplace.__name__ = inplace.__qualname__ = f"{name}_"
    inplace.__doc__ = f"Write ``self {sign} alpha * other`` to this tensor and return it."
    public(inplace)
    return public(function)


tensor_add = _with_alpha("add", add)
tensor_sub = subtract = _with_alpha("sub", sub)


def _rounded(quotient: Any, mode: str | None) -> Any:
    if mode is None:
        return quotient
    if mode == "floor":
        return quotient.floor()
    if mode == "trunc":
        return quotient.trunc()
    raise RuntimeError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
        f"but found '{mode}'"
    )


@public
def tensor_div(self: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Return the quotient, rounded towards zero (``"trunc"``) or down (``"floor"``) if asked."""
    if rounding_mode is None:
        return div.function(self, other)
    if rounding_mode == "floor":
        return floor_divide.function(self, other)
    quotient = _rounded(div.function(self, other), rounding_mode)
    whole = [x for x in (self, other) if isinstance(x, Tensor)]
    if all(x._array.dtype.kind != "f" for x in whole) and not isinstance(other, float):
        return quotient.to(self.dtype)
    return quotient


@public
def div_(self: Tensor, other: Any) -> Tensor:
    """Write the quotient to this tensor and return it."""
    return run_inplace(div, self, (other,), {}, what="div_")


method(tensor_div, "div")
