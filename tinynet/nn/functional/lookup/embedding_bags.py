"""Looking up rows of a table and reducing them by bags: sums, means, maxima.

A composite of the look-up and a sum by index. Entries of the padding index are removed first, so
they affect neither values nor gradients. Maxima use a padded array with a row for each bag.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced, traced
from tinynet.dtypes import Array
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.lookup.embeddings import embedding_rows, renormalise
from tinynet.ops.creation.constructors import zeros
from tinynet.ops.pointwise.arithmetic import where

__all__ = ["embedding_bag"]


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
    _refuse_outside(indices, weight._array, mode != "max" and padding_idx is None)
    if max_norm is not None:
        renormalise(weight, indices, max_norm, norm_type)
    bags = _numbers(starts, indices.size)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if padding_idx is not None:  # the number of rows depends on the indices: not traced
        counted = indices != _padding_row(padding_idx, weight.shape[0])
        indices, bags = indices[counted], bags[counted]
        factors = None if factors is None else factors[wrap(counted)]
    rows: Any = embedding_rows.function(weight, wrap(indices), -1, scale_grad_by_freq, sparse)
    if mode == "max":
        if input.ndim == 2 and padding_idx is None and input.numel():
            return rows.reshape(*input.shape, -1).max(1).values
        return _largest(rows, bags, len(starts))
    if factors is not None:
        rows = rows * factors.unsqueeze(1)
    total: Any = zeros(len(starts), weight.shape[1], dtype=weight.dtype)
    total = total.index_add(0, wrap(bags), rows)
    if mode == "sum":
        return total
    return total / wrap(_sizes(bags, len(starts), weight._array.dtype))


@traced
def _numbers(starts: Array, length: int) -> Array:
    """Return the number of the bag of each index."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=length))


@traced
def _sizes(bags: Array, count: int, kind: Any) -> Array:
    """Return the number of indices in each bag, at least 1, as a column."""
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
    if include_last:
        if not starts.size:
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
        if starts[-1] != count:
            raise RuntimeError(
                "With include_last_offset, the last offset must be the length of the input, "
                f"{count}. Got {starts[-1]} instead."
            )
        starts = starts[:-1]
    if starts.size:
        _check_offsets(starts, count)
    return starts


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
def _refuse_outside(indices: Array, weight: Array, plain: bool) -> None:
    """Raise PyTorch's error for an index outside; its ``plain`` sums have a text of their own."""
    count = len(weight)
    if indices.size and indices.view(f"u{indices.itemsize}").max() >= count:
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
