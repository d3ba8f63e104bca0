"""Sums, products, extrema, norms, means and variances of the elements that a mask selects.

The rule of them all: the identity of an operation replaces the elements that the mask excludes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from tinynet import dtypes, ops
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import DtypeLike
from tinynet.ops import linalg
from tinynet.ops.reduction.sums import Dims, axes_of


def mask_of(input: Tensor, mask: Tensor | None) -> Tensor:
    """Return the mask as booleans in the input's shape."""
    if mask is None:
        return ops.ones(input.shape, dtype=dtypes.bool)
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            "input)"
        )
    return ops.broadcast_to(mask, input.shape).to(dtypes.bool)


def filled(input: Tensor, mask: Tensor | None, identity: float) -> Tensor:
    """Return the input with the identity where the mask is False."""
    if mask is None:
        return input
    if math.isinf(identity) and not dtypes.is_inexact(input._array.dtype):
        limits = np.iinfo(input._array.dtype)
        identity = int(limits.min if identity < 0 else limits.max)
    return ops.where(mask_of(input, mask), input, ops.full((), identity, dtype=input.dtype))


_MASK = """\
        dtype: the dtype of the result; by default the input's, or int64 for sums and
            products of shorter integers.
        mask: True for the elements that count; it broadcasts to the shape of ``input``.

    Raises:
        IndexError: a dimension is out of range, or the mask has more dimensions than ``input``.
"""
_REDUCES = f"""
    Args:
        input: a tensor.
        dim: the dimension, or several where supported; all by default.
        keepdim: keep the reduced dimensions with length 1.
{_MASK}        RuntimeError: a dimension appears twice.
"""
_RUNS = f"""
    Args:
        input: a tensor.
        dim: the dimension.
{_MASK}"""


def _described(made: Callable[..., Tensor], body: Callable[..., Tensor], meanings: str) -> None:
    """Name a function and document it with ``body`` and the description of its arguments."""
    first, heading, example = (body.__doc__ or "").partition("\n    Example:")
    made.__name__ = made.__qualname__ = body.__name__
    made.__module__ = body.__module__
    made.__doc__ = first.rstrip() + "\n" + meanings + heading + example


class Reduction(Protocol):
    """What type checkers see of a masked reduction."""

    def __call__(
        self,
        input: Tensor,
        dim: Dims = None,
        *,
        keepdim: bool = False,
        dtype: DtypeLike = None,
        mask: Tensor | None = None,
    ) -> Tensor: ...


class Along(Protocol):
    """What type checkers see of a masked function along a dimension."""

    def __call__(
        self, input: Tensor, dim: int, *, dtype: DtypeLike = None, mask: Tensor | None = None
    ) -> Tensor: ...


def reduction(identity: float) -> Callable[..., Reduction]:
    """Build a reduction; ``body`` takes the filled input, ``dim``, ``keepdim`` and ``dtype``."""

    def make(body: Callable[..., Tensor]) -> Reduction:
        def masked(
            input: Tensor,
            dim: Dims = None,
            *,
            keepdim: bool = False,
            dtype: DtypeLike = None,
            mask: Tensor | None = None,
        ) -> Tensor:
            result = body(filled(input, mask, identity), dim, bool(keepdim), dtype)
            return result if dtype is None else result.to(dtype)

        _described(masked, body, _REDUCES)
        return masked

    return make


def along(identity: float) -> Callable[..., Along]:
    """Build a function along one dimension of the filled input."""

    def make(body: Callable[..., Tensor]) -> Along:
        def masked(
            input: Tensor, dim: int, *, dtype: DtypeLike = None, mask: Tensor | None = None
        ) -> Tensor:
            return body(filled(input, mask, identity), dim, dtype or input.dtype)

        _described(masked, body, _RUNS)
        return masked

    return make


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
