"""GELU as operations: x times the standard normal distribution function of x.

In float32 both passes write block by block to arrays that stay in the cache. The distribution
function is ``(1 + tanh(x * P(x^2))) / 2``, since numpy's tanh costs little more than a product.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.double_backward import derivative
from tinynet.core.declaration.operation import pointwise
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.sums import numbers
from tinynet.ops.pointwise.clamp import clamp_numbers
from tinynet.ops.pointwise.error_function import erf_of
from tinynet.ops.pointwise.exponential import exp, sigmoid, tanh

_ROOT_HALF = math.sqrt(0.5)
DENSITY = 1 / math.sqrt(2 * math.pi)
_INNER = math.sqrt(2 / math.pi)
_CUBE = 0.044715


def _floating(x: Array) -> Array:
    if x.dtype.kind != "f":
        kind = dtypes.of(x).scalar_name
        raise NotImplementedError(f"\"GeluKernelImpl\" not implemented for '{kind}'")
    return x


# ---- float32 ------------------------------------------------------------------------------------

# P was fitted to atanh(erf(x / sqrt(2))) / x with a maximum error of the result of
# 2.9e-8; with float32's rounding it is 9e-8, 1.5 units in the last place of numbers below 1.
# Highest power first. Beyond the fit, x > 6.5, P grows and tanh is 1; it never overflows to NaN.
COEFFICIENTS = (
    1.756216533e-9, -1.3226484033e-7, 3.9647612516e-6, -5.5306276561e-5, -3.2594803118e-5,
    3.63330844435e-2, 7.97884941457e-1,
)  # fmt: skip
_P = tuple(np.array(c, np.float32) for c in COEFFICIENTS)
_ONE, _HALF, _EXPONENT, _FACTOR = (
    np.array(c, np.float32) for c in (1, 0.5, -0.5 / math.log(2), DENSITY)
)  # arrays, since numpy is slower with Python numbers
LEAST = -70.0
"""Powers of e below this one count as 0: products with subnormal numbers take ten times as long."""
_LEAST = np.array(LEAST / math.log(2), np.float32)
_TINY = np.exp2(_LEAST)
_BLOCK = 24576  # three such blocks fit the cache, and the overhead per call stays small


def _single(x: Array, out: Array | None = None, below: Array | None = None) -> tuple[Array, Array]:
    """Return GELU and the distribution function at ``x``, in ``out`` and ``below`` if given."""
    square = np.multiply(x, x)
    highest, *middle, last = _P
    below = np.multiply(square, highest, below)
    for c in middle:
        np.add(below, c, below)
        np.multiply(below, square, below)
    np.add(below, last, below)
    np.multiply(below, x, below)
    np.tanh(below, below)
    np.add(below, _ONE, below)
    np.multiply(below, _HALF, below)
    out = np.multiply(below, x, out)
    if not math.isfinite(np.vdot(x, x)):  # which takes less time than a comparison of each
        np.copyto(out, np.nan, where=x == np.inf)  # as PyTorch's loops over vectors
    return out, below


def _single_slope(g: Array, x: Array, below: Array, out: Array) -> None:
    """Write ``g * (below + x * density(x))`` to ``out``."""
    np.multiply(x, x, out)
    np.multiply(out, _EXPONENT, out)
    is_tiny = out.min(initial=0) < _LEAST
    if is_tiny:
        np.maximum(out, _LEAST, out=out)
    np.exp2(out, out)  # twice as fast as ``exp``
    if is_tiny:
        np.multiply(out, out > _TINY, out)
    np.multiply(out, x, out)
    np.multiply(out, _FACTOR, out)
    np.add(out, below, out)
    np.multiply(out, g, out)


def _flat(x: Array) -> Array:
    return x.astype(np.float32, copy=False).ravel()


def _gelu_single(x: Array) -> tuple[Array, Array]:
    if x.ndim and x.size <= _BLOCK and x.dtype.char == "f" and x.flags.c_contiguous:
        return _single(x)
    flat = _flat(x)
    if flat.size <= _BLOCK:
        out, below = _single(flat)
    else:
        out, below = np.empty_like(flat), np.empty_like(flat)

        def work(part: slice) -> None:
            _single(flat[part], out[part], below[part])

        threads.each_slice(work, flat.size, _BLOCK)
    return out.reshape(x.shape).astype(x.dtype, copy=False), below.reshape(x.shape)


def _slope_single(g: Array, x: Array, below: Array) -> Array:
    g1, x1, b1, out = _flat(g), _flat(x), _flat(below), np.empty(x.size, np.float32)

    def work(block: slice) -> None:
        _single_slope(g1[block], x1[block], b1[block], out[block])

    threads.each_slice(work, out.size, _BLOCK)
    return out.reshape(x.shape).astype(x.dtype, copy=False)


# ---- the operations -----------------------------------------------------------------------------


def _normal(x: Array) -> Array:
    """Return the standard normal distribution function, as a float64 array."""
    below = erf_of(x, _ROOT_HALF)
    below += 1
    below *= 0.5
    return below


@pointwise(node="GeluBackward0", hidden=("below",))
def gelu(self: Array, /) -> tuple[Array, Array]:
    """Return x times the standard normal distribution function of x."""
    if self.dtype.char == "f" or _floating(self).dtype != np.float64:
        return _gelu_single(self)
    below = _normal(self)
    return self * below, below


def _weighted_density(self: Array) -> Array:
    """Return x times the standard normal density at x."""
    found = np.square(self, out=np.empty_like(self))
    found *= -0.5
    np.exp(found, out=found)
    found *= self
    found *= DENSITY
    return found


def _gelu_grad(g: Any, self: Any, below: Any) -> Any:
    if self.dtype != np.float64:
        return _slope_single(g, self, below)
    return g * (below + _weighted_density(self))


gelu.grad(self=_gelu_grad)
derivative(
    gelu,
    "GeluBackwardBackward0",
    self=lambda g, grad_output, self: (
        g * grad_output * ((2 - self * self) * (exp(self * self * -0.5) * DENSITY))
    ),
)


@pointwise(node="GeluBackward0")
@threads.blockwise
def gelu_tanh(self: Array, /) -> Array:
    """Return the approximation of ``gelu`` by tanh."""
    x = _floating(self)
    half, inner, cubed = numbers(x.dtype, 0.5, _INNER, _INNER * _CUBE)
    return x * (half + half * np.tanh(x * (inner + cubed * (x * x))))


@threads.blockwise
def _gelu_tanh_grad(g: Any, self: Any) -> Any:
    x = clamp_numbers(self, -30.0, 30.0)  # beyond, tanh is 1, and x * x may overflow
    square = x * x
    t = tanh(x * (_INNER + _INNER * _CUBE * square))
    slope = _INNER + 3 * _INNER * _CUBE * square
    return g * (0.5 + 0.5 * (t + x * ((1 - t * t) * slope)))


def _gelu_tanh_second(g: Any, grad_output: Any, self: Any) -> Any:
    x = clamp_numbers(self, -30.0, 30.0)
    square = x * x
    z = x * (_INNER + _INNER * _CUBE * square)
    density = 4 * (sigmoid(2 * z) * sigmoid(-2 * z))  # 1 - tanh(z)**2, which is 0 too early
    slope, bend = _INNER + 3 * _INNER * _CUBE * square, 6 * _INNER * _CUBE * x
    return g * grad_output * (density * (slope + x * (0.5 * bend - tanh(z) * slope * slope)))


gelu_tanh.grad(self=_gelu_tanh_grad)
derivative(gelu_tanh, "GeluBackwardBackward0", self=_gelu_tanh_second)
