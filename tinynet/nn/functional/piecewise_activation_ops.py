"""Operations behind the activations, except GELU (see ``gelu_ops``).

They are operations, not composites, because each has an in-place form that a composite cannot
have (it would overwrite what its own parts saved), and because a single node with a closed
derivative is faster and does not overflow where the parts would.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.double_backward import derivative
from tinynet.core.declaration.operation import operation, pointwise
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels import threads
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import name_of
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.exponential import exp, sigmoid, tanh
from tinynet.ops.pointwise.where import pick, zeros_for
from tinynet.ops.shaping.joining import cat
from tinynet.ops.shaping.views import cut


def _floating(x: Array, kernel: str) -> Array:
    """Return ``x``; NotImplementedError with PyTorch's message unless it is floating-point."""
    if x.dtype.kind != "f":
        kind = dtypes.of(x).scalar_name
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind}'")
    return x


def _zero(x: Array) -> Array:
    """Return a zero for np.minimum and np.maximum, which are slow with Python numbers."""
    return np.zeros((), x.dtype)


def _flat(g: Any) -> Any:
    """Return the second derivative of a piecewise linear function."""
    return zeros_for(g)


# ---- piecewise linear ---------------------------------------------------------------------------

# The derivatives at NaN are those of PyTorch's loops over vectors: 0 for hardtanh and the shrinks,
# NaN for hardswish and elu, the incoming gradient for the others. (Its loops over the rest of an
# array, of less than a vector, give the incoming gradient for all.)


@pointwise()
@threads.blockwise
def leaky_relu(self: Array, /, negative_slope: float) -> Array:
    """Return x above 0 and ``negative_slope * x`` below."""
    x = _floating(self, "leaky_relu_cpu")
    if x.dtype is HALF:
        return in_single(leaky_relu, x, negative_slope)
    below = x * negative_slope
    if 0 < negative_slope <= 1:  # a pass instead of five
        return np.maximum(x, below, out=below if below.ndim else None)
    return pick(x > 0, x, below)


@threads.blockwise
def _leaky_slope(g: Any, self: Any, negative_slope: float) -> Any:
    if isinstance(g, Tensor) or not 0 <= negative_slope <= 1:
        return where(self > 0, g, g * negative_slope)
    return g * np.maximum(np.greater(self, 0).astype(g.dtype), negative_slope)


leaky_relu.grad(self=_leaky_slope)
derivative(leaky_relu, "LeakyReluBackwardBackward0", self=_flat)


@pointwise(node="PreluKernelBackward0")
def prelu(self: Array, weight: Array, /) -> Array:
    """Return x above 0 and ``weight * x`` below."""
    return _scaled_below(self, self, _number(weight, self))


@threads.blockwise
def _scaled_below(x: Any, g: Any, slope: Any) -> Any:
    return where(x > 0, g, slope * g)


def _number(weight: Any, x: Any) -> Any:
    """Return one slope for all channels without dimensions, so that blocks can share it."""
    single = isinstance(weight, np.ndarray) and weight.size == 1 and weight.ndim <= x.ndim
    return weight.reshape(()) if single else weight


prelu.grad(
    self=lambda g, self, weight: _scaled_below(self, g, _number(weight, self)),
    weight=threads.blockwise(lambda g, self: where(self > 0, 0.0, g * self)),
)
derivative(
    prelu,
    "PreluKernelBackwardBackward0",
    self=_flat,
    weight=lambda g, grad_output, self: where(self > 0, 0.0, g * grad_output),
)
derivative(
    prelu,
    "PreluKernelBackwardBackward0",
    "weight",
    self=lambda g, grad_output, self: where(self > 0, 0.0, g * grad_output),
)


@pointwise()
@threads.blockwise
def hardtanh(self: Array, /, min_val: float, max_val: float) -> Array:
    """Return x clamped to ``[min_val, max_val]``."""
    if self.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    low, high = (np.asarray(v).astype(self.dtype) for v in (min_val, max_val))
    return self.clip(low, high)


hardtanh.grad(
    self=threads.blockwise(
        lambda g, self, min_val, max_val: where((self > min_val) & (self < max_val), g, 0.0)
    )
)
derivative(hardtanh, "HardtanhBackwardBackward0", self=_flat)


@pointwise()
@threads.blockwise
def hardsigmoid(self: Array, /) -> Array:
    """Return ``x / 6 + 1 / 2`` clamped to [0, 1]."""
    return _ramp(_floating(self, "hardsigmoid_cpu"))


def _ramp(x: Array) -> Array:
    ramp = np.asarray(x + 3)
    return np.divide(np.clip(ramp, 0, 6, out=ramp), 6, out=ramp)


hardsigmoid.grad(
    self=threads.blockwise(lambda g, self: where((self > -3) & (self < 3), g / 6, 0.0))
)


