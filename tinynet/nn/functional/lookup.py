"""Lookups in tables: ``embedding``, ``embedding_bag`` and ``one_hot``."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import operation
from tinynet.core.graph.accumulate_grad import Rows, first_of_each
from tinynet.core.graph.inplace import wrote
from tinynet.core.seams import shared_weights
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.tensors.version import Writer
from tinynet.core.trace import run_traced, traced, traced_write
from tinynet.dtypes import Array
from tinynet.errors import with_fix
from tinynet.kernels import native as native_kernels
from tinynet.kernels.indexing import add_rows, bag_sums
from tinynet.kernels.low_precision import HALF, in_single
from tinynet.kernels.native import tables
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops.arguments import all_below, to_long
from tinynet.ops.creation.constructors import zeros
from tinynet.ops.indexing.index_select import select_slices
from tinynet.ops.pointwise.arithmetic import where

__all__ = ["embedding", "embedding_bag"]


# ---- embeddings ---------------------------------------------------------------------------------
# Looking up rows of a table by index.
#
# The look-up and its derivative are separate operations for speed: an index expression would add a
# node per look-up and could not skip a padding row or divide by frequencies.


# ---- operations ---------------------------------------------------------------------------------


def _refuse_outside(weight: Array, indices: Array) -> None:
    """Raise IndexError for an index outside the table."""
    if not all_below(indices, weight.shape[0]) and indices.size:
        outside = indices[(indices < 0) | (indices >= weight.shape[0])]
        raise IndexError(
            f"index out of range in self. The table has {weight.shape[0]} rows. "
            f"Got index {outside.flat[0]} instead."
        )


def _take(weight: Array, indices: Array) -> Array:
    """Return the rows; IndexError for an index outside the table."""
    _refuse_outside(weight, indices)
    return weight.take(indices, 0, mode="wrap")  # in range: the fastest mode


@operation(node="EmbeddingBackward0", complex=True)
def embedding_rows(
    weight: Array,
    indices: Array,
    /,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool = False,
) -> Array:
    """Return row ``i`` of the weight for each index ``i``."""
    _check(weight, indices)
    return _take(weight, indices)


def _check(weight: Array, indices: Array) -> None:
    """Raise RuntimeError unless the weight is a matrix and the indices are integers."""
    if indices.dtype.kind != "i" or indices.dtype.itemsize < 4:
        kind = dtypes.of(indices).tensor_name
        sentence = (
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got tinynet.{kind} instead (while checking arguments for embedding)"
        )
        raise RuntimeError(with_fix(sentence, to_long("x")))
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")


@operation(node="EmbeddingDenseBackwardBackward0")
def summed_rows(
    rows: Array, indices: Array, /, count: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    """Return a table of ``count`` rows with ``rows`` added at their indices.

    The padding row is zero; ``scale_grad_by_freq`` divides each row by the number of its additions.
    """
    width = rows.shape[-1]
    table = np.zeros((count, width), rows.dtype)
    index, rows = indices.ravel(), rows.reshape(-1, width)
    if native_kernels.takes(rows):
        tables.add_rows(table, index, np.ascontiguousarray(rows))
        return _weighted(table, indices, padding_idx, scale_grad_by_freq)
    if 2 * count > len(index):
        first = first_of_each(index, count)
        if 2 * np.count_nonzero(first) > len(index):  # most occur once and need no sum
            table[index[first]] = rows[first]
            index, rows = index[~first], rows[~first]
    add_rows(table, index, rows)
    return _weighted(table, indices, padding_idx, scale_grad_by_freq)


@operation(node="EmbeddingSparseBackwardBackward0")
def kept_rows(rows: Array, indices: Array, /, count: int, padding_idx: int) -> Any:
    """Return the nonzero rows of the table of ``summed_rows``."""
    index = indices.flatten()  # a copy: the program may write to its indices before the step
    values = rows.reshape(index.size, rows.shape[-1])
    if padding_idx >= 0:
        counted = index != padding_idx
        index, values = index[counted], values[counted]
    return Rows(index, values, count)


@operation(node="EmbeddingBackward0")
def weighted_rows(
    weight: Array, indices: Array, /, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    """Return row ``i`` for each index ``i``, with the weights of ``summed_rows``: its transpose."""
    return _take(_weighted(weight.copy(), indices, padding_idx, scale_grad_by_freq), indices)


def _of_weight(
    g: Any,
    weight_shape: tuple[int, ...],
    indices: Any,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Any:
    if sparse:
        if scale_grad_by_freq:
            raise RuntimeError(
                "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
            )
        return kept_rows(g, indices, weight_shape[0], padding_idx)
    kept = g.__class__ is np.ndarray and not scale_grad_by_freq
    if kept and indices.size * _MANY <= weight_shape[0]:
        rows = kept_rows.kernel(g, indices, weight_shape[0], padding_idx)
        rows.lazy = True
        return rows.unique()
    return summed_rows(g, indices, weight_shape[0], padding_idx, scale_grad_by_freq)


_MANY = 4  # from this ratio of rows in the table to rows looked up, the gradient is sparse
embedding_rows.grad(weight=_of_weight)
kept_rows.grad(rows=lambda g, indices, padding_idx: weighted_rows(g, indices, padding_idx, False))
summed_rows.grad(
    rows=lambda g, indices, padding_idx, scale_grad_by_freq: weighted_rows(
        g, indices, padding_idx, scale_grad_by_freq
    )
)
weighted_rows.grad(
    weight=lambda g, weight_shape, indices, padding_idx, scale_grad_by_freq: summed_rows(
        g, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    )
)


def _weighted(table: Array, indices: Array, padding_idx: int, by_frequency: bool) -> Array:
    """Divide the rows of a new table by their frequencies, and clear the padding row."""
    if by_frequency:
        times = np.bincount(indices.ravel(), minlength=table.shape[0])
        table /= np.maximum(times, 1).astype(table.dtype)[:, None]
    if padding_idx >= 0:
        table[padding_idx] = 0
    return table


# ---- renormalisation ----------------------------------------------------------------------------


def renormalise(weight: Tensor, indices: Array, max_norm: float, norm_type: float) -> None:
    """Scale the selected rows whose norm exceeds ``max_norm`` down to it, in place."""
    if id(weight) in shared_weights:
        shared_weights[id(weight)](indices, max_norm, norm_type)
    else:
        renormalise_rows(weight, indices, max_norm, norm_type)


def renormalise_rows(weight: Tensor, indices: Array, max_norm: float, norm_type: float) -> None:
    """Do what `renormalise` does, in this process alone."""
    shorten_rows(weight._array, indices, max_norm, norm_type)
    wrote(weight, _renorm(float(max_norm)))


def check_rows(weight: Tensor, indices: Array) -> None:
    """Raise if ``indices`` are not rows of the weight."""
    _check(weight._array, indices)
    _refuse_outside(weight._array, indices)


@traced_write
def shorten_rows(array: Array, indices: Array, max_norm: float, norm_type: float) -> None:
    """Scale the selected rows of an array, for ``renormalise``."""
    _check(array, indices)
    refuse_overlap(array)
    if norm_type == 2 and array.flags.c_contiguous and native_kernels.takes(array):
        _refuse_outside(array, indices)
        numbers, place = np.ascontiguousarray(indices).reshape(-1), np.empty(len(array), np.int32)
        tables.shorten(array, numbers, place, np.float64(max_norm))
    else:
        _shorten(array, indices, max_norm, norm_type)


@functools.cache
def _renorm(max_norm: float) -> Writer:
    return Writer(
        f"embedding renorm (max_norm={max_norm})",
        "look up first and use the weight afterwards, or use a copy of it: `weight.clone()` "
        "(max_norm rescales the weight's rows in place at each lookup)",
    )


def _shorten(array: Array, indices: Array, max_norm: float, norm_type: float) -> None:
    used = np.sort(indices, axis=None)
    used = used[np.concatenate([used[:1] == used[:1], used[1:] != used[:-1]])]  # each once
    rows = _take(array, used)
    if norm_type == 2:
        norms = np.sqrt(np.vecdot(rows, rows))
    elif norm_type == np.inf:
        norms = np.max(np.abs(rows), axis=1, initial=0)
    else:
        norms = np.sum(np.abs(rows) ** norm_type, axis=1) ** (1 / norm_type)
    norms = norms.astype(np.float64)
    long = norms > max_norm
    factors = max_norm / (norms[long] + 1e-7)
    array[used[long]] *= factors.astype(array.dtype)[:, None]


# ---- the function -------------------------------------------------------------------------------


def padding_row(padding_idx: int | None, count: int, name: str = "Padding_idx") -> int | None:
    """Return the padding index counted from the front; AssertionError if it is out of range."""
    if padding_idx is None:
        return None
    if not -count <= padding_idx < count:
        raise AssertionError(f"{name} must be within num_embeddings")
    return padding_idx % count


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return row ``i`` of the weight for each index ``i`` of the input.

    ``result[...] = weight[input[...]]``.

    Args:
        input: indices, of any shape.
        weight: ``[rows, width]``.
        padding_idx: a row that gets no gradient.
        max_norm: before the look-up, renormalise the selected rows that are longer than this,
            changing the weight in place.
        norm_type: the p of the norm for ``max_norm``.
        scale_grad_by_freq: divide the gradient of each row by its frequency.
        sparse: make the gradient of the weight a sparse tensor of the selected rows.

    Returns:
        ``[*input.shape, width]``.

    Raises:
        IndexError: an index is out of range.
        RuntimeError: ``sparse`` and ``scale_grad_by_freq`` are combined, and a gradient is needed.

    Example:
        >>> F.embedding(tn.tensor([2, 0]), tn.eye(3))
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
    """
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        tensor_only("embedding", weight=weight, indices=input)
    if not weight._array.ndim:
        _check(weight._array, input._array)
    row = padding_row(padding_idx, weight._array.shape[0])
    if max_norm is not None:
        renormalise(weight, input._array, max_norm, norm_type)
    first = -1 if row is None else row
    return embedding_rows.function(weight, input, first, scale_grad_by_freq, sparse)


