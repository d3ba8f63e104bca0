"""Elementwise operations on three operands: addcmul, addcdiv, lerp."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, pointwise
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.ops.arguments import c_name, name_of, refuse_others
from tinynet.ops.indexing.gather import number_as
from tinynet.ops.products.addmm import times


def _scaled(x: Array, value: float) -> Array:
    return x if value == 1 else x * number_as(value, x.dtype)


@pointwise(public=True, inplace=True, numbers=False, numbers_first=True, complex=True)
def addcmul(self: Array, tensor1: Array, tensor2: Array, /, *, value: float = 1) -> Array:
    """Return ``self + value * tensor1 * tensor2``.

    Example:
        >>> tn.addcmul(tn.ones(2), tn.tensor([1.0, 2.0]), tn.tensor([3.0, 4.0]), value=0.5)
        tensor([2.5000, 5.0000])
    """
    if self.dtype.kind == "b":
        raise NotImplementedError("\"addcmul_cpu_out\" not implemented for 'Bool'")
    if self.dtype is HALF:
        return in_single(addcmul, self, tensor1, tensor2, value=value)
    return _scaled(tensor1, value) * tensor2 + self


addcmul.grad(
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * times(tensor2, value),
    tensor2=lambda g, tensor1, value: g * times(tensor1, value),
)


@pointwise(public=True, inplace=True, numbers=False, numbers_first=True, complex=True)
def addcdiv(self: Array, tensor1: Array, tensor2: Array, /, *, value: float = 1) -> Array:
    """Return ``self + value * tensor1 / tensor2``.

    Raises:
        RuntimeError: the inputs are integers.

    Example:
        >>> tn.addcdiv(tn.ones(2), tn.tensor([1.0, 2.0]), tn.tensor([4.0, 4.0]), value=2)
        tensor([1.5000, 2.0000])
    """
    if not dtypes.is_inexact(self.dtype):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * tinynet.trunc(tensor1 / tensor2))"
            ".to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: "
            "(input + value * tensor1 / tensor2), for all dtypes."
        )
    if self.dtype is HALF:
        return in_single(addcdiv, self, tensor1, tensor2, value=value)
    return _scaled(tensor1, value) / tensor2 + self


addcdiv.grad(
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (value / tensor2),
    tensor2=lambda g, tensor1, tensor2, value: times(-g * (tensor1 / tensor2 / tensor2), value),
)

# ---- linear interpolation -----------------------------------------------------------------------


def _between(self: Array, end: Array, weight: Any) -> Array:
    """Interpolate from the nearer end, so that both ends are reached exactly."""
    if not dtypes.is_inexact(self.dtype):
        raise NotImplementedError(f"\"lerp_kernel\" not implemented for '{name_of(self)}'")
    way = end - self
    if not isinstance(weight, np.ndarray):
        return self + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))


@pointwise(node="LerpBackward0", complex=True)
def lerp_number(self: Array, end: Array, /, weight: float) -> Array:
    """Interpolate linearly between ``self`` and ``end`` with a number as weight."""
    if self.dtype is HALF:
        return in_single(lerp_number, self, end, weight)
    return _between(self, end, number_as(weight, self.dtype))


lerp_number.grad(
    self=lambda g, weight: times(g, 1 - weight), end=lambda g, weight: times(g, weight)
)


@pointwise(node="LerpBackward1", complex=True)
def lerp_tensor(self: Array, end: Array, weight: Array, /) -> Array:
    """Interpolate linearly between ``self`` and ``end`` with a tensor of weights."""
    if self.dtype is HALF:
        return in_single(lerp_tensor, self, end, weight)
    return _between(self, end, weight)


lerp_tensor.grad(
    self=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, self, end: g * (end - self),
)


def _weighted(name: str, self: Any, end: Any, weight: Any) -> Any:
    """Return the operation for this kind of weight; refuse different dtypes."""
    refuse_others(name, self=self, end=end)
    weighted = isinstance(weight, Tensor) and weight.ndim > 0  # one number may have another dtype
    tensors = {"end": end, **({"weight": weight} if weighted else {})}
    if not isinstance(weight, (Tensor, np.generic, *dtypes.type_of_number)):
        raise TypeError(
            f"{name}(): argument 'weight' must be Number or Tensor, not {type(weight).__name__}"
        )
    for argument, x in tensors.items():
        if x._array.dtype != self._array.dtype:
            wanted, got = c_name(self._array), c_name(x._array)
            raise RuntimeError(f"expected dtype {wanted} for `{argument}` but got dtype {got}")
    return lerp_tensor if isinstance(weight, Tensor) else lerp_number


@composite(out=True)
def lerp(self: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """Interpolate linearly between two tensors: ``self + weight * (end - self)``.

    Args:
        self: the result where ``weight`` is 0.
        end: the result where ``weight`` is 1.
        weight: a number, or a tensor that broadcasts with the others.

    Raises:
        RuntimeError: the dtypes differ.

    Example:
        >>> tn.lerp(tn.zeros(3), tn.ones(3), tn.tensor([0.0, 0.5, 2.0]))
        tensor([0.0000, 0.5000, 2.0000])
    """
    return _weighted("lerp", self, end, weight).function(self, end, weight)


@composite
def lerp_(self: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """Write ``self + weight * (end - self)`` to this tensor and return it."""
    op = _weighted("lerp_", self, end, weight)
    return in_place(op, "lerp_")(self, end, weight)