@pointwise()
@threads.blockwise
def hardswish(self: Array, /) -> Array:
    """Return x times ``hardsigmoid(x)``."""
    ramp = _ramp(_floating(self, "hardswish_cpu"))
    return np.multiply(ramp, self, out=ramp)


hardswish.grad(
    self=threads.blockwise(
        lambda g, self: where(self <= -3, 0.0, where(self >= 3, g, g * (self / 3 + 0.5)))
    )
)
derivative(
    hardswish,
    "HardswishBackwardBackward0",
    self=lambda g, grad_output, self: where((self > -3) & (self < 3), g * grad_output / 3, 0.0),
)


@pointwise()
def threshold(self: Array, /, threshold: float, value: float) -> Array:
    """Return x above the threshold and ``value`` elsewhere."""
    return pick(self <= threshold, np.asarray(value).astype(self.dtype), self)


threshold.grad(self=threads.blockwise(lambda g, self, threshold: where(self <= threshold, 0.0, g)))
derivative(threshold, "ThresholdBackwardBackward0", self=_flat)


@threads.blockwise
def _shrink_grad(g: Any, self: Any, lambd: float) -> Any:
    return where((self < -lambd) | (self > lambd), g, 0.0)


@pointwise()
@threads.blockwise
def hardshrink(self: Array, /, lambd: float) -> Array:
    """Return x outside ``[-lambd, lambd]`` and 0 inside."""
    x = _floating(self, "hardshrink_cpu")
    return pick((x >= -lambd) & (x <= lambd), _zero(x), x)


hardshrink.grad(self=_shrink_grad)
derivative(hardshrink, "HardshrinkBackwardBackward0", self=_flat)


@pointwise()
@threads.blockwise
def softshrink(self: Array, /, lambd: float) -> Array:
    """Return x shrunk towards 0 by ``lambd``; 0 where ``|x| <= lambd``."""
    x = _floating(self, "softshrink_check")
    if not 0 <= lambd <= np.finfo(x.dtype).max:
        raise RuntimeError(
            f"lambda must be in range [0, {np.finfo(x.dtype).max:g}] for input dtype {name_of(x)}, "
            f"but found {lambd:g}"
        )
    return x - np.clip(x, -lambd, lambd)


softshrink.grad(self=_shrink_grad)
derivative(softshrink, "SoftshrinkBackwardBackward0", self=_flat)


@pointwise()
def rrelu_with_noise(self: Array, noise: Array, /) -> Array:
    """Return x times its slope; the slopes are 1 above 0 and drawn (or their mean) below."""
    return self * noise


rrelu_with_noise.grad(self=lambda g, self, noise: g * noise)

# ---- exponential and logistic -------------------------------------------------------------------


@pointwise(node="EluBackwardBackward0")
@threads.blockwise
def elu_backward(
    grad_output: Array, self: Array, /, alpha: float, scale: float, input_scale: float
) -> Array:
    """Return the gradient of the input of ``elu`` and ``celu``, unrounded by their results."""
    below = np.minimum(self, _zero(self))
    slope = np.exp(below if input_scale == 1 else below * input_scale)
    if input_scale * alpha != 1:
        slope = pick(self > 0, np.ones((), self.dtype), slope * (input_scale * alpha))
    return grad_output * (slope if scale == 1 else slope * scale)


elu_backward.grad(
    grad_output=lambda g, self, alpha, scale, input_scale: elu_backward(
        g, self, alpha, scale, input_scale
    ),
    self=lambda g, grad_output, self, alpha, scale, input_scale: where(
        self >= 0,
        0.0,
        g * grad_output * exp(self * input_scale) * (input_scale * input_scale * alpha * scale),
    ),
)


@pointwise()
@threads.blockwise
def elu(self: Array, /, alpha: float, scale: float, input_scale: float) -> Array:
    """Return ``scale * x`` above 0 and ``scale * alpha * (exp(input_scale * x) - 1)`` below."""
    x = _floating(self, "elu_cpu")
    if x.dtype is HALF:
        return in_single(elu, x, alpha, scale, input_scale)
    below = np.expm1(np.minimum(x, _zero(x)) * input_scale)
    return pick(x < 0, below * (alpha * scale), x * scale)


elu.grad(
    self=lambda g, self, alpha, scale, input_scale: elu_backward(
        g, self, alpha, scale, input_scale
    ),
)


@pointwise(node="CeluBackward0")
@threads.blockwise
def celu(self: Array, /, alpha: float) -> Array:
    """Return x above 0 and ``alpha * (exp(x / alpha) - 1)`` below."""
    x = _floating(self, "elu_cpu")
    if x.dtype is HALF:
        return in_single(celu, x, alpha)
    return pick(x < 0, np.expm1(np.minimum(x, _zero(x)) / alpha) * alpha, x)


celu.grad(self=lambda g, self, alpha: elu_backward(g, self, alpha, 1.0, 1 / alpha))


