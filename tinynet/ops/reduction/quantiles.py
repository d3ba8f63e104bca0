"""Quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.declaration.operation import public
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.ops.argument_errors import refuse_others
from tinynet.ops.argument_names import as_declared
from tinynet.ops.indexing.gather import gather
from tinynet.ops.out_dtypes import same_dtype
from tinynet.ops.pointwise.rounding import ceil, floor, round
from tinynet.ops.reduction.sorting import sort
from tinynet.ops.shaping.views import axis_of

_SAME_DTYPE = same_dtype("quantile() out tensor must be same dtype as the input tensor")

_ROUNDINGS = {"lower": floor, "higher": ceil, "nearest": round, "linear": floor, "midpoint": floor}


def _share(name: str, self: Tensor, q: Any, interpolation: str) -> Tensor:
    """Return q as a tensor; errors name ``quantile``, as in PyTorch."""
    refuse_others(name, self=self)
    if self._array.dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = wrap(np.asarray(q, self._array.dtype))
    if q._array.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if q._array.dtype != self._array.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if q._array.size and not ((q._array >= 0) & (q._array <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    if interpolation not in _ROUNDINGS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    return q


def _ranks(ordered: Tensor, q: Tensor, skip: bool) -> Tensor:
    """Return the ranks of the quantiles among the sorted elements, one per row and q."""
    missing = np.isnan(ordered._array)
    last = ordered._array.shape[-1] - 1
    if skip:
        valid = np.maximum(last - missing.sum(-1, keepdims=True), 0)
        return q * wrap(valid.astype(ordered._array.dtype))
    ranks = (q * last).expand((*ordered._array.shape[:-1], q._array.size))
    return ranks.masked_fill(wrap(np.asarray(missing.any(-1, keepdims=True))), last)


def _quantile(
    name: str, self: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    share = _share(name, self, q, interpolation)
    shape = self._array.shape
    axis = None if dim is None else axis_of(dim, len(shape))
    if self._array.size == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    rows = self.reshape(-1) if axis is None or not shape else self.movedim(axis, -1)
    ordered = sort.function(rows, -1)[0]
    ranks = _ranks(ordered, share.reshape(-1), name == "nanquantile")
    below = _ROUNDINGS[interpolation].function(ranks)
    found = gather(ordered, -1, below.long())
    if interpolation in ("linear", "midpoint"):
        above = gather(ordered, -1, ceil.function(ranks).long())
        found = found.lerp(above, ranks - below if interpolation == "linear" else 0.5)
    found = found.movedim(-1, 0)
    if keepdim:
        kept = [1 if axis is None or d == axis else n for d, n in enumerate(shape)]
        found = found.reshape((-1, *kept))
    return found if share._array.ndim else found.squeeze(0)


def _declare(declared: Any) -> Any:
    """Declare a function of quantiles."""

    def function(
        self: Tensor,
        q: float | Tensor,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        return _quantile(declared.__name__, self, q, dim, keepdim, interpolation)

    return public(as_declared(function, declared), out=_SAME_DTYPE, autocast="float32")


@_declare
def quantile() -> Tensor:
    """Return the q-th quantiles; NaN if any element is NaN.

    ``"linear"``: ``x[i] + (x[i + 1] - x[i]) * f`` of the n sorted elements, where
    ``i + f = q * (n - 1)`` with an integer i and a fraction f.

    Args:
        q: a number from 0 to 1, or a tensor of several, which become the first dimension.
        dim: the dimension; all elements by default.
        keepdim: keep the dimension with length 1.
        interpolation: how to interpolate between two elements: ``"linear"``, ``"lower"``,
            ``"higher"``, ``"midpoint"`` or ``"nearest"``.

    Raises:
        RuntimeError: q is out of range; the tensor is empty, or neither float32 nor float64.

    Example:
        >>> tn.tensor([1.0, 2.0, 3.0, 4.0]).quantile(0.5)
        tensor(2.5000)
    """


@_declare
def nanquantile() -> Tensor:
    """Return the quantiles, ignoring NaN; see ``quantile`` for the arguments.

    Example:
        >>> tn.tensor([1.0, float("nan"), 3.0]).nanquantile(0.5)
        tensor(2.)
    """
