"""Sums, means, products and extrema of segments along a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.declaration.operation import composite
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import refuse_kinds, refuse_others
from tinynet.ops.indexing.scatter_reduce import REDUCTIONS, scatter_reduce
from tinynet.ops.pointwise.clamp import clamp
from tinynet.ops.shaping.splitting import narrow
from tinynet.ops.shaping.views import axis_of, expand, reshape


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