@pointwise()
@threads.blockwise
def softplus(self: Array, /, beta: float, threshold: float) -> Array:
    """Return ``log(1 + exp(beta * x)) / beta``, or x itself where ``beta * x > threshold``."""
    x = _floating(self, "softplus_cpu")
    if x.dtype is HALF:
        return in_single(softplus, x, beta, threshold)
    scaled = x * beta
    linear = scaled > threshold
    return pick(linear, x, np.log1p(np.exp(pick(linear, _zero(x), scaled))) / beta)


softplus.grad(
    self=threads.blockwise(
        lambda g, self, beta, threshold: where(self * beta > threshold, g, g * sigmoid(self * beta))
    )
)


def _softplus_second(g: Any, grad_output: Any, self: Any, beta: float, threshold: float) -> Any:
    z = sigmoid(self * beta)
    return where(self * beta >= threshold, 0.0, g * grad_output * (z * (1 - z) * beta))


derivative(softplus, "SoftplusBackwardBackward0", self=_softplus_second)


@pointwise(node="LogSigmoidBackward0")
@threads.blockwise
def log_sigmoid(self: Array, /) -> Array:
    """Return the logarithm of the logistic function, exact for large negative x."""
    x = _floating(self, "log_sigmoid_cpu")
    return np.minimum(x, _zero(x)) - np.log1p(np.exp(-np.abs(x)))


log_sigmoid.grad(self=threads.blockwise(lambda g, self: g * sigmoid(-self)))


def _log_sigmoid_second(g: Any, grad_output: Any, self: Any) -> Any:
    z = sigmoid(self)
    return g * grad_output * (z * (z - 1))


derivative(log_sigmoid, "LogSigmoidBackwardBackward0", self=_log_sigmoid_second)


@pointwise(complex=True)
@threads.blockwise
def silu(self: Array, /) -> Array:
    """Return x times the logistic function of x."""
    if self.dtype.kind == "c":
        return self * sigmoid(self)
    if _floating(self, "silu_cpu").dtype is HALF:
        return in_single(silu, self)
    below = np.negative(self, out=np.empty_like(self))
    np.exp(below, out=below)
    below += 1
    return np.divide(self, below, out=below)


@threads.blockwise
def _silu_grad(g: Any, self: Any) -> Any:
    s = sigmoid(self)
    if isinstance(g, Tensor):
        return g * (s * (1 + self * (1 - s)))
    slope = 1 - s
    slope *= self
    slope += 1
    slope *= s
    slope *= g
    return slope


silu.grad(self=_silu_grad)


def _log1p_exp(x: Array) -> Array:
    """Return ``log(1 + exp(x))`` without overflow."""
    return np.maximum(x, _zero(x)) + np.log1p(np.exp(-np.abs(x)))


@pointwise()
@threads.blockwise
def mish(self: Array, /) -> Array:
    """Return ``x * tanh(log(1 + exp(x)))``."""
    return self * np.tanh(_log1p_exp(_floating(self, "mish_cpu")))


@threads.blockwise
def _mish_grad(g: Any, self: Any) -> Any:
    t = tanh(softplus(self, 1.0, 20.0))
    return g * (t + self * sigmoid(self) * (1 - t * t))


mish.grad(self=_mish_grad)

# ---- gated --------------------------------------------------------------------------------------


@operation(hidden=("gate",), order="iterated")
def glu(self: Array, /, dim: int) -> tuple[Array, Array]:
    """Return the first half of x times the logistic function of the second half.

    An operation for speed: its derivative is written into one array, where a composite would join
    the gradients of two slices.
    """
    if self.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {self.shape[dim]}"
        )
    one, other = np.split(_floating(self, "glu_cpu"), 2, dim)
    gate = sigmoid(other)
    return one * gate, gate


def _glu_grad(g: Any, self: Any, gate: Any, dim: int) -> Any:
    one = cut(self, dim, slice(0, self.shape[dim] // 2))
    passed = g * gate
    return cat([passed, passed * (1 - gate) * one], dim)


def _glu_second(g: Any, grad_output: Any, self: Any, dim: int) -> Any:
    half = self.shape[dim] // 2
    lower, upper = slice(0, half), slice(half, None)
    one, gate = cut(self, dim, lower), sigmoid(cut(self, dim, upper))
    slope = grad_output * (gate * (1 - gate))
    to_one, to_other = cut(g, dim, lower) * slope, cut(g, dim, upper) * slope
    return cat([to_other, to_one + to_other * one * (1 - 2 * gate)], dim)


def _glu_passed(g: Any, self: Any, dim: int) -> Any:
    """Return the derivative with respect to the gradient, of half the size."""
    half = self.shape[dim] // 2
    lower, upper = slice(0, half), slice(half, None)
    one, gate = cut(self, dim, lower), sigmoid(cut(self, dim, upper))
    return (cut(g, dim, lower) + cut(g, dim, upper) * one * (1 - gate)) * gate


glu.grad(self=_glu_grad)
derivative(glu, "GluBackwardBackward0", self=_glu_second, grad_output=_glu_passed)
