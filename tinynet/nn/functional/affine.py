"""The affine map, ``x @ weight.T + bias``, and the bilinear map.

The affine map is an operation for speed: the composite (transpose, product, sum) would cost three
nodes and a temporary, and it is most of the work of many models.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from tinynet import errors
from tinynet.core.declaration.operation import operation
from tinynet.core.declaration.out_argument import written
from tinynet.core.graph.node import Edge, Node
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.kernels.sums import column_sums
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops.arguments import EXPECTED, c_name, name_of
from tinynet.ops.products.matmul import gemm, matmul, mm

__all__ = ["linear", "bilinear"]

# ---- operations ---------------------------------------------------------------------------------


def _rows(x: Any) -> Any:
    """Return an array or tensor of any shape as a matrix with the same last dimension."""
    return x if x.ndim == 2 else x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


def _product(input: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return ``input @ weight.T``, plus the bias if it is given."""
    shape = input.shape
    flat = input if len(shape) == 2 else input.reshape(math.prod(shape[:-1]), shape[-1])
    if flat.shape[1] != weight.shape[1]:
        outputs, inputs = weight.shape
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({flat.shape[0]}x{flat.shape[1]} and "
            f"{inputs}x{outputs})\n  The last dimension of the input must be {inputs}, that of "
            f"the weight {list(weight.shape)}. Got an input of shape {list(input.shape)} instead."
        )
    product = gemm(flat, weight.T, bias)
    return product if flat is input else product.reshape(shape[:-1] + product.shape[1:])


@operation(node="MmBackward0", autocast="lower", complex=True, order="")
def linear_map(input: Array, weight: Array, /) -> Array:
    """Return ``input @ weight.T``; the weight is ``[outputs, inputs]``."""
    if input.dtype != weight.dtype:
        raise errors.mixed_dtypes(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{c_name(input)} != {c_name(weight)}"
        )
    return _product(input, weight)


# The formulas below check their inputs: on arrays they bypass the operations.


def _of_input(g: Any, weight: Any) -> Any:
    if g.__class__ is not np.ndarray:
        return linear_map(g, weight.T)
    if g.ndim == 2:
        return gemm(g, weight)
    return gemm(_rows(g), weight).reshape(*g.shape[:-1], weight.shape[1])


def _of_weight(g: Any, input: Any) -> Any:
    g, x = _rows(g), _rows(input)
    return gemm(g.T, x) if g.__class__ is np.ndarray else mm(g.T, x)


def _of_bias(g: Any, bias_shape: tuple[int, ...]) -> Any:
    """Return the sum over rows by BLAS, which is faster along columns."""
    if g.__class__ is np.ndarray and g.ndim > 1 and len(bias_shape) == 1 and g.size:
        g = _rows(g)
        if g.shape[1] == bias_shape[0]:
            return column_sums(g)
    return g


linear_map.grad(input=_of_input, weight=_of_weight)


@operation(node="AddmmBackward0", autocast="lower", complex=True, order="")
def affine_map(input: Array, weight: Array, bias: Array, /) -> Array:
    """Return ``input @ weight.T + bias``; the weight is ``[outputs, inputs]``."""
    if not input.dtype == weight.dtype == bias.dtype:
        name, other = ("mat1", input) if input.dtype != weight.dtype else ("self", bias)
        raise errors.mixed_dtypes(
            f"{name} and mat2 must have the same dtype, but got {name_of(other)} and "
            f"{name_of(weight)}"
        )
    if bias.shape == weight.shape[:1]:
        return _product(input, weight, bias)
    product = _product(input, weight)
    if bias.shape[-1:] not in ((), (1,), weight.shape[:1]):
        raise RuntimeError(
            f"The expanded size of the tensor ({weight.shape[0]}) must match the existing size "
            f"({bias.shape[-1]}) at non-singleton dimension 1.  Target sizes: "
            f"{[math.prod(input.shape[:-1]), weight.shape[0]]}.  Tensor sizes: {list(bias.shape)}"
        )
    product += bias
    return product


affine_map.grad(input=_of_input, weight=_of_weight, bias=_of_bias)


class TBackward0(Node):
    """The transpose of the weight, which ``next_functions`` shows as PyTorch does."""

    __slots__ = ()
    __module__ = "tinynet.autograd"

    def __init__(self, edge: Edge):
        self.edges = (edge,)
        self.hooks = self.site = None
        self.sequence = -1


def _transposed(edge: Edge | None) -> Edge | None:
    return None if edge is None else (TBackward0(edge), 0)


linear_map.of_views = affine_map.of_views = frozenset({"weight"})
linear_map.arranged = lambda edges: (edges[0], _transposed(edges[1]))
affine_map.arranged = lambda edges: (edges[2], edges[0], _transposed(edges[1]))

# ---- the function -------------------------------------------------------------------------------


def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return ``input @ weight.T + bias``.

    Args:
        input: ``[..., inputs]``.
        weight: ``[outputs, inputs]`` or ``[inputs]``.
        bias: ``[outputs]``, or None.
        out: the tensor to write the result to.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.linear(tn.ones(2, 3), tn.ones(1, 3), tn.ones(1))
        tensor([[4.],
                [4.]])
    """
    if not (isinstance(input, Tensor) and isinstance(weight, Tensor)):
        tensor_only("linear", input=input, weight=weight)
    if out is not None:
        return cast(Tensor, written(linear, (input, weight, bias), {}, out, EXPECTED))
    dimensions = input._array.ndim
    if weight._array.ndim == 2 and dimensions:
        if bias is None:
            if dimensions == 1:
                return matmul(input, weight.t())
            return linear_map.function(input, weight)
        return affine_map.function(input, weight, bias)
    if not dimensions or not weight.ndim:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{input.ndim}D and {weight.ndim}D"
        )
    if weight.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D")
    product: Tensor = matmul(input, weight)
    return product if bias is None else product + bias


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``x1 @ W[o] @ x2 + bias[o]`` for each output o.

    Args:
        input1: ``[..., n]``.
        input2: ``[..., m]``, with the same ``...``.
        weight: ``[outputs, n, m]``.
        bias: ``[outputs]``, or None.

    Returns:
        ``[..., outputs]``.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.bilinear(tn.ones(2, 3), tn.ones(2, 4), tn.ones(1, 3, 4))
        tensor([[12.],
                [12.]])
    """
    tensor_only("bilinear", input1=input1, input2=input2, weight=weight)
    _check_bilinear(input1, input2, weight, bias)
    outputs, n, m = weight.shape
    by_second = linear(_rows(input2), weight.reshape(outputs * n, m)).reshape(-1, outputs, n)
    product = matmul(by_second, _rows(input1).unsqueeze(2))
    product = product.reshape(*input1.shape[:-1], outputs)
    return product if bias is None else product + bias


def _check_bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if not input1.ndim or not input2.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    for d, (one, other) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if one != other:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {d}: got {one} and {other}"
            )
    if weight.ndim != 3:
        raise RuntimeError(
            f"bilinear(): the weight must be [outputs, n, m]. Got {list(weight.shape)} instead."
        )
    for name, x, d in (("input1", input1, 1), ("input2", input2, 2)):
        if x.shape[-1] != weight.shape[d]:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {x.shape[-1]} but "
                f"expected {weight.shape[d]}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected "
            f"{weight.shape[0]}"
        )
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    kinds = {name: c_name(t._array) for name, t in given.items() if t is not None}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
        raise errors.mixed_dtypes(f"All tensors must have the same dtype, got {listed}")
