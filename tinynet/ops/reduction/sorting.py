"""Sorting, the k largest elements, order statistics."""

from __future__ import annotations

import bisect
import math
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.kernels.indexing import put_along, take_along
from tinynet.ops.arguments import (
    EXPECTED,
    EXPECTED_TEXT,
    as_declared,
    refuse_kinds,
    refuse_others,
    same_dtype,
    whole,
)
from tinynet.ops.indexing.gather import gather
from tinynet.ops.pointwise.rounding import ceil, floor, round
from tinynet.ops.reduction.extrema import nonempty, pair, put_back, shared_by_all
from tinynet.ops.shaping.views import axis_of

# ---- sort ---------------------------------------------------------------------------------------


def _order(self: Array, dim: int, descending: bool) -> Array:
    """Return the indices that sort along a dimension; equal elements keep their order."""
    axis = axis_of(dim, self.ndim)
    if self.ndim == 0 or not descending:
        return np.argsort(self, axis, kind="stable") if self.ndim else np.zeros((), np.int64)
    reverse = (slice(None),) * axis + (slice(None, None, -1),)
    return self.shape[axis] - 1 - np.argsort(self[reverse], axis, kind="stable")[reverse]


@operation(
    public=True,
    outputs=("values", "indices"),
    node="SortBackward0",
    result=pair("sort"),
    out=EXPECTED,
    order="preserved",
)
def sort(
    self: Array, /, dim: int = -1, descending: bool = False, stable: bool = True
) -> tuple[Array, Array]:
    """Sort along a dimension; return the sorted elements and their indices.

    The sort is always stable; NaN counts as the largest number.

    Example:
        >>> values, indices = tn.tensor([3.0, 1.0, 2.0]).sort()
        >>> indices
        tensor([1, 2, 0])
    """
    order = _order(self, dim, descending)
    return (take_along(self, order, axis_of(dim, self.ndim)) if self.ndim else self.copy()), order


