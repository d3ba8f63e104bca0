"""Cumulative sums, softmax and other functions along a dimension, under a mask."""

from __future__ import annotations

import math

from tinynet import ops
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import DtypeLike
from tinynet.masked.reductions import along, filled, norm


@along(0)
def cumsum(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the cumulative sum of the elements that the mask selects.

    Example:
        >>> tn.masked.cumsum(tn.tensor([1.0, 2.0, 4.0]), 0, mask=tn.tensor([True, False, True]))
        tensor([1., 1., 5.])
    """
    return ops.cumsum(x, dim, dtype=dtype)


@along(1)
def cumprod(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the cumulative product of the elements that the mask selects.

    Example:
        >>> tn.masked.cumprod(tn.tensor([3.0, 2.0, 4.0]), 0, mask=tn.tensor([True, False, True]))
        tensor([ 3.,  3., 12.])
    """
    return ops.cumprod(x, dim, dtype=dtype)


@along(-math.inf)
def softmax(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the softmax of the elements that the mask selects, 0 elsewhere.

    Example:
        >>> tn.masked.softmax(tn.zeros(3), 0, mask=tn.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    return ops.softmax(x, dim, dtype)


@along(-math.inf)
def log_softmax(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the logarithm of the softmax of the elements that the mask selects.

    Example:
        >>> tn.masked.log_softmax(tn.zeros(3), 0, mask=tn.tensor([True, False, True]))
        tensor([-0.6931,    -inf, -0.6931])
    """
    return ops.log_softmax(x, dim, dtype)


@along(math.inf)
def softmin(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the softmax of the negated elements that the mask selects, 0 elsewhere.

    Example:
        >>> tn.masked.softmin(tn.zeros(3), 0, mask=tn.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    return ops.softmax(-x, dim, dtype)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DtypeLike = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Divide the elements that the mask selects by their norm along a dimension.

    Args:
        input: a tensor.
        ord: the order of the norm, as for ``linalg.vector_norm``.
        dim: the dimension.
        eps: the smallest divisor.
        dtype: the dtype of the result; by default the input's, or int64 for sums and products
            of shorter integers.
        mask: True for the elements that count; it broadcasts to the shape of ``input``.

    Raises:
        IndexError: a dimension is out of range, or the mask has more dimensions than ``input``.

    Example:
        >>> tn.masked.normalize(tn.tensor([3.0, 2.0, 4.0]), 2, 0, mask=tn.tensor([1, 0, 1]))
        tensor([0.6000, 0.0000, 0.8000])
    """
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled(input, mask, 0) / length.clamp(min=eps)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: DtypeLike = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """Return ``log(exp(input) + exp(other))`` of the elements that the masks select.

    Args:
        input, other: tensors whose shapes broadcast.
        dtype: the dtype of the result; by default the input's.
        input_mask, other_mask: True for the elements that count.

    Raises:
        IndexError: a mask has more dimensions than its tensor.

    Example:
        >>> tn.masked.logaddexp(tn.zeros(2), tn.zeros(2), other_mask=tn.tensor([True, False]))
        tensor([0.6931, 0.0000])
    """
    x, y = (filled(t, m, -math.inf) for t, m in ((input, input_mask), (other, other_mask)))
    return ops.logaddexp(x, y).to(dtype or input.dtype)
