"""Elementwise functions of one tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.operation import pointwise
from tinynet.dtypes import Array

# ---- exponentials and logarithms ----------------------------------------------------------------


@pointwise(np.exp, ints="float", inplace=True, node="ExpBackward")
def exp(self: Array, /) -> Array:
    """Return e to the power of each element.

    Example:
        >>> tn.tensor(2.0, requires_grad=True).exp()
        tensor(7.3891, grad_fn=<ExpBackward>)
    """


exp.grad(self=lambda g, result: g * result)


@pointwise(np.expm1, ints="float", inplace=True)
def expm1(self: Array, /) -> Array:
    """Return ``exp(x) - 1``, exact for small x."""


expm1.grad(self=lambda g, result: g * (result + 1))


@pointwise(np.log, ints="float", inplace=True)
def log(self: Array, /) -> Array:
    """Return the natural logarithm."""


log.grad(self=lambda g, self: g / self)


@pointwise(np.log1p, ints="float", inplace=True, node="Log1PBackward0")
def log1p(self: Array, /) -> Array:
    """Return ``log(1 + x)``, exact for small x."""


log1p.grad(self=lambda g, self: g / (self + 1))


@pointwise(np.log2, ints="float", inplace=True)
def log2(self: Array, /) -> Array:
    """Return the logarithm to base 2."""


log2.grad(self=lambda g, self: g / (self * math.log(2)))


@pointwise(np.log10, ints="float", inplace=True)
def log10(self: Array, /) -> Array:
    """Return the logarithm to base 10."""


log10.grad(self=lambda g, self: g / (self * math.log(10)))

# ---- powers -------------------------------------------------------------------------------------


@pointwise(np.sqrt, ints="float", inplace=True)
def sqrt(self: Array, /) -> Array:
    """Return the square root; NaN below zero."""


sqrt.grad(self=lambda g, result: g / (2 * result))


@pointwise(ints="float", inplace=True)
def rsqrt(self: Array, /) -> Array:
    """Return one over the square root."""
    return np.reciprocal(np.sqrt(self))


rsqrt.grad(self=lambda g, result: -0.5 * g * result**3)


@pointwise(np.reciprocal, ints="float", inplace=True)
def reciprocal(self: Array, /) -> Array:
    """Return one over each element."""


reciprocal.grad(self=lambda g, result: -g * result * result)


@pointwise(np.square, inplace=True, node="PowBackward0")
def square(self: Array, /) -> Array:
    """Return the square."""


square.grad(self=lambda g, self: g * (2.0 * self))

# ---- sign and rounding --------------------------------------------------------------------------


@pointwise(operator="neg", inplace=True)
def neg(self: Array, /) -> Array:
    """Return the negative."""
    if self.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return np.negative(self)


neg.grad(self=lambda g: -g)


@pointwise(inplace=True)
def sign(self: Array, /) -> Array:
    """Return -1, 0 or 1 with the sign of the element."""
    if self.dtype.kind == "b":
        return self.copy()
    if self.dtype.kind == "f":  # 0 for NaN, where numpy has NaN
        return (self > 0).astype(self.dtype) - (self < 0)
    return np.sign(self)


sign.grad(self=lambda g: g * 0)


@pointwise(operator="abs", inplace=True)
def abs(self: Array, /) -> Array:
    """Return the absolute value."""
    if self.dtype.kind == "b":
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return np.abs(self)


abs.grad(self=lambda g, self: g * sign(self))


def _whole_part(name: str, function: Any, x: Array) -> Array:
    if x.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    return function(x) if x.dtype.kind == "f" else x.copy()


@pointwise(inplace=True)
def floor(self: Array, /) -> Array:
    """Return the largest whole number below or equal."""
    return _whole_part("floor", np.floor, self)


floor.grad(self=lambda g: g * 0)


@pointwise(inplace=True)
def ceil(self: Array, /) -> Array:
    """Return the smallest whole number above or equal."""
    return _whole_part("ceil", np.ceil, self)


ceil.grad(self=lambda g: g * 0)


@pointwise(inplace=True)
def trunc(self: Array, /) -> Array:
    """Return the whole part."""
    return _whole_part("trunc", np.trunc, self)


trunc.grad(self=lambda g: g * 0)


@pointwise(inplace=True)
def round(self: Array, /, *, decimals: int = 0) -> Array:
    """Return the nearest whole number (halves to even), or round to ``decimals`` places."""
    if self.dtype.kind == "b":
        raise NotImplementedError("\"round_cpu\" not implemented for 'Bool'")
    return np.round(self, decimals)


round.grad(self=lambda g: g * 0)

# ---- trigonometry -------------------------------------------------------------------------------


@pointwise(np.sin, ints="float", inplace=True)
def sin(self: Array, /) -> Array:
    """Return the sine of angles in radians."""


@pointwise(np.cos, ints="float", inplace=True)
def cos(self: Array, /) -> Array:
    """Return the cosine of angles in radians."""


sin.grad(self=lambda g, self: g * cos(self))
cos.grad(self=lambda g, self: -g * sin(self))


@pointwise(np.tan, ints="float", inplace=True)
def tan(self: Array, /) -> Array:
    """Return the tangent of angles in radians."""


tan.grad(self=lambda g, result: g * (1 + result * result))

# ---- squashing ----------------------------------------------------------------------------------


@pointwise(np.tanh, ints="float", inplace=True)
def tanh(self: Array, /) -> Array:
    """Return the hyperbolic tangent."""


tanh.grad(self=lambda g, result: g * (1 - result * result))


@pointwise(ints="float", inplace=True)
def sigmoid(self: Array, /) -> Array:
    """Return ``1 / (1 + exp(-x))``."""
    return np.reciprocal(1 + np.exp(-self))


sigmoid.grad(self=lambda g, result: g * (result * (1 - result)))


@pointwise(methods=False, node="ThresholdBackwardBackward0")
def relu_backward(self: Array, result: Array, /) -> Array:
    """Return the gradient where relu's result is above zero; recorded in both, as in PyTorch."""
    return self * (result > 0)


