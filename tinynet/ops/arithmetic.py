"""Elementwise arithmetic of two tensors, or of a tensor and a number."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.inplace import run_inplace
from tinynet.core.operation import operation, pointwise, public
from tinynet.core.tensor import Tensor, method, wrap
from tinynet.dtypes import Array
from tinynet.ops.exponential import clamp_numbers, reciprocal

# ---- sum, difference, product, quotient ---------------------------------------------------------


@pointwise(np.add, operator="add", methods=False)
def add(self: Array, other: Array, /) -> Array:
    """Return the elementwise sum."""


add.grad(self=lambda g: g, other=lambda g: g)


def _no_bools(a: Array, b: Array) -> None:
    if a.dtype.kind == "b" and b.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if "b" in (a.dtype.kind, b.dtype.kind):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


@pointwise(np.subtract, operator="sub", methods=False, mixed=_no_bools)
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


def _whole(name: str, function: Any, self: Array, other: Array) -> Array:
    """Divide whole numbers; refuse zero and booleans as PyTorch does."""
    if not isinstance(other, np.ndarray):
        other = np.asarray(other, self.dtype)
    if self.dtype.kind != "f" and other.dtype.kind != "f":
        if self.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")
        if not other.all():
            raise RuntimeError("ZeroDivisionError")
    return function(self, other)


def _underivable(g: Any) -> Any:
    raise RuntimeError("derivative for aten::floor_divide is not implemented")


@pointwise(operator="floordiv", inplace=True, node="NotImplemented")
def floor_divide(self: Array, other: Array, /) -> Array:
    """Return the quotient rounded down; it has no derivative."""
    return _whole("div_floor_cpu", np.floor_divide, self, other)


floor_divide.grad(self=_underivable, other=_underivable)


@pointwise(node="DivBackward2", methods=False, ints="keep", mixed=None)
def quotient_rounded(self: Array, other: Array, /, rounding: str = "floor") -> Array:
    """Return the quotient rounded down or towards zero, in the dtype of the operands."""
    if self.dtype.kind != "f":
        whole = _whole("div_cpu", np.floor_divide, self, other)
        if rounding == "trunc":
            short = (whole < 0) & (whole * other != self)
            whole = whole + short.astype(whole.dtype)
        return whole
    return np.floor_divide(self, other) if rounding == "floor" else np.trunc(self / other)


quotient_rounded.grad(self=lambda g: g * 0, other=lambda g: g * 0)


@pointwise(operator="mod", inplace=True, node="RemainderBackward1")
def remainder(self: Array, other: Array, /) -> Array:
    """Return the remainder with the sign of the divisor: ``self - other * floor(self / other)``."""
    return _whole("remainder_cpu", np.remainder, self, other)


remainder.grad(
    self=lambda g: g,
    other=lambda g, self, other: -g * quotient_rounded(self, other, "floor"),
)

# ---- choice --------------------------------------------------------------------------------------


@pointwise(np.where, exempt=("condition",), methods=False)
def where(condition: Array, self: Array, other: Array, /) -> Array:
    """Return ``self`` where the condition holds and ``other`` elsewhere."""


where.grad(
    self=lambda g, condition: where(condition, g, 0.0),
    other=lambda g, condition: where(condition, 0.0, g),
)


# ---- a number on the left -----------------------------------------------------------------------


@operation(node="RsubBackward1", methods=False)
def number_minus(self: Array, /, number: float) -> Array:
    """Return a number minus each element."""
    if self.dtype.kind == "b" or type(number) is bool:
        _no_bools(self, np.asarray(number))
    kind = dtypes.result_type((self, number))
    return np.subtract(dtypes.number(number, kind), self.astype(kind, copy=False))


number_minus.grad(self=lambda g: -g)

# ---- maximum and minimum -------------------------------------------------------------------------


@pointwise(np.maximum, numbers=False)
def maximum(self: Array, other: Array, /) -> Array:
    """Return the elementwise maximum; NaN where either is NaN."""


maximum.grad(
    self=lambda g, self, other: where(self == other, g * 0.5, where(self > other, g, 0.0)),
    other=lambda g, self, other: where(self == other, g * 0.5, where(other > self, g, 0.0)),
)


@pointwise(np.minimum, numbers=False)
def minimum(self: Array, other: Array, /) -> Array:
    """Return the elementwise minimum; NaN where either is NaN."""


minimum.grad(
    self=lambda g, self, other: where(self == other, g * 0.5, where(self < other, g, 0.0)),
    other=lambda g, self, other: where(self == other, g * 0.5, where(other < self, g, 0.0)),
)


# ---- the public faces that take more than the operation -----------------------------------------


@operation(node="MulBackward0", methods=False)
def scaled(self: Array, /, alpha: float) -> Array:
    """Return the product with a number that is not saved: the ``alpha`` of add and sub."""
    kind = dtypes.result_type((self, alpha))
    return self.astype(kind, copy=False) * dtypes.number(alpha, kind)


scaled.grad(self=lambda g, alpha: g * alpha)


def _number_times(self: Any, other: Any, alpha: Any) -> Any:
    if type(alpha) is float and isinstance(self, Tensor) and self._array.dtype.kind != "f":
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if alpha == 1:
        return other
    return scaled.function(other, alpha) if isinstance(other, Tensor) else other * alpha


def reflected(by_number: Any, op: Any) -> Any:
    """Return the reflected operator: its own operation for a number on the left."""

    def operator(self: Tensor, other: Tensor | float) -> Tensor:
        if type(other) in (int, float, bool):
            return by_number(self, other)
        return op.operator(other, self)

    return operator


method(reflected(number_minus.function, sub), "__rsub__")
method(reflected(lambda self, other: reciprocal.function(self) * other, div), "__rtruediv__")


def _with_alpha(name: str, op: Any) -> Any:
    """Make the public function with ``alpha``, and its in-place form, of add or sub."""

    def function(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
        return op.function(self, _number_times(self, other, alpha))

    def inplace(self: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
        return run_inplace(op, self, (_number_times(self, other, alpha),), {})

    sign = "+" if name == "add" else "-"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return ``self {sign} alpha * other``."
    inplace.__name__ = inplace.__qualname__ = f"{name}_"
    inplace.__doc__ = f"Write ``self {sign} alpha * other`` to this tensor and return it."
    public(inplace)
    return public(function)


tensor_add = _with_alpha("add", add)
tensor_sub = subtract = _with_alpha("sub", sub)


def tensor_div(self: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Return the quotient, rounded towards zero (``"trunc"``) or down (``"floor"``) if asked."""
    if rounding_mode is None:
        return div.function(self, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found '{rounding_mode}'"
        )
    return quotient_rounded.function(self, other, rounding_mode)


