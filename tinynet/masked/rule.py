"""The rule of ``torch.masked``: the identity replaces the elements that the mask excludes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from tinynet import dtypes, ops
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import DtypeLike
from tinynet.ops.reduction.sums import Dims


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
