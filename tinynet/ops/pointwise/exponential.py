"""Exponentials, logarithms, roots, signs, and saturating functions."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tinynet.core.complex_rules import conjugate, holds_complex
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.double_backward import derivative
from tinynet.core.declaration.operation import composite, pointwise
from tinynet.core.tensors.tensor import Tensor, method, public_function
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import FOUND
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.special_functions import special

# ---- exponentials and logarithms ----------------------------------------------------------------


@pointwise(np.exp, public=True, ints="float", inplace=True, node="ExpBackward", complex=True)
def exp(self: Array, /) -> Array:
    """Return e to the power of each element.

    Example:
        >>> tn.tensor(2.0, requires_grad=True).exp()
        tensor(7.3891, grad_fn=<ExpBackward>)
    """


exp.grad(self=lambda g, result: g * result)


@special()
@pointwise(np.exp2, public=True, ints="float", inplace=True, complex=True)
def exp2(self: Array, /) -> Array:
    """Return 2 to the power of each element.

    Example:
        >>> tn.exp2(tn.tensor([0.0, 3.0]))
        tensor([1., 8.])
    """


exp2.grad(self=lambda g, result: g * result * math.log(2))


@special()
@pointwise(np.expm1, public=True, ints="float", inplace=True, complex=True)
def expm1(self: Array, /) -> Array:
    """Return ``exp(x) - 1``, accurate for small x.

    Example:
        >>> tn.tensor([0.0, 1e-6]).expm1()
        tensor([0.0000e+00, 1.0000e-06])
    """


expm1.grad(self=lambda g, result: g * (result + 1))


@pointwise(np.log, public=True, ints="float", inplace=True, complex=True)
def log(self: Array, /) -> Array:
    """Return the natural logarithm.

    Example:
        >>> tn.tensor([1.0, 10.0]).log()
        tensor([0.0000, 2.3026])
    """


log.grad(self=lambda g, self: g / self)


@special()
@pointwise(np.log1p, public=True, ints="float", inplace=True, node="Log1PBackward0", complex=True)
def log1p(self: Array, /) -> Array:
    """Return ``log(1 + x)``, accurate for small x.

    Example:
        >>> tn.tensor([0.0, 1e-6]).log1p()
        tensor([0.0000e+00, 1.0000e-06])
    """


log1p.grad(self=lambda g, self: g / (self + 1))


@pointwise(np.log2, public=True, ints="float", inplace=True, complex=True)
def log2(self: Array, /) -> Array:
    """Return the logarithm to base 2.

    Example:
        >>> tn.tensor([1.0, 8.0]).log2()
        tensor([0., 3.])
    """


log2.grad(self=lambda g, self: g / (self * math.log(2)))


@pointwise(np.log10, public=True, ints="float", inplace=True, complex=True)
def log10(self: Array, /) -> Array:
    """Return the logarithm to base 10.

    Example:
        >>> tn.tensor([1.0, 500.0]).log10()
        tensor([0.0000, 2.6990])
    """


log10.grad(self=lambda g, self: g / (self * math.log(10)))

# ---- powers -------------------------------------------------------------------------------------


@pointwise(np.sqrt, public=True, ints="float", inplace=True, complex=True)
def sqrt(self: Array, /) -> Array:
    """Return the square root; NaN below zero.

    Example:
        >>> tn.tensor([4.0, 2.0]).sqrt()
        tensor([2.0000, 1.4142])
    """


sqrt.grad(self=lambda g, result: g / (2 * result))


@pointwise(public=True, ints="float", inplace=True, complex=True)
def rsqrt(self: Array, /) -> Array:
    """Return the reciprocal of the square root.

    Example:
        >>> tn.tensor([1.0, 4.0]).rsqrt()
        tensor([1.0000, 0.5000])
    """
    if self.dtype == HALF:
        return in_single(rsqrt, self)
    return np.reciprocal(np.sqrt(self))


rsqrt.grad(self=lambda g, result: -0.5 * g * result**3)


@pointwise(np.reciprocal, public=True, ints="float", inplace=True, complex=True)
def reciprocal(self: Array, /) -> Array:
    """Return the reciprocal.

    Example:
        >>> tn.tensor([1.0, 4.0]).reciprocal()
        tensor([1.0000, 0.2500])
    """


reciprocal.grad(self=lambda g, result: -g * result * result)


@pointwise(public=True, inplace=True, node="PowBackward0", complex=True)
def square(self: Array, /) -> Array:
    """Return the square; that of booleans is int64.

    Example:
        >>> tn.tensor([-3.0, 2.0]).square()
        tensor([9., 4.])
    """
    return np.square(self if self.dtype.kind != "b" else self.astype(np.int64))


square.grad(self=lambda g, self: g * (2.0 * self))

# ---- sign and rounding --------------------------------------------------------------------------


@pointwise(
    public=True, operator="neg", inplace=True, aliases=("negative",), out=FOUND, complex=True
)
def neg(self: Array, /) -> Array:
    """Return the negative.

    Example:
        >>> -tn.tensor([1.0, -2.0])
        tensor([-1.,  2.])
    """
    if self.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return np.negative(self)


neg.grad(self=lambda g: -g)


@composite(checks=True)
def positive(self: Tensor) -> Tensor:
    """Return the tensor itself: ``+x``.

    Raises:
        RuntimeError: the tensor is boolean.

    Example:
        >>> +tn.tensor([1.0, -2.0])
        tensor([ 1., -2.])
    """
    if self._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@pointwise(public=True, inplace="method", out=FOUND)
def sign(self: Array, /) -> Array:
    """Return the sign of the element, ``(x > 0) - (x < 0)``: 0 for 0 and NaN.

    Example:
        >>> tn.tensor([-3.0, 0.0, 2.0]).sign()
        tensor([-1.,  0.,  1.])
    """
    if self.dtype.kind == "b":
        return self.copy()
    if self.dtype.kind == "f":  # 0 for NaN; numpy returns NaN
        return ((self > 0).view(np.int8) - (self < 0).view(np.int8)).astype(self.dtype)
    return np.sign(self)


sign.grad(self=zeros_for)


@pointwise(public=True, inplace="method", out=FOUND, complex="given")
def sgn(self: Array, /) -> Array:
    """Return the sign of real numbers, and ``z / |z|`` of complex ones; 0 for 0.

    Example:
        >>> tn.tensor([-3.0, 0.0, 2.0]).sgn(), tn.tensor([3 + 4j]).sgn()
        (tensor([-1.,  0.,  1.]), tensor([0.6000+0.8000j]))
    """
    return np.sign(self) if self.dtype.kind == "c" else sign.kernel(self)


sgn.grad(self=lambda g, self, result: _along_the_circle(g, self, result))


def _along_the_circle(g: Any, z: Any, unit: Any) -> Any:
    """Return the gradient of ``z / |z|``, without its part along z; zero at zero."""
    if not holds_complex(z):
        return zeros_for(g)
    across = g - (g * conjugate(unit)).real * unit
    return across * (z != 0) / (abs(z) + (z == 0))


@pointwise(public=True, operator="abs", out=FOUND, complex="given")
def abs(self: Array, /) -> Array:
    """Return the absolute value.

    Example:
        >>> tn.tensor([-1.0, 2.0]).abs()
        tensor([1., 2.])
    """
    if self.dtype.kind == "b":
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return np.abs(self)


@composite(function=True)
def abs_(self: Tensor) -> Tensor:
    """Write the absolute values to this tensor and return it.

    Raises:
        RuntimeError: the tensor is complex.

    Example:
        >>> tn.tensor([-1.0, 2.0]).abs_()
        tensor([1., 2.])
    """
    if self.is_complex():
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return in_place(abs, "abs_")(self)


abs.grad(self=lambda g, self: g * sgn(self))
# ``absolute_`` is a method only.
public_function(method(abs.function, "absolute"), "absolute")
method(abs_, "absolute_")


# ---- saturating functions -----------------------------------------------------------------------


@pointwise(np.tanh, public=True, ints="float", inplace=True, complex=True)
def tanh(self: Array, /) -> Array:
    """Return the hyperbolic tangent.

    Example:
        >>> tn.tensor([0.0, 1.0]).tanh()
        tensor([0.0000, 0.7616])
    """


tanh.grad(self=lambda g, result: g * (1 - result * result))
derivative(
    tanh,
    "TanhBackwardBackward0",
    output=lambda g, grad_output, output: g * grad_output * (-2 * output),
)


@special("expit")
@pointwise(public=True, ints="float", inplace=True, complex=True)
def sigmoid(self: Array, /) -> Array:
    """Return the logistic function ``1 / (1 + exp(-x))``.

    Example:
        >>> tn.tensor([0.0, 2.0]).sigmoid()
        tensor([0.5000, 0.8808])
    """
    if self.dtype is HALF:
        return in_single(sigmoid, self)
    below = np.negative(self, out=np.empty_like(self))
    np.exp(below, out=below)
    below += 1
    return np.reciprocal(below, out=below)


sigmoid.grad(self=threads.blockwise(lambda g, result: g * (result * (1 - result))))
derivative(
    sigmoid,
    "SigmoidBackwardBackward0",
    output=lambda g, grad_output, output: g * grad_output * (1 - 2 * output),
)


@pointwise(node="ThresholdBackwardBackward0")
def relu_backward(self: Array, result: Array, /) -> Array:
    """Pass the gradient where relu's result is positive; recorded in both, as in PyTorch."""
    if self.shape != result.shape:
        self, result = np.broadcast_arrays(self, result)
    bits = _BITS[self.itemsize]
    if result.size <= _PART and result.ndim:
        kept = np.not_equal(result, 0).astype(bits)
        np.multiply(kept, self.view(bits), out=kept)
        return kept.view(self.dtype)
    g, r = self.reshape(-1).view(bits), result.reshape(-1)
    made = np.empty_like(g)

    def work(part: slice) -> None:
        # Multiplying the bits by 1 or 0 keeps or drops NaN and infinity, too. A result is never
        # negative; where it is NaN, the gradient passes, as in PyTorch.
        block = made[part]
        np.copyto(block, (r[part] != 0).view(np.int8))
        np.multiply(block, g[part], out=block)

    threads.each_slice(work, g.size, _PART)
    return made.view(self.dtype).reshape(self.shape)


relu_backward.grad(self=lambda g, result: relu_backward(g, result), result=zeros_for)


@pointwise(public=True, inplace=True)
def relu(self: Array, /) -> Array:
    """Return ``max(x, 0)``.

    Example:
        >>> tn.tensor([-1.0, 2.0]).relu()
        tensor([0., 2.])
    """
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    if self.size <= _LARGE:
        return np.maximum(self, np.zeros((), self.dtype))
    x, zeros = self.reshape(-1), _zeros(self.dtype)
    made = np.empty(x.shape, x.dtype)

    def work(part: slice) -> None:
        rows = x[part]
        np.maximum(rows, zeros[: len(rows)], out=made[part])

    threads.each_slice(work, x.size, _PART)
    return made.reshape(self.shape)


_LARGE = 8192  # from this many elements on, an array of zeros doubles the speed
_PART = 1 << 16  # elements per part
_BITS = {n: np.dtype(f"i{n}") for n in (1, 2, 4, 8)}


@functools.cache
def _zeros(kind: np.dtype[Any]) -> Array:
    return np.zeros(threads.WIDE, kind)


relu.grad(self=lambda g, result: relu_backward(g, result))