tensor_div.__name__ = tensor_div.__qualname__ = "div"
public(tensor_div)

Bound = Tensor | float | None


@pointwise(node="ClampBackward0", methods=False)
def clamp_tensors(self: Array, min: Array, max: Array, /) -> Array:
    """Return the elements moved between two tensors; the upper one wins where they cross."""
    return np.minimum(np.maximum(self, min), max)


clamp_tensors.grad(
    self=lambda g, self, min, max: where((self >= min) & (self <= max), g, 0.0),
    min=lambda g, self, min, max: where((self < min) & (min < max), g, 0.0),
    max=lambda g, self, min, max: where((self > max) | (max < min), g, 0.0),
)


@public
def clamp(self: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Return the elements moved into ``[min, max]``; either bound may be left out, or a tensor.

    Raises:
        RuntimeError: neither bound is given.

    Example:
        >>> tn.tensor([-1.0, 0.5, 2.0]).clamp(min=0, max=1)
        tensor([0.0000, 0.5000, 1.0000])
    """
    op, bounds = _bounds(self, min, max)
    return op.function(self, *bounds)


@public
def clamp_(self: Tensor, min: Bound = None, max: Bound = None) -> Tensor:
    """Move the elements of this tensor into ``[min, max]`` and return it."""
    op, bounds = _bounds(self, min, max)
    return run_inplace(op, self, bounds, {}, what="clamp_")


def _bounds(self: Tensor, low: Any, high: Any) -> tuple[Any, tuple[Any, Any]]:
    """Return the operation for these bounds, and the bounds as it takes them."""
    if low is None and high is None:
        raise RuntimeError("tinynet.clamp: At least one of 'min' or 'max' must not be None")
    for bound in (low, high):
        if bound is not None and not isinstance(bound, (int, float, Tensor)):
            raise TypeError(
                "clamp(): argument 'min' or 'max' must be Number or Tensor, "
                f"not {type(bound).__name__}"
            )
    if not isinstance(low, Tensor) and not isinstance(high, Tensor):
        return clamp_numbers, (low, high)
    kind = self._array.dtype
    floating = kind.kind == "f"
    least, most = (-math.inf, math.inf) if floating else (np.iinfo(kind).min, np.iinfo(kind).max)
    low = int(least) if low is None and not floating else least if low is None else low
    high = int(most) if high is None and not floating else most if high is None else high
    return clamp_tensors, (_as_tensor(self, low), _as_tensor(self, high))


def _as_tensor(like: Tensor, bound: Any) -> Tensor:
    """Return a number as a 0-d tensor in the dtype that it has beside ``like``."""
    if isinstance(bound, Tensor):
        return bound
    kind = dtypes.result_type((like._array, bound))
    return wrap(np.asarray(dtypes.number(bound, kind)))


@public
def clamp_min(self: Tensor, min: Tensor | float) -> Tensor:
    """Return the elements, at least ``min``."""
    return clamp(self, min)


@public
def clamp_max(self: Tensor, max: Tensor | float) -> Tensor:
    """Return the elements, at most ``max``."""
    return clamp(self, None, max)


@public
def div_(self: Tensor, other: Tensor | float) -> Tensor:
    """Write the quotient to this tensor and return it."""
    return run_inplace(div, self, (other,), {}, what="div_")


_MISSING = object()


def choose(condition: Tensor, self: Any = _MISSING, other: Any = _MISSING) -> Any:
    """Return ``self`` where the condition holds and ``other`` elsewhere.

    With the condition alone: the indices where it holds, one tensor per dimension.

    Raises:
        RuntimeError: the condition is not boolean.

    Example:
        >>> tn.where(tn.tensor([True, False]), tn.ones(2), 0.0)
        tensor([1., 0.])
    """
    if self is _MISSING:
        return condition.nonzero(as_tuple=True)
    if isinstance(condition, Tensor):
        kind = condition._array.dtype
        if kind == np.uint8:
            warnings.warn(
                "where received a uint8 condition tensor. This behavior is deprecated and will be "
                "removed in a future version of PyTorch. Use a boolean condition instead.",
                UserWarning,
                stacklevel=2,
            )
            condition = wrap(condition._array.astype(bool))
        elif kind.kind != "b":
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{condition.dtype.scalar_name}"
            )
    return where.function(condition, self, other)


def _chosen(self: Tensor, condition: Tensor, other: Tensor | float) -> Tensor:
    """Return this tensor where the condition holds and ``other`` elsewhere."""
    return choose(condition, self, other)


method(_chosen, "where")
