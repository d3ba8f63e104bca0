"""The affine map, ``x @ weight.T + bias``.

It is an operation of its own for speed: as a composite (transpose, product, sum) it would cost
three nodes and a temporary, for what is most of the work of most models.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinynet.core.operation import operation
from tinynet.core.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops.products import matmul, mm
from tinynet.ops.refuse import c_name, name_of
from tinynet.ops.shape import reshape

# ---- operations ---------------------------------------------------------------------------------


def _rows(x: Any) -> Any:
    """Return an array or tensor of any shape as a matrix with the same last dimension."""
    return x if x.ndim == 2 else reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))


def _product(input: Array, weight: Array) -> Array:
    """Return ``input @ weight.T``."""
    flat = _rows(input)
    if flat.shape[1] != weight.shape[1]:
        outputs, inputs = weight.shape
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({flat.shape[0]}x{flat.shape[1]} and "
            f"{inputs}x{outputs}).\n  The last dimension of the input must be {inputs}, that of "
            f"the weight {list(weight.shape)}. Got an input of shape {list(input.shape)} instead."
        )
    product = np.dot(flat, weight.T)
    return product if input.ndim == 2 else product.reshape(*input.shape[:-1], weight.shape[0])


@operation(node="MmBackward0", methods=False)
def linear_map(input: Array, weight: Array, /) -> Array:
    """Return ``input @ weight.T``; the weight is ``[outputs, inputs]``."""
    if input.dtype != weight.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{c_name(input)} != {c_name(weight)}"
        )
    return _product(input, weight)


linear_map.grad(
    input=lambda g, weight: linear_map(g, weight.T),
    weight=lambda g, input: mm(_rows(g).T, _rows(input)),
)


@operation(node="AddmmBackward0", methods=False)
def affine_map(input: Array, weight: Array, bias: Array, /) -> Array:
    """Return ``input @ weight.T + bias``; the weight is ``[outputs, inputs]``."""
    for name, other in (("mat1", input), ("self", bias)):
        if other.dtype != weight.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {name_of(other)} and "
                f"{name_of(weight)}"
            )
    product = _product(input, weight)
    if bias.shape[-1:] not in ((), (1,), weight.shape[:1]):
        raise RuntimeError(
            f"The expanded size of the tensor ({weight.shape[0]}) must match the existing size "
            f"({bias.shape[-1]}) at non-singleton dimension 1.  Target sizes: "
            f"{[math.prod(input.shape[:-1]), weight.shape[0]]}.  Tensor sizes: {list(bias.shape)}"
        )
    product += bias
    return product


affine_map.grad(
    input=lambda g, weight: linear_map(g, weight.T),
    weight=lambda g, input: mm(_rows(g).T, _rows(input)),
    bias=lambda g: g,
)

# ---- the function -------------------------------------------------------------------------------


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``input @ weight.T + bias``.

    Args:
        input: ``[..., inputs]``.
        weight: ``[outputs, inputs]`` or ``[inputs]``.
        bias: ``[outputs]``, or None.

    Raises:
        RuntimeError: shapes or dtypes do not fit.

    Example:
        >>> F.linear(tn.ones(2, 3), tn.ones(1, 3), tn.ones(1))
        tensor([[4.],
                [4.]])
    """
    tensor_only("linear", input=input, weight=weight)
    if not input.ndim or not weight.ndim:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{input.ndim}D and {weight.ndim}D"
        )
    if weight.ndim == 2:
        if bias is None:
            if input.ndim == 1:
                return matmul(input, weight.t())
            return linear_map.function(input, weight)
        return affine_map.function(input, weight, bias)
    if weight.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D")
    product: Tensor = matmul(input, weight)
    return product if bias is None else product + bias
