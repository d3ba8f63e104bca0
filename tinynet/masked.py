"""Reductions and normalizations over the elements that a mask selects: ``torch.masked``.

A single rule builds them all: the identity of the operation replaces each element whose mask is
False, and the function of the same name does the rest. If the mask selects no element, the result
is the identity, or NaN if there is none.
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

# ---- reductions ---------------------------------------------------------------------------------


def _mask_of(input: Tensor, mask: Tensor | None) -> Tensor:
    """Return the mask as booleans in the input's shape."""
    if mask is None:
        return ops.ones(input.shape, dtype=dtypes.bool)
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            "input)"
        )
    return ops.broadcast_to(mask, input.shape).to(dtypes.bool)


def _filled(input: Tensor, mask: Tensor | None, identity: float) -> Tensor:
    """Return the input with the identity where the mask is False."""
    if mask is None:
        return input
    if math.isinf(identity) and not dtypes.is_inexact(input._array.dtype):
        limits = np.iinfo(input._array.dtype)
        identity = int(limits.min if identity < 0 else limits.max)
    return ops.where(_mask_of(input, mask), input, ops.full((), identity, dtype=input.dtype))


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


class _Reduction(Protocol):
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


class _Along(Protocol):
    """What type checkers see of a masked function along a dimension."""

    def __call__(
        self, input: Tensor, dim: int, *, dtype: DtypeLike = None, mask: Tensor | None = None
    ) -> Tensor: ...


def _reduction(identity: float) -> Callable[..., _Reduction]:
    """Build a reduction; ``body`` takes the filled input, ``dim``, ``keepdim`` and ``dtype``."""

    def make(body: Callable[..., Tensor]) -> _Reduction:
        def masked(
            input: Tensor,
            dim: Dims = None,
            *,
            keepdim: bool = False,
            dtype: DtypeLike = None,
            mask: Tensor | None = None,
        ) -> Tensor:
            result = body(_filled(input, mask, identity), dim, bool(keepdim), dtype)
            return result if dtype is None else result.to(dtype)

        _described(masked, body, _REDUCES)
        return masked

    return make


def _along(identity: float) -> Callable[..., _Along]:
    """Build a function along one dimension of the filled input."""

    def make(body: Callable[..., Tensor]) -> _Along:
        def masked(
            input: Tensor, dim: int, *, dtype: DtypeLike = None, mask: Tensor | None = None
        ) -> Tensor:
            return body(_filled(input, mask, identity), dim, dtype or input.dtype)

        _described(masked, body, _RUNS)
        return masked

    return make


@_reduction(0)
def sum(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the sum of the elements that the mask selects.

    Example:
        >>> tn.masked.sum(tn.tensor([1.0, 2.0, 4.0]), mask=tn.tensor([True, False, True]))
        tensor(5.)
    """
    return ops.sum(x, dim, keepdim, dtype=dtype)


@_reduction(1)
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


@_reduction(-math.inf)
def amax(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the largest element that the mask selects.

    Example:
        >>> tn.masked.amax(tn.tensor([1, 9, 4]), mask=tn.tensor([True, False, True]))
        tensor(4)
    """
    return ops.amax(x, axes_of(dim, x.ndim), keepdim)


@_reduction(math.inf)
def amin(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the smallest element that the mask selects.

    Example:
        >>> tn.masked.amin(tn.tensor([3, 0, 4]), mask=tn.tensor([True, False, True]))
        tensor(3)
    """
    return ops.amin(x, axes_of(dim, x.ndim), keepdim)


@_reduction(-math.inf)
def logsumexp(x: Tensor, dim: Dims, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the logarithm of the sum of exponentials of the elements that the mask selects.

    Example:
        >>> tn.masked.logsumexp(tn.zeros(3), 0, mask=tn.tensor([True, False, True]))
        tensor(0.6931)
    """
    return ops.logsumexp(x, axes_of(dim, x.ndim), keepdim).to(dtype or x.dtype)


@_reduction(-math.inf)
def argmax(x: Tensor, dim: Any, keepdim: bool, dtype: DtypeLike) -> Tensor:
    """Return the index of the largest element that the mask selects, in the dtype of the input.

    Example:
        >>> tn.masked.argmax(tn.tensor([1, 9, 4]), mask=tn.tensor([True, False, True]))
        tensor(2)
    """
    return ops.argmax(x, dim, keepdim).to(dtype or x.dtype)


@_reduction(math.inf)
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
    x = _filled(input, mask, math.inf if ord == -math.inf else 0)
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
    return total / ops.sum(_mask_of(input, mask), dim, bool(keepdim))


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
    kept = _mask_of(input, mask)
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
    result: Tensor = ops.nanmedian(_filled(x, mask, math.nan), dim, keepdim).values
    if not input.is_floating_point() and bool(ops.isnan(result).any()):
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return result.to(dtype or input.dtype)


# ---- along a dimension --------------------------------------------------------------------------
# Cumulative sums, softmax and others.


@_along(0)
def cumsum(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the cumulative sum of the elements that the mask selects.

    Example:
        >>> tn.masked.cumsum(tn.tensor([1.0, 2.0, 4.0]), 0, mask=tn.tensor([True, False, True]))
        tensor([1., 1., 5.])
    """
    return ops.cumsum(x, dim, dtype=dtype)


@_along(1)
def cumprod(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the cumulative product of the elements that the mask selects.

    Example:
        >>> tn.masked.cumprod(tn.tensor([3.0, 2.0, 4.0]), 0, mask=tn.tensor([True, False, True]))
        tensor([ 3.,  3., 12.])
    """
    return ops.cumprod(x, dim, dtype=dtype)


@_along(-math.inf)
def softmax(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the softmax of the elements that the mask selects, 0 elsewhere.

    Example:
        >>> tn.masked.softmax(tn.zeros(3), 0, mask=tn.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    return ops.softmax(x, dim, dtype)


@_along(-math.inf)
def log_softmax(x: Tensor, dim: int, dtype: DtypeLike) -> Tensor:
    """Return the logarithm of the softmax of the elements that the mask selects.

    Example:
        >>> tn.masked.log_softmax(tn.zeros(3), 0, mask=tn.tensor([True, False, True]))
        tensor([-0.6931,    -inf, -0.6931])
    """
    return ops.log_softmax(x, dim, dtype)


@_along(math.inf)
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
    return _filled(input, mask, 0) / length.clamp(min=eps)


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
    x, y = (_filled(t, m, -math.inf) for t, m in ((input, input_mask), (other, other_mask)))
    return ops.logaddexp(x, y).to(dtype or input.dtype)
