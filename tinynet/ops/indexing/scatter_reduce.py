"""Reductions by index and of segments: sum, product, mean, extrema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.compiler import in_place
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.kernels.low_precision import HALF, SINGLE
from tinynet.ops.arguments import EXPECTED, name_of, refuse_kinds, refuse_others
from tinynet.ops.indexing.gather import (
    as_source,
    gather_along,
    scatter_number,
    scatter_sum,
    scattered,
)
from tinynet.ops.indexing.index_select import check_index, check_slices, slices_filled
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.clamp import clamp
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.shaping.splitting import narrow
from tinynet.ops.shaping.views import axis_of, expand, reshape


class Reduction(NamedTuple):
    """A reduction by index.

    Attributes:
        name: its name as the argument ``reduce``.
        ufunc: the reduction of two elements.
        neutral: returns the neutral element of a dtype: the start value without ``self``.
    """

    name: str
    ufunc: np.ufunc
    neutral: Callable[[np.dtype[Any]], Any]


def _lowest(kind: np.dtype[Any]) -> Any:
    if kind.kind == "b":
        return False
    return -np.inf if dtypes.is_floating(kind) else np.iinfo(kind).min


def _highest(kind: np.dtype[Any]) -> Any:
    if kind.kind == "b":
        return True
    return np.inf if dtypes.is_floating(kind) else np.iinfo(kind).max


_ALL = (
    Reduction("sum", np.add, lambda kind: 0),
    Reduction("mean", np.add, lambda kind: 0),
    Reduction("prod", np.multiply, lambda kind: 1),
    Reduction("amax", np.maximum, _lowest),
    Reduction("amin", np.minimum, _highest),
)
REDUCTIONS = {reduction.name: reduction for reduction in _ALL}


def _averaged(whole: Array, at: Array, include_self: bool) -> None:
    times = np.bincount(at, minlength=whole.size)
    times = np.maximum(times + include_self, 1).astype(whole.dtype)
    if dtypes.is_inexact(whole.dtype):
        whole /= times
    else:
        whole //= times


def _reduced(
    self: Array, index: Array, src: Array, dim: int, reduce: str, include_self: bool
) -> Array:
    if self.dtype == HALF:
        wide, other = self.astype(SINGLE), src.astype(SINGLE)
        return _reduced(wide, index, other, dim, reduce, include_self).astype(HALF)
    reduction = REDUCTIONS[reduce]

    def write(whole: Array, at: Array, part: Array) -> None:
        flat = at.reshape(-1)
        if not include_self:
            whole[flat] = reduction.neutral(whole.dtype)
        reduction.ufunc.at(whole, flat, part.reshape(-1))
        if reduce == "mean":
            _averaged(whole, flat, include_self)

    return scattered(self, index, dim, src, write)


# ---- derivatives --------------------------------------------------------------------------------


def _part(src: Any, index: Any) -> Any:
    """Return the part of ``src`` that the index uses."""
    return src[tuple(slice(0, n) for n in index.shape)] if index.shape else src


def _counts(like: Any, index: Any, ones: Any, dim: int, include_self: bool) -> Any:
    """Return the number of elements reduced to each one, at least 1."""
    start = zeros_for(like) + (1 if include_self else 0)
    count = scatter_sum(start, index, ones, dim)
    return where(count == 0, 1.0, count)


def _product_slopes(
    g: Any, x: Any, index: Any, src: Any, result: Any, dim: int, include_self: bool
) -> tuple[Any, Any]:
    """Return the gradients of a product, exact even if one factor is zero."""
    without = where(x == 0, 1.0, x)
    rest = scatter_reduced(without, index, src, dim, "prod", include_self)
    zero = src == 0
    number = scatter_sum(zeros_for(x), index, zeros_for(src) + zero, dim)
    single = zero & (gather_along(number, index, dim) == 1)
    others = scatter_reduced(x, index, where(single, 1.0, src), dim, "prod", include_self)
    slope = where(
        single,
        gather_along(g * others, index, dim),
        gather_along(g * result, index, dim) / where(zero, 1.0, src),
    )
    return g * rest / without, slope


def _slopes(
    g: Any, x: Any, index: Any, src: Any, result: Any, dim: int, reduce: str, include_self: bool
) -> tuple[Any, Any]:
    """Return the gradients of ``self`` and of the part of ``src`` that the index uses."""
    if reduce == "prod":
        of_self, of_src = _product_slopes(g, x, index, src, result, dim, include_self)
    elif reduce == "sum":
        of_self, of_src = g, gather_along(g, index, dim)
    elif reduce == "mean":
        count = _counts(g, index, zeros_for(src) + 1, dim, include_self)
        of_self = g / count
        of_src = gather_along(g, index, dim) / gather_along(count, index, dim)
    else:
        mine = zeros_for(g) + (x == result)
        theirs = zeros_for(src) + (src == gather_along(result, index, dim))
        start = mine if include_self else scatter_number(mine, index, dim, 0)
        count = scatter_sum(start, index, theirs, dim)
        share = g / where(count == 0, 1.0, count)
        of_self, of_src = mine * share, theirs * gather_along(share, index, dim)
    return of_self, of_src


# ---- one index per element ----------------------------------------------------------------------


@operation(node="ScatterReduceBackward0", complex=True)
def scatter_reduced(
    self: Array, index: Array, src: Array, /, dim: int, reduce: str, include_self: bool
) -> Array:
    """Return a copy with the elements of ``src`` reduced into it."""
    if self.dtype.kind == "c" and reduce in ("amax", "amin"):
        kernel = f"scatter_gather_tensor_cpu_reduce_{reduce}"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name_of(self)}'")
    return _reduced(self, index, src, dim, reduce, include_self)


def _scatter_slopes(
    g: Any,
    self: Any,
    index: Any,
    src: Any,
    src_shape: tuple[int, ...],
    result: Any,
    dim: int,
    reduce: str,
    include_self: bool,
) -> Any:
    part = _part(src, index)
    of_self, of_src = _slopes(g, self, index, part, result, dim, reduce, include_self)
    kept = of_self if include_self else scatter_number(of_self, index, dim, 0)
    return kept, None, as_source(of_src, src_shape)


scatter_reduced.grads(_scatter_slopes)


def _check_reduction(reduce: str) -> None:
    if reduce not in REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )


@composite(out=EXPECTED)
def scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return a copy with the elements of ``src`` reduced into the positions at ``index``.

    Args:
        dim: the dimension.
        index: int64 or int32, with as many dimensions as ``self``.
        src: a tensor of the same dtype, at least as large as ``index``.
        reduce: ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``.
        include_self: whether the old values take part in the reduction.

    Raises:
        RuntimeError: an index is out of range, or a shape or dtype does not fit.

    Example:
        >>> x, at = tn.tensor([1.0, 2.0]), tn.tensor([0, 0, 1])
        >>> x.scatter_reduce(0, at, tn.tensor([4.0, 3.0, 1.0]), "amax")
        tensor([4., 2.])
    """
    refuse_others("scatter_reduce", self=self, index=index, src=src)
    _check_reduction(reduce)
    return scatter_reduced.function(self, index, src, dim, reduce, include_self)