@operation(public=True, order="preserved")
def argsort(self: Array, /, dim: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort the elements along a dimension.

    Example:
        >>> tn.tensor([3.0, 1.0, 2.0]).argsort()
        tensor([1, 2, 0])
    """
    return _order(self, dim, descending)


@composite(out=EXPECTED, checks=True)
def msort(self: Tensor) -> Tensor:
    """Sort along the first dimension.

    Takes any shape.

    Example:
        >>> tn.tensor([[3.0, 1.0], [2.0, 4.0]]).msort()
        tensor([[2., 1.],
                [3., 4.]])
    """
    return sort.function(self, 0)[0]


# ---- topk ---------------------------------------------------------------------------------------

_FEW = 32  # up to here, one pass per element is faster than a partition
_SMALL = 1024  # elements: up to here, sorting all of them is


def _one_by_one(self: Array, axis: int, k: int, largest: bool) -> Array | None:
    """Return the indices of the ``k`` most extreme elements; None if NaN prevents it."""
    bounds: Any = np.iinfo(self.dtype) if self.dtype.kind in "iu" else None
    ends = (-np.inf, np.inf) if bounds is None else (bounds.min, bounds.max)
    taken, find = (ends[0], np.argmax) if largest else (ends[1], np.argmin)
    rest = self.copy()
    if not largest and self.dtype.kind == "f" and np.isnan(self).any():
        return None  # argmin finds NaN first, but NaN sorts last
    found = []
    for _ in range(k):
        place = find(rest, axis=axis, keepdims=True)
        found.append(place)
        put_along(rest, place, axis, taken)
    order = np.concatenate(found, axis)
    return None if (take_along(self, order, axis) == taken).any() else order


def _is_tied(self: Array, place: Array, axis: int, chosen: Array) -> bool:
    """Return whether a partition chose from equal elements, in an order of the processor's own."""
    bound = take_along(self, place, axis)
    if self.dtype.kind == "f" and np.isnan(bound).any():
        return True
    equal: Array = self == bound
    return bool(equal.sum() > take_along(equal, chosen, axis).sum())


def _some(self: Array, axis: int, k: int, largest: bool) -> Array:
    """Return the indices of the ``k`` most extreme elements, in order; the first of equal ones."""
    n = self.shape[axis]
    if self.size > _SMALL and 0 < k <= min(_FEW, n // 4):
        order = _one_by_one(self, axis, k, largest)
        if order is not None:
            return order
    if self.size > _SMALL and 0 < k <= n // 2:
        border = n - k if largest else k - 1
        part = np.argpartition(self, border, axis)
        chosen = np.sort(np.take(part, range(n - k, n) if largest else range(k), axis), axis)
        if not _is_tied(self, np.take(part, [border], axis), axis, chosen):
            within = _order(take_along(self, chosen, axis), axis, largest)
            return take_along(chosen, within, axis)
    return _order(self, axis, largest)[(slice(None),) * axis + (slice(k),)].copy()


@operation(
    public=True,
    outputs=("values", "indices"),
    node="TopkBackward0",
    result=pair("topk"),
    out=EXPECTED,
)
def topk(
    self: Array, /, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Array, Array]:
    """Return the ``k`` largest (or smallest) elements along a dimension, sorted, and their indices.

    Raises:
        RuntimeError: ``k`` is negative or larger than the dimension.

    Example:
        >>> tn.tensor([3.0, 1.0, 2.0]).topk(2).values
        tensor([3., 2.])
    """
    axis = axis_of(dim, self.ndim)
    k = whole("k", k)
    if not 0 <= k <= (self.shape[axis] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    order = _some(self, axis, k, largest)
    return take_along(self, order, axis), order


sort.grad(self=lambda g, self_shape, indices, dim: put_back(g, self_shape, indices, dim))
topk.grad(self=lambda g, self_shape, indices, dim: put_back(g, self_shape, indices, dim))

# ---- kthvalue -----------------------------------------------------------------------------------


def _chosen(self: Array, place: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
    """Return the elements at indices (of length 1 along the axis), and the indices."""
    values = take_along(self, place, axis)
    return (values, place) if keepdim else (values.squeeze(axis), place.squeeze(axis))


@operation(
    public=True,
    outputs=("values", "indices"),
    result=pair("kthvalue"),
    out=same_dtype(
        "output values must be of same type as input",
        "output indices must be of scalar type {result}",
        apart=True,
    ),
)
def kthvalue(self: Array, /, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """Return the ``k``-th smallest elements along a dimension (from 1), and their indices.

    Raises:
        RuntimeError: ``k`` is not between 1 and the length of the dimension.

    Example:
        >>> tn.tensor([3.0, 1.0, 2.0]).kthvalue(2).values
        tensor(2.)
    """
    axis = axis_of(dim, self.ndim)
    k = whole("k", k)
    refuse_kinds("kthvalue", "b", self)
    nonempty("kthvalue", self, dim)
    if not 1 <= k <= (self.shape[axis] if self.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    place = np.take(np.argpartition(self, k - 1, axis), [k - 1], axis)
    if _is_tied(self, place, axis, place):
        place = np.take(_order(self, axis, False), [k - 1], axis)
    return _chosen(self, place, axis, keepdim)


kthvalue.grad(self=put_back)

# ---- median -------------------------------------------------------------------------------------


def _middle(name: str, self: Array, dim: int, keepdim: bool, skip: bool) -> tuple[Array, Array]:
    """Return the medians along a dimension, the lower of two; NaN propagates or is skipped."""
    axis = axis_of(dim, self.ndim)
    refuse_kinds(name, "b", self)
    nonempty(name, self, dim)
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    n = self.shape[axis]
    if self.dtype.kind != "f" or not np.isnan(self).any():
        place = np.take(np.argpartition(self, (n - 1) // 2, axis), [(n - 1) // 2], axis)
        return _chosen(self, place, axis, keepdim)
    missing = np.isnan(self)
    order = np.argsort(self, axis, kind="stable")  # NaN last
    valid = n - missing.sum(axis, keepdims=True)
    middle = (valid - 1) // 2 if skip else np.where(valid < n, valid, (n - 1) // 2)
    return _chosen(self, take_along(order, np.maximum(middle, 0), axis), axis, keepdim)


def _middle_of_all(name: str, self: Array, skip: bool) -> Array:
    refuse_kinds(name, "b", self)
    if self.size == 0:
        empty = np.nan if self.dtype.kind == "f" else np.iinfo(self.dtype).min
        return np.asarray(empty, self.dtype)
    return _middle(name, self.reshape(-1), 0, False, skip)[0]


@operation(node="MedianBackward0")
def median_all(self: Array, /) -> Array:
    """Return the median of all elements."""
    return _middle_of_all("median", self, False)


@operation(node="NanmedianBackward0")
def nanmedian_all(self: Array, /) -> Array:
    """Return the median of all elements, ignoring NaN."""
    return _middle_of_all("nanmedian", self, True)


@operation(outputs=("values", "indices"), node="MedianBackward1", result=pair("median"))
def median_dim(self: Array, /, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """Return the medians along a dimension, and their indices."""
    return _middle("median", self, dim, keepdim, False)


@operation(outputs=("values", "indices"), node="NanmedianBackward1", result=pair("nanmedian"))
def nanmedian_dim(self: Array, /, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """Return the medians along a dimension, ignoring NaN, and their indices."""
    return _middle("median", self, dim, keepdim, True)


median_all.grad(self=shared_by_all)
nanmedian_all.grad(self=shared_by_all)
median_dim.grad(self=put_back)
nanmedian_dim.grad(self=put_back)


@composite(out=same_dtype(EXPECTED_TEXT, EXPECTED_TEXT, dim=True), checks=True)
def median(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of all elements, or the medians along a dimension and their indices.

    For an even number of elements, the lower of the two in the middle; NaN if any is NaN.

    Example:
        >>> tn.tensor([4.0, 1.0, 2.0, 3.0]).median()
        tensor(2.)
    """
    return median_all.function(self) if dim is None else median_dim.function(self, dim, keepdim)


@composite(out=same_dtype(EXPECTED_TEXT, EXPECTED_TEXT, dim=True), checks=True)
def nanmedian(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median ignoring NaN: of all elements, or along a dimension with its indices.

    Example:
        >>> tn.tensor([4.0, float("nan"), 2.0, 3.0]).nanmedian()
        tensor(3.)
    """
    if dim is None:
        return nanmedian_all.function(self)
    return nanmedian_dim.function(self, dim, keepdim)


# ---- mode ---------------------------------------------------------------------------------------


def _order_around_nan(row: Array) -> Array:
    """Return the order of an insertion sort, which NaN stops: PyTorch's of up to 16 elements."""
    pairs: list[tuple[float, int]] = []
    first = 0  # after the last NaN
    for x in zip(row.tolist(), range(len(row)), strict=True):
        if math.isnan(x[0]):
            pairs.append(x)
            first = len(pairs)
        elif pairs and x < pairs[0]:
            pairs.insert(0, x)
            first += first > 0
        else:
            bisect.insort(pairs, x, first)
    return np.array([index for _, index in pairs])


@operation(
    public=True,
    outputs=("values", "indices"),
    result=pair("mode"),
    out=same_dtype(
        "expected scalar type '{result}' but got '{out}' for values output",
        "expected scalar type '{result}' but got '{out}' for indices output",
    ),
)
def mode(self: Array, /, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """Return the most frequent elements along a dimension, and the index of the last of each.

    Of several equally frequent elements, the smallest is returned. NaN equals nothing, and the
    elements before it are not sorted together with those after it.

    Example:
        >>> tn.tensor([3, 1, 1, 2]).mode().values
        tensor(1)
    """
    axis = axis_of(dim, self.ndim)
    nonempty("mode", self, dim)
    if self.ndim == 0:
        return self.copy(), np.zeros((), np.int64)
    order = _order(self, axis, False)
    ordered = take_along(self, order, axis)
    if self.dtype.kind == "f" and np.isnan(self).any():
        order = np.apply_along_axis(_order_around_nan, axis, self)
        ordered = take_along(self, order, axis)
    ordered = np.moveaxis(ordered, axis, -1)
    place = np.arange(self.shape[axis])
    starts = np.ones(ordered.shape, bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    length = place - np.maximum.accumulate(np.where(starts, place, 0), -1)
    last = np.moveaxis(length.argmax(-1, keepdims=True), -1, axis)
    return _chosen(self, take_along(order, last, axis), axis, keepdim)


mode.grad(self=put_back)


# ---- quantiles ----------------------------------------------------------------------------------
# Quantiles.


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

    return composite(as_declared(function, declared), out=_SAME_DTYPE, autocast="float32")


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
