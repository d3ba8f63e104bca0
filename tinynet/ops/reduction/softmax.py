"""softmax, log_softmax and logsumexp, without overflow.

For speed, the derivatives of softmax and log_softmax are separate operations with one temporary
instead of four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import operation
from tinynet.dtypes import Array, DtypeLike
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.kernels.sums import row_dots, sums
from tinynet.ops.arguments import EXPECTED, bad_dim, is_whole, name_of
from tinynet.ops.pointwise.exponential import exp
from tinynet.ops.reduction.sums import Dims, axes_of, largest, restore, smallest, sum_dims
from tinynet.ops.shaping.views import axis_of
from tinynet.ops.special_functions import special


def _floats(name: str, self: Array, dim: int, dtype: Any) -> tuple[Array, int]:
    """Return the elements in the dtype to compute in, and the axis; refuse unsuitable inputs."""
    if type(dim) is not int and (dim is True or dim is False or not is_whole(dim)):
        raise bad_dim(name, dim, several=False, overloaded=False)
    axis = axis_of(dim, self.ndim)
    if dtype is not None:
        self = self.astype(dtypes.as_numpy(dtype))
    if self.dtype.kind != "f":
        raise NotImplementedError(f"\"{name}_kernel_impl\" not implemented for '{name_of(self)}'")
    return self, axis


def _below_top(x: Array, axis: int) -> Array:
    """Subtract the maximum along an axis, so that exp cannot overflow."""
    return x - largest(x, axis=axis, keepdims=True)


# Half of exp's range: sums and quotients of the exponentials cannot overflow either.
SAFE = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 300.0}


def _powers(x: Array, axis: int) -> Array:
    """Return the exponentials, up to a common factor along the axis.

    If no element is far from zero, exp neither overflows nor underflows, which saves the passes
    that find and subtract the maximum. (The comparison is False for NaN.)
    """
    span = SAFE.get(x.dtype, 0.0)
    if span and largest(x, axis=None) < span and smallest(x, axis=None) > -span:
        return np.exp(x)
    shifted = _below_top(x, axis)
    return np.exp(shifted, out=shifted)


def _summed_products(a: Array, b: Array, axis: int) -> Array:
    """Return the sums of products along an axis, kept with length 1."""
    n = a.shape[-1]
    if axis == a.ndim - 1:
        return row_dots(a.reshape(-1, n), b.reshape(-1, n)).reshape(*a.shape[:-1], 1)
    return sums(a * b, (axis,), True)


@special()
@operation(public=True, out=EXPECTED, complex="given")
def softmax(self: Array, /, dim: int, dtype: DtypeLike = None) -> Array:
    """Return the exponentials divided by their sum along a dimension.

    Args:
        dim: the dimension along which the result sums to 1.
        dtype: the dtype to compute in.

    Raises:
        NotImplementedError: the tensor is not floating-point.

    Example:
        >>> tn.tensor([0.0, 0.0, 0.0, 0.0]).softmax(dim=0)
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    x, axis = _floats("softmax", self, dim, dtype)
    if x.dtype is HALF:
        return in_single(softmax, x, axis)
    if x.size == 0 or x.ndim == 0:
        return x - x + 1 if x.size else x.copy()
    powers = _powers(x, axis)
    powers /= sums(powers, (axis,), True)
    return powers


@operation(node="SoftmaxBackwardDataBackward0")
def softmax_backward(self: Array, result: Array, /, dim: int) -> Array:
    """Return the gradient of softmax: ``y * (g - sum(g * y))``."""
    axis = axis_of(dim, self.ndim)
    if self.dtype is HALF:
        return in_single(softmax_backward, self, result, axis)
    if self.ndim == 0 or self.size == 0:
        return result * (self - self * result)
    slope = self - _summed_products(self, result, axis)
    slope *= result
    return slope


softmax.grad(self=lambda g, result, dim: softmax_backward(g, result, dim))
softmax_backward.grad(
    self=lambda g, result, dim: softmax_backward(g, result, dim),
    result=lambda g, self, result, dim: (
        g * (self - sum_dims(self * result, dim, True)) - self * sum_dims(g * result, dim, True)
    ),
)


@special()
@operation(public=True, node="LogSoftmaxBackward0", out=EXPECTED, complex="given")
def log_softmax(self: Array, /, dim: int, dtype: DtypeLike = None) -> Array:
    """Return the logarithm of softmax, accurate even where softmax is close to 0.

    Args:
        dim: the dimension along which softmax sums to 1.
        dtype: the dtype to compute in.

    Raises:
        NotImplementedError: the tensor is not floating-point.

    Example:
        >>> tn.tensor([0.0, 1000.0]).log_softmax(dim=0)
        tensor([-1000.,     0.])
    """
    x, axis = _floats("log_softmax", self, dim, dtype)
    if x.dtype is HALF:
        return in_single(log_softmax, x, axis)
    if x.size == 0 or x.ndim == 0:
        return x - x
    shifted = _below_top(x, axis)
    shifted -= np.log(sums(np.exp(shifted), (axis,), True))
    return shifted


@operation(node="LogSoftmaxBackwardDataBackward0")
def log_softmax_backward(self: Array, result: Array, /, dim: int) -> Array:
    """Return the gradient of log_softmax: ``g - exp(y) * sum(g)``."""
    axis = axis_of(dim, self.ndim)
    if self.dtype is HALF:
        return in_single(log_softmax_backward, self, result, axis)
    if self.ndim == 0 or self.size == 0:
        return self - np.exp(result) * self
    slope = np.exp(result)
    slope *= sums(self, (axis,), True)
    return np.subtract(self, slope, out=slope)


log_softmax.grad(self=lambda g, result, dim: log_softmax_backward(g, result, dim))
log_softmax_backward.grad(
    self=lambda g, result, dim: g - sum_dims(g * exp(result), dim, True),
    result=lambda g, self, result, dim: -g * exp(result) * sum_dims(self, dim, True),
)


@special()
@operation(public=True, complex=True)
def logsumexp(self: Array, /, dim: Dims, keepdim: bool = False) -> Array:
    """Return the logarithm of the sum of exponentials over the dimensions, without overflow.

    The derivative is softmax: ``exp(x - logsumexp(x))``.

    Example:
        >>> tn.tensor([1000.0, 1000.0]).logsumexp(dim=0)
        tensor(1000.6932)
    """
    if not dtypes.is_inexact(self.dtype):
        self = self.astype(dtypes.default_float())
    axes = axes_of(dim, self.ndim, "logsumexp", False)
    top = largest(self.real, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isinf(top), 0, top).astype(top.dtype)
    found = np.log(sums(np.exp(self - top), axes, True)) + top
    return found if keepdim else found.reshape(_left(self.shape, axes))


def _left(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for d, n in enumerate(shape) if d not in axes)


logsumexp.grad(
    self=lambda g, self, self_shape, result, dim, keepdim: (
        restore(g, self_shape, dim, keepdim) * exp(self - restore(result, self_shape, dim, keepdim))
    )
)