@composite
def scatter_reduce_(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Reduce elements of ``src`` into this tensor at ``index``, and return it."""
    refuse_others("scatter_reduce_", self=self, index=index, src=src)
    _check_reduction(reduce)
    args = (index, src, dim, reduce, include_self)
    return in_place(scatter_reduced, "scatter_reduce_", apart=True)(self, *args)


# ---- one index per slice ------------------------------------------------------------------------


def _wide(index: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Expand an index of slices to one of elements."""
    line = reshape(index, (1,) * axis + (-1,) + (1,) * (len(shape) - axis - 1))
    return expand(line, shape)


def _check_slice_reduction(reduce: str) -> None:
    if reduce == "sum" or reduce not in REDUCTIONS:
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )


@operation(node="IndexReduceBackward0", complex=True)
def slices_reduced(
    self: Array, index: Array, source: Array, /, dim: int, reduce: str, include_self: bool
) -> Array:
    """Return a copy with the slices of ``source`` reduced into it."""
    axis = axis_of(dim, self.ndim)
    check_index("index_reduce_()", self, index, source)
    check_slices("index_reduce_()", self, index, source, axis, same_rank=False)
    n = self.shape[axis] if self.ndim else 1
    if index.size and not 0 <= index.min() <= index.max() < n:
        raise IndexError("index out of range in self")
    wide = _wide(index, source.shape, axis) if source.ndim else index.reshape(())
    return _reduced(self, wide, source, dim, reduce, include_self)


def _slice_slopes(
    g: Any,
    self: Any,
    index: Any,
    source: Any,
    source_shape: tuple[int, ...],
    result: Any,
    dim: int,
    reduce: str,
    include_self: bool,
) -> Any:
    if source_shape:
        wide = _wide(index, source_shape, axis_of(dim, len(source_shape)))
    else:
        wide = reshape(index, ())
    of_self, of_source = _slopes(g, self, wide, source, result, dim, reduce, include_self)
    kept = of_self if include_self else slices_filled(of_self, index, dim, 0)
    return kept, None, of_source


slices_reduced.grads(_slice_slopes)


@composite(out=EXPECTED)
def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return a copy with the slices of ``source`` reduced into the slices at ``index``.

    Args:
        dim: the dimension.
        index: a vector of int64 or int32, as long as that dimension of ``source``.
        source: a tensor of the same dtype.
        reduce: ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``.
        include_self: whether the old values take part in the reduction.

    Example:
        >>> tn.ones(2).index_reduce(0, tn.tensor([1, 1]), tn.tensor([2.0, 5.0]), "prod")
        tensor([ 1., 10.])
    """
    refuse_others("index_reduce", self=self, index=index, source=source)
    _check_slice_reduction(reduce)
    return slices_reduced.function(self, index, source, dim, reduce, include_self)


@composite
def index_reduce_(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Reduce slices of ``source`` into those at ``index``, and return the tensor."""
    refuse_others("index_reduce_", self=self, index=index, source=source)
    _check_slice_reduction(reduce)
    args = (index, source, dim, reduce, include_self)
    return in_place(slices_reduced, "index_reduce_", apart=True)(self, *args)