# ---- embedding bags -----------------------------------------------------------------------------
# Looking up rows of a table and reducing them by bags: sums, means, maxima.
#
# A composite of the look-up and a sum by index. Entries of the padding index are removed first, so
# they affect neither values nor gradients. Maxima use a padded array with a row for each bag.


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Return the sum, mean or maximum of the rows selected by each bag of indices.

    The sum is ``weight[i1] + weight[i2] + ...``, each row times its weight in
    ``per_sample_weights``.

    Args:
        input: bags of one length, ``[bags, length]``; or all indices concatenated, ``[n]``.
        weight: ``[rows, width]``.
        offsets: for ``[n]``, where each bag begins; the first is 0.
        max_norm: before the look-up, renormalise the selected rows that are longer than this,
            changing the weight in place.
        norm_type: the p of the norm for ``max_norm``.
        scale_grad_by_freq: divide the gradient of each row by its frequency; not for maxima.
        mode: ``"sum"``, ``"mean"`` or ``"max"``. An empty bag gives 0.
        sparse: make the gradient of the weight a sparse tensor; not for maxima.
        per_sample_weights: a weight for each index, for sums only.
        include_last_offset: whether ``offsets`` ends with the length of the input.
        padding_idx: an index to skip.

    Returns:
        ``[bags, width]``.

    Raises:
        ValueError, RuntimeError: shapes, offsets or options do not match, or an index is out of
            range.
        NotImplementedError: weights per index in a mode other than ``"sum"``.

    Example:
        >>> F.embedding_bag(tn.tensor([0, 1, 2]), tn.eye(3), tn.tensor([0, 2]), mode="sum")
        tensor([[1., 1., 0.],
                [0., 0., 1.]])
    """
    tensor_only("embedding_bag", weight=weight, indices=input)
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    _check_options(input, weight, mode, scale_grad_by_freq, per_sample_weights)
    indices, starts = _bags(input, offsets, include_last_offset)
    _check_kinds(indices, weight._array, per_sample_weights)
    _refuse_outside_bag(indices, weight._array, mode != "max" and padding_idx is None)
    if max_norm is not None:
        renormalise(weight, indices, max_norm, norm_type)
    bags = _numbers(starts, indices.size)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if padding_idx is not None:  # the number of rows depends on the indices: not traced
        counted = indices != _padding_row(padding_idx, weight.shape[0])
        indices, bags = indices[counted], bags[counted]
        factors = None if factors is None else factors[wrap(counted)]
    if mode == "max":
        rows: Any = embedding_rows.function(weight, wrap(indices), -1, False, False)
        if input.ndim == 2 and padding_idx is None and input.numel():
            return rows.reshape(*input.shape, -1).max(1).values
        return _largest(rows, bags, len(starts))
    places = wrap(indices), wrap(bags)
    options = len(starts), scale_grad_by_freq, sparse
    if factors is not None:
        return weighted_bags.function(weight, factors, *places, *options)
    total: Any = summed_bags.function(weight, *places, *options)
    return total if mode == "sum" else total / _sizes(bags, len(starts), total._array.dtype)


@operation(node="EmbeddingBagBackward0", complex=True)
def summed_bags(
    weight: Array,
    indices: Array,
    bags: Array,
    /,
    count: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Array:
    """Return the sums of the rows of the weight at the indices of each of ``count`` bags."""
    if weight.dtype is HALF:
        return in_single(summed_bags, weight, indices, bags, count, scale_grad_by_freq, sparse)
    return bag_sums(weight, indices, np.searchsorted(bags, np.arange(count)))


@operation(node="EmbeddingBagBackward0", complex=True)
def weighted_bags(
    weight: Array,
    factors: Array,
    indices: Array,
    bags: Array,
    /,
    count: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Array:
    """Return the sums of the rows of the weight, times a factor for each index."""
    if weight.dtype is HALF:
        options = count, scale_grad_by_freq, sparse
        return in_single(weighted_bags, weight, factors, indices, bags, *options)
    return bag_sums(weight, indices, np.searchsorted(bags, np.arange(count)), factors)


summed_bags.grad(
    weight=lambda g, weight_shape, indices, bags, scale_grad_by_freq, sparse: _of_weight(
        select_slices(g, bags, 0), weight_shape, indices, -1, scale_grad_by_freq, sparse
    )
)
weighted_bags.grad(
    weight=lambda g, weight_shape, factors, indices, bags, scale_grad_by_freq, sparse: _of_weight(
        select_slices(g, bags, 0) * factors[:, None],
        *(weight_shape, indices, -1, scale_grad_by_freq, sparse),
    ),
    factors=lambda g, weight, indices, bags: (
        select_slices(g, bags, 0) * select_slices(weight, indices, 0)
    ).sum(-1),
)


@traced
def _numbers(starts: Array, length: int) -> Array:
    """Return the number of the bag of each index."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=length))


