"""Filling a tensor with one value, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.inplace import run_inplace
from tinynet.core.operation import operation, public
from tinynet.core.tensor import Tensor
from tinynet.dtypes import Array


@operation(methods=False)
def zeros_instead(self: Array, /) -> Array:
    """Return zeros, which depend on nothing."""
    return np.zeros_like(self)


@operation(methods=False, node="FillBackward2")
def filled(self: Array, /, value: Any) -> Array:
    """Return the shape of ``self`` full of one value."""
    return np.full(self.shape, value, self.dtype)


filled.grad(self=lambda g: zeros_instead(g))


@operation(methods=False, node="FillBackward3")
def filled_with(self: Array, value: Array, /) -> Array:
    """Return the shape of ``self`` full of the value of a 0-d tensor."""
    return np.full(self.shape, value, self.dtype)


filled_with.grad(self=lambda g: zeros_instead(g), value=lambda g: g)


@operation(methods=False, node="ZeroBackward0")
def zeroed(self: Array, /) -> Array:
    """Return the shape of ``self`` full of zeros."""
    return np.zeros(self.shape, self.dtype)


zeroed.grad(self=lambda g: zeros_instead(g))


@public
def fill_(self: Tensor, value: Tensor | float) -> Tensor:
    """Write one value to this tensor and return it."""
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise RuntimeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value._array.ndim} dimensions."
            )
        return run_inplace(filled_with, self, (value,), {}, what="fill_", constant=True)
    if not isinstance(value, (int, float, np.generic)):
        raise TypeError(
            f"fill_(): argument 'value' (position 1) must be Number, not {type(value).__name__}"
        )
    return run_inplace(filled, self, (value,), {}, what="fill_", constant=True)


@public
def zero_(self: Tensor) -> Tensor:
    """Write zeros to this tensor and return it."""
    return run_inplace(zeroed, self, (), {}, what="zero_", constant=True)