# ---- segments along a dimension -----------------------------------------------------------------


def _ends(data: Array, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> Array:
    """Return the offsets of the segments, including the end of the last, in the last dimension."""
    if (lengths is None) == (offsets is None):
        problem = "Either lengths or offsets must be defined"
        raise RuntimeError(f"segment_reduce(): {problem}{'' if lengths is None else ', not both'}.")
    refuse_others(
        "segment_reduce", **({"offsets": offsets} if lengths is None else {"lengths": lengths})
    )
    given: Array = (offsets if lengths is None else lengths)._array
    name = "offsets" if lengths is None else "lengths"
    refuse_kinds("_segment_reduce", "bf", given)
    if (
        given.ndim == 0
        or given.ndim > data.ndim
        or given.shape[:-1] != data.shape[: given.ndim - 1]
    ):
        raise RuntimeError(
            f"segment_reduce(): Expected the first dimensions of {name} to be those of data."
        )
    if axis != given.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}."
        )
    if lengths is not None:
        if (given < 0).any():
            raise RuntimeError("lengths contains negative value!")
        if not unsafe and (given.sum(-1) != data.shape[axis]).any():
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
        given = np.insert(np.cumsum(given, -1), 0, 0, -1)
    if (np.diff(given) < 0).any() or (given < 0).any() or (given > data.shape[axis]).any():
        raise RuntimeError("segment_reduce(): Expected offsets that rise within the data.")
    return given


def _numbers(ends: Array, size: int) -> Array:
    """Return the segment number of each element; elements outside all segments get an extra one."""
    count = ends.shape[-1] - 1
    rows = ends.reshape(-1, count + 1)
    places = np.arange(size)
    found = [np.searchsorted(row, places, "right") - 1 for row in rows]
    numbers = np.reshape(found, (*ends.shape[:-1], size)).astype(np.int64)
    return np.where(numbers < 0, count, numbers)


@composite(method=False)
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Reduce each segment along a dimension to one element.

    With ``"sum"``, element k is the sum of ``data[offsets[k]]`` to ``data[offsets[k + 1] - 1]``.

    Args:
        data: a floating-point tensor.
        reduce: ``"sum"``, ``"mean"``, ``"prod"``, ``"max"`` or ``"min"``.
        lengths: the lengths of the segments, ``[..., K]``; the leading dimensions are those of
            ``data``.
        indices: not supported, as in PyTorch.
        offsets: alternative to ``lengths``: the starts of the segments and the end of the last,
            ``[..., K + 1]``.
        axis: the dimension; it must be the last one of ``lengths``.
        unsafe: skip the check that the lengths sum to the length of ``data``.
        initial: the initial value of each segment; empty segments have no other value.

    Raises:
        RuntimeError: neither lengths nor offsets, or invalid ones; an unknown reduction.
        NotImplementedError: the data is not floating-point.

    Example:
        >>> tn.segment_reduce(tn.tensor([1.0, 2.0, 3.0]), "sum", lengths=tn.tensor([2, 1]))
        tensor([3., 3.])
    """
    refuse_others("segment_reduce", data=data)
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    refuse_kinds("_segment_reduce", "biu", data._array)
    axis = axis_of(axis, data._array.ndim)
    ends = _ends(data._array, lengths, offsets, axis, unsafe)
    shape, count = data._array.shape, ends.shape[-1] - 1
    after = (1,) * (len(shape) - axis - 1)
    numbers = _numbers(ends, shape[axis])
    index = expand(reshape(wrap(numbers), (*numbers.shape, *after)), shape)
    inner = "sum" if reduce == "mean" else reduce  # divided below, by the lengths
    start = REDUCTIONS[inner].neutral(data._array.dtype)
    empty = np.full((*shape[:axis], count + 1, *shape[axis + 1 :]), start, data._array.dtype)
    result = narrow(scatter_reduce(wrap(empty), axis, index, data, inner), axis, 0, count)
    result = _begun(result, inner, initial)
    if reduce != "mean":
        return result
    sizes = np.diff(ends).reshape(*ends.shape[:-1], count, *after)
    of_none = np.nan if initial is None else 0.0
    divisor = np.where(sizes > 0, sizes, 1).astype(data._array.dtype)
    return result / wrap(divisor) + wrap(np.where(sizes > 0, 0, of_none).astype(divisor.dtype))


def _begun(result: Tensor, reduce: str, initial: float | None) -> Tensor:
    """Return the reduction, started with a number."""
    if initial is None:
        return result
    if reduce in ("amax", "amin"):
        return clamp(result, **{"min" if reduce == "amax" else "max": initial})
    return result + initial if reduce == "sum" else result * initial