def _sizes(bags: Array, count: int, kind: Any) -> Tensor:
    """Return the number of indices in each bag, at least 1, as a column."""
    return wrap(run_traced(_counts, bags, count, kind))


def _counts(bags: Array, count: int, kind: Any) -> Array:
    sizes = np.maximum(np.bincount(bags, minlength=count), 1)
    return sizes.astype(kind)[:, None]


def _largest(rows: Any, bags: Array, count: int) -> Tensor:
    """Return the maxima of the rows of each bag, 0 for an empty one."""
    sizes = np.bincount(bags, minlength=count)
    longest = int(sizes.max(initial=0))
    if not longest:
        return rows.sum() * 0 + zeros(count, rows.shape[1], dtype=rows.dtype)
    filled = np.arange(longest) < sizes[:, None]
    places = np.zeros(filled.shape, np.int64)
    places[filled] = np.arange(len(bags))
    padded = where.function(wrap(filled[:, :, None]), rows[wrap(places)], -np.inf)
    maxima = padded.max(1).values
    return where.function(wrap(sizes[:, None] > 0), maxima, 0.0)


# ---- checks -------------------------------------------------------------------------------------


def _check_options(
    input: Tensor, weight: Tensor, mode: str, by_frequency: bool, factors: Tensor | None
) -> None:
    if factors is not None and factors.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({factors.shape}) is not None, then it must "
            f"have the same shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and by_frequency:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if factors is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}')."
        )


