"""Histograms, and search among sorted boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tinynet import errors
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import wide
from tinynet.ops.arguments import name_of, refuse_others, same_dtype

_OTHER_DTYPE = (
    "tinynet.histogram: input tensor and {0} tensor should have the same dtype, but got input "
    "{{result_c}} and {0} {{out_c}}"
)
_INDICES = same_dtype(
    "tinynet.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
    "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
    "{out} and out_int32 flag is {is_int32}"
)

# ---- edges --------------------------------------------------------------------------------------


def _outer(
    values: Array, given: Sequence[float] | None, name: str, margin: float
) -> tuple[float, float]:
    """Return the outer edges, given or of the values; equal ones are moved apart."""
    low, high = given or ((float(values.min()), float(values.max())) if values.size else (0.0, 1.0))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low:g}, {high:g}] is not finite")
    return (low - margin, high + margin) if low == high else (low, high)


def _even(values: Array, bins: int, given: Sequence[float] | None, dim: int) -> Array:
    if bins <= 0:
        raise RuntimeError(
            f"tinynet.histogram(): bins must be > 0, but got {bins} for dimension {dim}"
        )
    low, high = _outer(values, given, "tinynet.histogramdd", 0.5)
    return np.linspace(low, high, bins + 1).astype(values.dtype)


def _bins_of(values: Array, edges: Array) -> tuple[Array, Array]:
    """Return the bin of each value, and whether it has one; the last bin includes its right
    edge.
    """
    at = np.searchsorted(edges, values, "right") - 1
    at = np.where(values == edges[-1], len(edges) - 2, at)
    return at, (at >= 0) & (at < len(edges) - 1)


# ---- counts -------------------------------------------------------------------------------------


@operation(public=True, out=same_dtype(_OTHER_DTYPE.format("hist")))
def histc(self: Array, /, bins: int = 100, min: float = 0, max: float = 0) -> Array:
    """Count the elements in ``bins`` equal bins from ``min`` to ``max``.

    If both are equal, the smallest and the largest element replace them. Elements outside the range
    are not counted.

    Raises:
        RuntimeError: ``bins`` is not positive, ``max`` is below ``min``, or the range is not
            finite.

    Example:
        >>> tn.histc(tn.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
    """
    if self.dtype.kind != "f":
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{name_of(self)}'")
    if bins <= 0:
        raise RuntimeError(f"tinynet.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if max < min:
        raise RuntimeError("tinynet.histc: max must be larger than min")
    values = self.reshape(-1)
    given = (min, max) if min != max or not values.size else None
    low, high = _outer(values, given, "tinynet.histc", 1)
    at, inside = _bins_of(values, np.linspace(low, high, bins + 1).astype(self.dtype))
    return np.bincount(at[inside], minlength=bins).astype(self.dtype)


class Histogram(NamedTuple):
    """The counts per bin, and the edges of the bins."""

    hist: Tensor
    bin_edges: Any


def _counted(points: Array, edges: list[Array], weight: Array | None, density: bool) -> Array:
    """Count points (rows) in a grid of bins."""
    sizes = tuple(len(e) - 1 for e in edges)
    flat, inside = np.zeros(len(points), np.int64), np.ones(len(points), bool)
    for d, edge in enumerate(edges):
        at, within = _bins_of(points[:, d], edge)
        flat = flat * sizes[d] + at
        inside &= within
    given = None if weight is None else weight.reshape(-1)[inside]
    total = np.bincount(flat[inside], given, int(np.prod(sizes))).reshape(sizes)
    if density:
        total = total / total.sum()
        for d, edge in enumerate(edges):
            widths = np.diff(edge.astype(np.float64))
            total = total / widths.reshape((-1,) + (1,) * (len(edges) - d - 1))
    return total.astype(points.dtype)


def _edges(points: Array, bins: Any, range: Sequence[float] | None, dim: int) -> Array:
    if isinstance(bins, Tensor):
        if bins._array.ndim != 1:
            raise RuntimeError(
                "tinynet.histogramdd: bins tensor should have one dimension, but got "
                f"{bins._array.ndim} dimensions in the bins tensor for dimension {dim}"
            )
        if bins._array.dtype != points.dtype:
            raise RuntimeError(
                "tinynet.histogramdd: input tensor and bins tensors should have the same dtype, "
                f"but got input with dtype {name_of(points)} and bins for dimension {dim} with "
                f"dtype {name_of(bins._array)}"
            )
        return bins._array
    if range is not None and range[0] > range[1]:
        raise RuntimeError(
            f"tinynet.histogramdd: min should not exceed max, but got min {range[0]:g} max "
            f"{range[1]:g} for dimension {dim}"
        )
    return _even(points[:, dim], bins, range, dim)


def _check(points: Array, weight: Tensor | None, range: Sequence[float] | None) -> None:
    if points.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{name_of(points)}'")
    if weight is not None and weight._array.size != len(points):
        raise RuntimeError(
            "tinynet.histogramdd: if weight tensor is provided it should have the same shape as "
            "the input tensor excluding its innermost dimension, but got input with shape "
            f"{list(points.shape)} and weight with shape {list(weight._array.shape)}"
        )
    if range is not None and len(range) != 2 * points.shape[1]:
        raise RuntimeError(
            f"tinynet.histogramdd: for a {points.shape[1]}-dimensional histogram range should "
            f"have {2 * points.shape[1]} elements, but got {len(range)}"
        )


@composite(
    out=same_dtype(
        _OTHER_DTYPE.format("hist"), _OTHER_DTYPE.format("bin_edges") + " for dimension 0"
    ),
    checks=True,
)
def histogram(
    self: Tensor,
    bins: int | Tensor,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """Count the elements per bin; return the counts and the edges.

    Args:
        bins: the number of equal bins, or a tensor of edges.
        range: the outer edges; the smallest and the largest element by default.
        weight: the weight of each element.
        density: normalize so that the integral over the bins is 1.

    Raises:
        RuntimeError: no bins, edges of more than one dimension, a range whose end is below its
            start, or weights of another shape.
        NotImplementedError: integers.

    Example:
        >>> tn.histogram(tn.tensor([1.0, 2.0, 1.0]), bins=2, range=(0.0, 3.0)).hist
        tensor([2., 1.])
    """
    points = self._array.reshape(-1, 1)
    _check(points, weight, range)
    edges = _edges(points, bins, range, 0)
    counts = _counted(points, [edges], None if weight is None else weight._array, density)
    return Histogram(wrap(counts), wrap(edges.copy()))


@composite(method=False, out=True, checks=True)
def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """Count points (in the last dimension) in a grid of bins; return the counts and the edges.

    Args:
        bins: the number of equal bins, one for all coordinates or one each, or tensors of edges.
        range: the outer edges of each coordinate, one pair after the other.
        weight: the weight of each point.
        density: normalize so that the integral over the grid is 1.

    Raises:
        RuntimeError: the numbers of bins and coordinates differ; otherwise as for ``histogram``.
        NotImplementedError: integers.

    Example:
        >>> points = tn.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> tn.histogramdd(points, [2, 2]).hist
        tensor([[0., 1.],
                [1., 1.]])
    """
    points = input._array.reshape(-1, input._array.shape[-1])
    _check(points, weight, range)
    count = points.shape[1]
    each = list(bins) if isinstance(bins, (list, tuple)) else [bins] * count
    if len(each) != count:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    edges = [
        _edges(points, b, None if range is None else range[2 * d : 2 * d + 2], d)
        for d, b in enumerate(each)
    ]
    counts = _counted(points, edges, None if weight is None else weight._array, density)
    shown = (b if isinstance(b, Tensor) else wrap(e) for b, e in zip(each, edges, strict=True))
    return Histogram(wrap(counts), tuple(shown))


# ---- search -------------------------------------------------------------------------------------


def _side(right: bool, side: str | None) -> str:
    if side is None:
        return "right" if right else "left"
    if side not in ("left", "right"):
        raise RuntimeError(
            f"tinynet.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if right and side == "left":
        raise RuntimeError(
            "tinynet.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    return side


def _in_order(edges: Array, sorter: Array | None) -> Array:
    if sorter is None:
        return edges
    if sorter.shape != edges.shape:
        raise RuntimeError(
            "tinynet.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(edges.shape)}and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype != np.int64:
        raise RuntimeError(
            "tinynet.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            f"{name_of(sorter)}"
        )
    if sorter.size and not 0 <= sorter.min() <= sorter.max() < edges.shape[-1]:
        raise RuntimeError("tinynet.searchsorted(): sorter index out of range")
    return np.take_along_axis(edges, sorter, -1)


def _found(edges: Array, values: Array, side: Any) -> Array:
    """Return the insertion indices among sorted edges in one dimension; NaN goes last."""
    edges, values = wide(edges), wide(values)  # numpy orders NaN in its own dtypes
    at = np.asarray(np.searchsorted(edges, values, side))
    return np.where(np.isnan(values), len(edges), at) if values.dtype.kind == "f" else at


@composite(method=False, out=_INDICES)
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return the indices at which to insert values into a sorted sequence to keep its order.

    Args:
        sorted_sequence: one sequence, or one per row of the values.
        input: the values to insert.
        out_int32: return int32 instead of int64.
        right: insert after equal elements (like ``side="right"``) instead of before.
        side: ``"left"`` or ``"right"``.
        sorter: the indices that sort the sequence.

    Raises:
        RuntimeError: rows that do not match the values; an unknown ``side``, or one that
            contradicts ``right``; a sorter that does not match the sequence.

    Example:
        >>> tn.searchsorted(tn.tensor([1, 3, 5]), tn.tensor([0, 3, 6]))
        tensor([0, 1, 3])
    """
    refuse_others("searchsorted", sorted_sequence=sorted_sequence)
    edges = sorted_sequence._array
    values = input._array if isinstance(input, Tensor) else np.asarray(input)
    way = _side(right, side)
    if edges.ndim == 0:
        raise RuntimeError(
            "tinynet.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if edges.ndim > 1 and values.ndim == 0:
        raise RuntimeError(
            "tinynet.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({edges.ndim}) and input value's "
            "dim(0) numel(1)"
        )
    if edges.ndim > 1 and edges.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "tinynet.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(edges.shape)} and input value tensor {list(values.shape)}"
        )
    edges = _in_order(edges, None if sorter is None else sorter._array)
    if edges.ndim == 1 or not values.size:
        found = _found(edges.ravel(), values, way)
    else:
        rows = zip(
            edges.reshape(-1, edges.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True
        )
        found = np.stack([_found(e, v, way) for e, v in rows]).reshape(values.shape)
    return wrap(found.astype(np.int32 if out_int32 else np.int64))


@composite(method=False, out=_INDICES)
def bucketize(
    input: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return the index of the bucket between ``boundaries`` that contains each value.

    Args:
        input: the values.
        boundaries: a sorted sequence in one dimension.
        out_int32: return int32 instead of int64.
        right: buckets include their left boundary instead of their right one.

    Raises:
        RuntimeError: ``boundaries`` has more than one dimension.

    Example:
        >>> tn.bucketize(tn.tensor([0, 3, 6]), tn.tensor([1, 3, 5]))
        tensor([0, 1, 3])
    """
    if not isinstance(input, (Tensor, int, float, np.generic)):
        raise errors.must_be_tensor("bucketize", "input", 1, input)
    if boundaries._array.ndim != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})"
        )
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
