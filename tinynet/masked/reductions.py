"""Sums, products, extrema and norms of the elements that a mask selects."""

from __future__ import annotations

import math
from typing import Any

from tinynet import dtypes, ops
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import DtypeLike
from tinynet.masked.rule import filled, reduction
from tinynet.ops import linalg
from tinynet.ops.reduction.sums import Dims, axes_of


@reduction(0)
def sum(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the sum of the elements that the mask selects.

    Example:
        >>> tn.masked.sum(tn.tensor([1.0, 2.0, 4.0]), mask=tn.tensor([True, False, True]))
        tensor(5.)
    """
    return ops.sum(x, dim, keepdim, dtype=dtype)


@reduction(1)
def prod(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the product of the elements that the mask selects.

    Example:
        >>> tn.masked.prod(tn.tensor([3.0, 2.0, 4.0]), mask=tn.tensor([True, False, True]))
        tensor(12.)
    """
    x = x.to(dtype or (x.dtype if dtypes.is_inexact(x._array.dtype) else dtypes.int64))
    for axis in reversed(axes_of(dim, x.ndim)):
        x = ops.prod(x, axis, keepdim)
    return x


@reduction(-math.inf)
def amax(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the largest element that the mask selects.

    Example:
        >>> tn.masked.amax(tn.tensor([1, 9, 4]), mask=tn.tensor([True, False, True]))
        tensor(4)
    """
    return ops.amax(x, axes_of(dim, x.ndim), keepdim)


@reduction(math.inf)
def amin(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the smallest element that the mask selects.

    Example:
        >>> tn.masked.amin(tn.tensor([3, 0, 4]), mask=tn.tensor([True, False, True]))
        tensor(3)
    """
    return ops.amin(x, axes_of(dim, x.ndim), keepdim)


@reduction(-math.inf)
def logsumexp(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the logarithm of the sum of exponentials of the elements that the mask selects.

    Example:
        >>> tn.masked.logsumexp(tn.zeros(3), 0, mask=tn.tensor([True, False, True]))
        tensor(0.6931)
    """
    return ops.logsumexp(x, axes_of(dim, x.ndim), keepdim).to(dtype or x.dtype)


@reduction(-math.inf)
def argmax(x: Tensor, dim: Any, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the index of the largest element that the mask selects, in the dtype of the input.

    Example:
        >>> tn.masked.argmax(tn.tensor([1, 9, 4]), mask=tn.tensor([True, False, True]))
        tensor(2)
    """
    return ops.argmax(x, dim, keepdim).to(dtype or x.dtype)


@reduction(math.inf)
def argmin(x: Tensor, dim: Any, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the index of the smallest element that the mask selects, in the dtype of the input.

    Example:
        >>> tn.masked.argmin(tn.tensor([3, 0, 4]), mask=tn.tensor([True, False, True]))
        tensor(0)
    """
    return ops.argmin(x, dim, keepdim).to(dtype or x.dtype)


def norm(
    input: Tensor,
    ord: float = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DtypeLike = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Return the vector norm of the elements that the mask selects.

    Args:
        input: a tensor.
        ord: the order of the norm, as for ``linalg.vector_norm``.
        dim: the dimension or dimensions; all by default.
        keepdim: keep the reduced dimensions with length 1.
        dtype: the dtype of the result; by default the input's, or int64 for sums and products
            of shorter integers.
        mask: True for the elements that count; it broadcasts to the shape of ``input``.

    Raises:
        IndexError: a dimension is out of range, or the mask has more dimensions than ``input``.
        RuntimeError: the input is not floating-point.

    Example:
        >>> tn.masked.norm(tn.tensor([3.0, 2.0, 4.0]), mask=tn.tensor([True, False, True]))
        tensor(5.)
    """
    x = filled(input, mask, math.inf if ord == -math.inf else 0)
    return linalg.vector_norm(x, ord, axes_of(dim, input.ndim), bool(keepdim), dtype=dtype)