def _bags(input: Tensor, offsets: Tensor | None, include_last: bool) -> tuple[Array, Array]:
    """Return the indices in one dimension, and where the bags begin; both of one dtype."""
    if offsets is not None and offsets.dtype != input.dtype:
        both = dtypes.promote_types(input.dtype, offsets.dtype)
        input, offsets = input.to(both), offsets.to(both)
    starts = _starts(input, offsets, include_last)
    return run_traced(np.ravel, input._array), starts


def _starts(input: Tensor, offsets: Tensor | None, include_last: bool) -> Array:
    """Return where the bags begin in the flattened input."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}"
            )
        return _even(*input.shape)
    if input.ndim != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    _check_integers(input._array)
    _check_integers(offsets._array)
    return _checked(offsets._array, input.shape[0], include_last)


@traced
def _even(bags: int, length: int) -> Array:
    return np.arange(bags) * length


@traced
def _checked(starts: Array, count: int, include_last: bool) -> Array:
    """Return where the bags begin; raise RuntimeError for values that cannot be."""
    if include_last and not starts.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if starts.size:
        _check_offsets(starts, count)
    if include_last and starts[-1] != count:
        raise RuntimeError(
            "With include_last_offset, the last offset must be the length of the input, "
            f"{count}. Got {starts[-1]} instead."
        )
    return starts[:-1] if include_last else starts


def _check_offsets(starts: Array, count: int) -> None:
    if starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {starts[0]}"
        )
    if starts[-1] > count:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of "
            f"{starts[-1]}"
        )
    if (np.diff(starts) < 0).any():
        raise RuntimeError(
            f"The offsets of embedding_bag must not decrease. Got {starts.tolist()} instead."
        )


def _check_integers(array: Array) -> None:
    if array.dtype not in (np.int64, np.int32):
        raise _wrong_type("indices", array, "Long, Int")


def _wrong_type(name: str, array: Array, allowed: str) -> RuntimeError:
    kind = dtypes.of(array).tensor_name
    return RuntimeError(
        f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: "
        f"{allowed}; but got tinynet.{kind} instead (while checking arguments for embedding_bag)"
    )


def _check_kinds(indices: Array, weight: Array, factors: Tensor | None) -> None:
    _check_integers(indices)
    if not dtypes.is_floating(weight.dtype):
        raise _wrong_type("weight", weight, "Half, BFloat16, Float, Double")
    if factors is not None and factors._array.dtype != weight.dtype:
        kinds = [dtypes.of(a).tensor_name for a in (weight, factors._array)]
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type tinynet.{kinds[0]} does not equal "
            f"tinynet.{kinds[1]} (while checking arguments for embedding_bag)"
        )


@traced
def _refuse_outside_bag(indices: Array, weight: Array, plain: bool) -> None:
    """Raise PyTorch's error for an index outside; its ``plain`` sums have a text of their own."""
    count = len(weight)
    if not all_below(indices, count) and indices.size:
        outside = indices[(indices < 0) | (indices >= count)]
        place = np.flatnonzero(indices == outside[0])[0]
        if not plain or weight.dtype == np.float64:
            raise RuntimeError(
                "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
                f"{outside[0]}"
            )
        raise RuntimeError(
            f"Index {place} of input takes value {outside[0]} which is not in the valid range "
            f"[0, {count})"
        )


def _padding_row(padding_idx: int, count: int) -> int:
    if not -count <= padding_idx < count:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-count} through {count - 1}, "
            f"but got {padding_idx}"
        )
    return padding_idx % count
