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
from tinynet.kernels import threads
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.kernels.sums import row_dots, row_sums, sums
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


def _below_top(x: Array, axis: int, out: Array) -> None:
    """Subtract the maximum along an axis, so that exp cannot overflow."""
    np.subtract(x, largest(x, axis=axis, keepdims=True), out=out)


def _totals(x: Array, axis: int) -> Array:
    """Return the sums along an axis, kept with length 1."""
    if x.size <= _FEW:
        return np.add.reduce(x, axis=axis, keepdims=True)
    if x.ndim == 2 and axis == 1:
        return row_sums(x).astype(x.dtype, copy=False)[:, None]
    return sums(x, (axis,), True)


def _summed_products(a: Array, b: Array, axis: int) -> Array:
    """Return the sums of products along an axis, kept with length 1."""
    return row_dots(a, b)[:, None] if a.ndim == 2 and axis == 1 else sums(a * b, (axis,), True)


# Half of exp's range: sums and quotients of the exponentials cannot overflow either.
_FEW = 256  # elements: calls cost more than the sums of numpy that rows of more would avoid
SAFE = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 300.0}


def _write_softmax(x: Array, axis: int, out: Array) -> None:
    """Write the exponentials, divided by their sum.

    If no element is far from zero, exp neither overflows nor underflows, which saves the passes
    that find and subtract the maximum of each row. (The comparison is False for NaN.)
    """
    span = SAFE.get(x.dtype, 0.0)
    if x.size <= _FEW:
        flat = x.reshape(-1)
        is_near = flat.dot(flat) < span * span
    else:
        is_near = span and largest(x, axis=None) < span and smallest(x, axis=None) > -span
    if is_near:
        np.exp(x, out=out)
    else:
        _below_top(x, axis, out)
        np.exp(out, out=out)
    np.divide(out, _totals(out, axis), out=out)


def _write_softmax_slope(g: Array, y: Array, axis: int, out: Array) -> None:
    np.subtract(g, _summed_products(g, y, axis), out=out)
    np.multiply(out, y, out=out)


def _write_log_softmax(x: Array, axis: int, out: Array) -> None:
    _below_top(x, axis, out)
    np.subtract(out, np.log(_totals(np.exp(out), axis)), out=out)


def _write_log_softmax_slope(g: Array, y: Array, axis: int, out: Array) -> None:
    np.exp(y, out=out)
    np.multiply(out, _totals(g, axis), out=out)
    np.subtract(g, out, out=out)


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
    if x.size <= _FEW:
        out = np.empty(x.shape, x.dtype)
        _write_softmax(x, axis, out)
        return out
    return threads.row_blocks(_write_softmax, x, axis=axis)


@operation(node="SoftmaxBackwardDataBackward0")
def softmax_backward(self: Array, result: Array, /, dim: int) -> Array:
    """Return the gradient of softmax: ``y * (g - sum(g * y))``."""
    axis = axis_of(dim, self.ndim)
    if self.dtype is HALF:
        return in_single(softmax_backward, self, result, axis)
    if self.ndim == 0 or self.size == 0:
        return result * (self - self * result)
    return threads.row_blocks(_write_softmax_slope, self, result, axis=axis)


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
    return threads.row_blocks(_write_log_softmax, x, axis=axis)


@operation(node="LogSoftmaxBackwardDataBackward0")
def log_softmax_backward(self: Array, result: Array, /, dim: int) -> Array:
    """Return the gradient of log_softmax: ``g - exp(y) * sum(g)``."""
    axis = axis_of(dim, self.ndim)
    if self.dtype is HALF:
        return in_single(log_softmax_backward, self, result, axis)
    if self.ndim == 0 or self.size == 0:
        return self - np.exp(result) * self
    return threads.row_blocks(_write_log_softmax_slope, self, result, axis=axis)


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