relu_backward.grad(
    self=lambda g, result: relu_backward(g, result),
    result=lambda g: g * 0,
)


@pointwise(inplace=True)
def relu(self: Array, /) -> Array:
    """Return ``max(x, 0)``."""
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return np.maximum(self, np.zeros((), self.dtype))


relu.grad(self=lambda g, result: relu_backward(g, result))


@pointwise(methods=False, node="ClampBackward1")
def clamp_numbers(self: Array, /, min: float | None = None, max: float | None = None) -> Array:
    """Return the elements moved into ``[min, max]``; either bound may be None."""
    if self.dtype.kind != "f" and (isinstance(min, float) or isinstance(max, float)):
        self = self.astype(dtypes.default_float())
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)


clamp_numbers.grad(self=lambda g, self, min, max: g * _inside(self, min, max))


def _inside(x: Any, low: float | None, high: float | None) -> Any:
    if low is None:
        return x <= high
    return x >= low if high is None else (x >= low) & (x <= high)


# ---- the error function -------------------------------------------------------------------------

# Rational approximations of W. J. Cody, "Rational Chebyshev approximations for the error
# function", Mathematics of Computation 23 (1969): relative error below 6e-19, highest power first.
_ERF = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2,
     3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_ERFC_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
     6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
     1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3,
     3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip
_ERFC_TAIL = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346047e0, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    above, below = coefficients
    return np.polyval(above, x) / np.polyval(below, x)


@pointwise(ints="float", inplace=True)
def erf(self: Array, /) -> Array:
    """Return the error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` to x."""
    x = self.astype(np.float64)
    size = np.minimum(np.abs(x), 6.0)  # erf(6) is 1 in double precision
    near = np.minimum(size, 0.46875)
    small = near * _ratio(_ERF, near * near)
    middle = np.exp(-size * size) * _ratio(_ERFC_MIDDLE, size)
    inverse = 1.0 / np.maximum(size, 4.0) ** 2
    tail = 1.0 / math.sqrt(math.pi) - inverse * _ratio(_ERFC_TAIL, inverse)
    large = np.exp(-size * size) * tail / np.maximum(size, 4.0)
    result = np.where(size <= 0.46875, small, 1.0 - np.where(size <= 4.0, middle, large))
    return np.copysign(result, x).astype(self.dtype)


erf.grad(self=lambda g, self: g * (2 / math.sqrt(math.pi) * exp(-(self * self))))
