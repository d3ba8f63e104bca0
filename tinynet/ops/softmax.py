"""softmax, log_softmax and logsumexp: exponentials that do not overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.operation import operation
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.exponential import exp
from tinynet.ops.reduction import Dims, add_up, axes_of, largest, restore, sum_dims
from tinynet.ops.refuse import bad_dim, name_of
from tinynet.ops.shape import axis_of


def _shifted(name: str, self: Array, dim: int, dtype: Any) -> tuple[Array, int]:
    """Return the elements minus their maximum along a dimension, so that exp cannot overflow."""
    if type(dim) is not int:
        raise bad_dim(name, dim, False)
    axis = axis_of(dim, self.ndim)
    if dtype is not None:
        self = self.astype(dtypes.as_numpy(dtype))
    if self.dtype.kind != "f":
        raise NotImplementedError(f"\"{name}_kernel_impl\" not implemented for '{name_of(self)}'")
    if self.ndim == 0:
        return np.asarray(self - self), -1
    if self.size == 0:
        return self.copy(), axis
    return self - largest(self, axis=axis, keepdims=True), axis


@operation()
def softmax(self: Array, /, dim: int, dtype: DtypeLike = None) -> Array:
    """Return the exponentials, divided by their sum along a dimension: positive, with sum 1.

    Args:
        dim: the dimension along which the result sums to 1.
        dtype: the dtype to compute in.

    Raises:
        NotImplementedError: the tensor is not floating-point.

    Example:
        >>> tn.tensor([0.0, 0.0, 0.0, 0.0]).softmax(dim=0)
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    powers, axis = _shifted("softmax", self, dim, dtype)
    np.exp(powers, out=powers)
    if self.ndim:
        powers /= add_up(powers, axis=axis, keepdims=True)
    return powers


softmax.grad(
    self=lambda g, result, dim: result * (g - sum_dims(g * result, dim, True)),
)


@operation(node="LogSoftmaxBackward0")
def log_softmax(self: Array, /, dim: int, dtype: DtypeLike = None) -> Array:
    """Return the logarithm of softmax, exact also where softmax is close to 0.

    Args:
        dim: the dimension along which softmax sums to 1.
        dtype: the dtype to compute in.

    Raises:
        NotImplementedError: the tensor is not floating-point.

    Example:
        >>> tn.tensor([0.0, 1000.0]).log_softmax(dim=0)
        tensor([-1000.,     0.])
    """
    shifted, axis = _shifted("log_softmax", self, dim, dtype)
    if self.ndim == 0:
        return shifted
    shifted -= np.log(add_up(np.exp(shifted), axis=axis, keepdims=True))
    return shifted


log_softmax.grad(self=lambda g, result, dim: g - exp(result) * sum_dims(g, dim, True))


@operation()
def logsumexp(self: Array, /, dim: Dims, keepdim: bool = False) -> Array:
    """Return the logarithm of the sum of the exponentials over the dimensions, without overflow.

    Its derivative is softmax: ``exp(x - logsumexp(x))``.

    Example:
        >>> tn.tensor([1000.0, 1000.0]).logsumexp(dim=0)
        tensor(1000.6932)
    """
    if self.dtype.kind != "f":
        self = self.astype(dtypes.default_float())
    axes = axes_of(dim, self.ndim, "logsumexp")
    top = largest(self, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isinf(top), 0, top).astype(self.dtype)
    found = np.log(add_up(np.exp(self - top), axis=axes, keepdims=True)) + top
    return found if keepdim else found.reshape(_left(self.shape, axes))


def _left(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for d, n in enumerate(shape) if d not in axes)


logsumexp.grad(
    self=lambda g, self, self_shape, result, dim, keepdim: (
        restore(g, self_shape, dim, keepdim) * exp(self - restore(result, self_shape, dim, keepdim))
    )
)
