"""Filling tensors with a value, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import seams
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.pointwise.where import zeros_for


@operation(complex=True, order="iterated")
def zeros_instead(self: Array, /) -> Array:
    """Return zeros without dependency on the input."""
    return np.zeros_like(self)


@operation(node="FillBackward2", complex=True, order="iterated")
def filled(self: Array, /, value: Any) -> Array:
    """Return a tensor like ``self``, filled with a number."""
    return np.full(self.shape, dtypes.representable(value, self.dtype), self.dtype)


filled.assigns = lambda whole, value: dtypes.representable(value, whole.dtype)
filled.grad(self=lambda g: zeros_instead(g))


@operation(node="FillBackward3", complex=True, order="iterated")
def filled_with(self: Array, value: Array, /) -> Array:
    """Return a tensor like ``self``, filled with the value of a 0-d tensor."""
    return np.full(self.shape, value, self.dtype)


filled_with.grad(self=lambda g: zeros_instead(g), value=lambda g: g)


@operation(node="ZeroBackward0", complex=True, order="iterated")
def zeroed(self: Array, /) -> Array:
    """Return a tensor like ``self``, filled with zeros."""
    return np.zeros(self.shape, self.dtype)


zeroed.assigns = lambda whole: 0
zeroed.grad(self=lambda g: zeros_instead(g))


seams.out_of_place.update(fill_="full_like({0}, ...)", zero_="zeros_like({0})")


@composite(function=True)
def fill_(self: Tensor, value: Tensor | float) -> Tensor:
    """Fill this tensor with one value and return it."""
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise RuntimeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value._array.ndim} dimensions."
            )
        if value._array.dtype.kind == "c" and self._array.dtype.kind not in "cb":
            value = value.to(self.dtype)  # which warns
        return in_place(filled_with, "fill_", constant=True)(self, value)
    if not isinstance(value, (int, float, complex, np.generic)):
        raise TypeError(
            f"fill_(): argument 'value' (position 1) must be Number, not {type(value).__name__}"
        )
    return in_place(filled, "fill_", constant=True)(self, value)


@operation(public=True, node="FillBackward0", complex=True, order="iterated")
def fill(self: Array, /, value: float) -> Array:
    """Return a tensor of the same shape and dtype, filled with one value.

    Raises:
        ValueError: the value is neither a number nor a 0-d tensor.

    Example:
        >>> tn.fill(tn.zeros(2), 3)
        tensor([3., 3.])
    """
    return np.full(self.shape, value, self.dtype)


fill.grad(self=zeros_for)


@composite
def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Fill the main diagonal of this tensor with one value and return the tensor.

    Args:
        wrap: start again below the end of the diagonal of a tall matrix.

    Raises:
        RuntimeError: fewer than two dimensions, or more than two of different sizes.

    Example:
        >>> tn.zeros(2, 2).fill_diagonal_(1)
        tensor([[1., 0.],
                [0., 1.]])
    """
    if self._array.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self._array.ndim > 2 and len(set(self._array.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    return in_place(diagonal_filled, "fill_diagonal_")(self, fill_value, wrap)


@operation(node="FillBackward2", complex=True)
def diagonal_filled(self: Array, /, value: float, wrap: bool) -> Array:
    """Return a copy with one value on the main diagonal."""
    whole = np.array(self, order="C")
    np.fill_diagonal(whole, dtypes.representable(value, self.dtype), wrap)
    return whole


diagonal_filled.grad(self=lambda g, wrap: diagonal_filled(g, 0.0, wrap))


@composite(checks=True, function=True)
def zero_(self: Tensor) -> Tensor:
    """Fill this tensor with zeros and return it.

    Raises:
        RuntimeError: the tensor is a leaf that requires grad.

    Example:
        >>> tn.ones(2).zero_()
        tensor([0., 0.])
    """
    return in_place(zeroed, "zero_", constant=True)(self)
