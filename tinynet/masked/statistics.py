"""Means, variances and medians of the elements that a mask selects."""

from __future__ import annotations

import math

from tinynet import dtypes, ops
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import DtypeLike
from tinynet.masked.reductions import sum
from tinynet.masked.rule import filled, mask_of
from tinynet.ops.reduction.sums import Dims


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DtypeLike = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Return the mean of the elements that the mask selects; NaN for no elements.

    Args:
        input: a tensor.
        dim: the dimension, or several where supported; all by default.
        keepdim: keep the reduced dimensions with length 1.
        dtype: the dtype of the result; by default the input's, or int64 for sums and products
            of shorter integers.
        mask: True for the elements that count; it broadcasts to the shape of ``input``.

    Raises:
        IndexError: a dimension is out of range, or the mask has more dimensions than ``input``.
        RuntimeError: a dimension appears twice.
        ValueError: the dtype is not floating-point.

    Example:
        >>> tn.masked.mean(tn.tensor([1.0, 2.0, 4.0]), mask=tn.tensor([True, False, True]))
        tensor(2.5000)
    """
    kind = dtype or input.dtype
    if not dtypes.is_inexact(dtypes.as_numpy(kind)):
        source = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point "
            f"or complex dtype. Got: {kind}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=kind, mask=mask)
    return total / ops.sum(mask_of(input, mask), dim, bool(keepdim))


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: DtypeLike = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Return the variance of the elements that the mask selects.

    The variance is the sum of the squared distances from the mean, divided by the number of
    elements minus ``correction``.

    Args:
        input: a tensor.
        dim: the dimension or dimensions; all by default.
        unbiased: use a correction of 1 (the default) or 0.
        correction: subtracted from the number of elements; replaces ``unbiased``.
        keepdim: keep the reduced dimensions with length 1.
        dtype: the dtype of the result; by default the input's, or int64 for sums and products
            of shorter integers.
        mask: True for the elements that count; it broadcasts to the shape of ``input``.

    Raises:
        IndexError: a dimension is out of range, or the mask has more dimensions than ``input``.
        AssertionError: both ``unbiased`` and ``correction`` are given.

    Example:
        >>> tn.masked.var(tn.tensor([1.0, 2.0, 5.0]), mask=tn.tensor([True, False, True]))
        tensor(8.)
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    kind = dtype or (input.dtype if dtypes.is_inexact(input._array.dtype) else dtypes.float32)
    exact = kind if dtypes.is_inexact(dtypes.as_numpy(kind)) else dtypes.float32
    kept = mask_of(input, mask)
    middle = sum(input, dim, keepdim=True, dtype=kind, mask=kept) / ops.sum(kept, dim, True)
    apart = input - middle
    total = sum(apart * apart.conj(), dim, keepdim=keepdim, dtype=exact, mask=kept)
    count = ops.sum(kept, dim, bool(keepdim)).to(total.real.dtype) - correction
    return (total / count.clamp(min=0)).to(kind)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: int | None = None,
    keepdim: bool = False,
    dtype: DtypeLike = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Return the standard deviation of the elements that the mask selects: the root of ``var``.

    Args:
        input, dim, unbiased, correction, keepdim, dtype, mask: as for ``var``.

    Raises:
        IndexError: a dimension is out of range, or the mask has more dimensions than ``input``.
        AssertionError: both ``unbiased`` and ``correction`` are given.

    Example:
        >>> tn.masked.std(tn.tensor([1.0, 2.0, 5.0]), mask=tn.tensor([True, False, True]))
        tensor(2.8284)
    """
    return ops.sqrt(
        var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask)
    )


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: DtypeLike = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Return the median of the elements that the mask selects, the lower one of two.

    Args:
        input: a tensor.
        dim: the dimension to reduce.
        keepdim: keep the reduced dimension with length 1.
        dtype: the dtype of the result; by default the input's, or int64 for sums and products
            of shorter integers.
        mask: True for the elements that count; it broadcasts to the shape of ``input``.

    Raises:
        IndexError: a dimension is out of range, or the mask has more dimensions than ``input``.
        ValueError: the mask selects no element of a row of integers.

    Example:
        >>> tn.masked.median(tn.tensor([1.0, 9.0, 4.0]), mask=tn.tensor([True, False, True]))
        tensor(1.)
    """
    x = input if input.is_floating_point() else input.to(dtypes.float32)
    result: Tensor = ops.nanmedian(filled(x, mask, math.nan), dim, keepdim).values
    if not input.is_floating_point() and bool(ops.isnan(result).any()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return result.to(dtype or input.dtype)
