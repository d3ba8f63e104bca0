"""Looking up rows of a table by index.

The look-up and its derivative are separate operations for speed: an index expression would add a
node per look-up and could not skip a padding row or divide by frequencies.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import operation
from tinynet.core.graph.row_sparse import Rows, first_of_each
from tinynet.core.tensors.inplace import wrote
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.tensors.version import Writer
from tinynet.core.trace import traced_write
from tinynet.dtypes import Array
from tinynet.errors import with_fix
from tinynet.kernels import numba as numba_kernels
from tinynet.kernels.numba import tables
from tinynet.nn.functional.checks import tensor_only
from tinynet.ops.argument_errors import to_long

__all__ = ["embedding"]

# ---- operations ---------------------------------------------------------------------------------


def _refuse_outside(weight: Array, indices: Array) -> None:
    """Raise IndexError for an index outside the table."""
    # As unsigned ints, negative indices are huge: one comparison finds both errors.
    if indices.size and indices.view(f"u{indices.itemsize}").max() >= weight.shape[0]:
        outside = indices[(indices < 0) | (indices >= weight.shape[0])]
        raise IndexError(
            f"index out of range in self. The table has {weight.shape[0]} rows. "
            f"Got index {outside.flat[0]} instead."
        )


def _take(weight: Array, indices: Array) -> Array:
    """Return the rows; IndexError for an index outside the table."""
    _refuse_outside(weight, indices)
    return np.take(weight, indices, axis=0)


@operation(node="EmbeddingBackward0", methods=False, batch="table_rows", complex=True)
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
    if indices.dtype not in (np.int64, np.int32):
        kind = dtypes.of(indices).tensor_name
        sentence = (
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got tinynet.{kind} instead (while checking arguments for embedding)"
        )
        raise RuntimeError(with_fix(sentence, to_long("x")))
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")


@operation(node="EmbeddingDenseBackwardBackward0", methods=False, batch="table_rows_summed")
def summed_rows(
    rows: Array, indices: Array, /, count: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    """Return a table of ``count`` rows with ``rows`` added at their indices.

    The padding row is zero; ``scale_grad_by_freq`` divides each row by the number of its additions.
    """
    width = rows.shape[-1]
    table = np.zeros((count, width), rows.dtype)
    index, rows = indices.ravel(), rows.reshape(-1, width)
    if numba_kernels.takes(rows):
        tables.add_rows(table, index, np.ascontiguousarray(rows))
        return _weighted(table, indices, padding_idx, scale_grad_by_freq)
    if 2 * count > len(index):
        first = first_of_each(index, count)
        if 2 * np.count_nonzero(first) > len(index):  # most occur once and need no sum
            table[index[first]] = rows[first]
            index, rows = index[~first], rows[~first]
    at = (index.reshape(-1, 1).astype(np.int64) * width + np.arange(width)).ravel()
    np.add.at(table.reshape(-1), at, rows.reshape(-1))  # flat: several times as fast as by rows
    return _weighted(table, indices, padding_idx, scale_grad_by_freq)


@operation(node="EmbeddingSparseBackwardBackward0", methods=False, batch="loop")
def kept_rows(rows: Array, indices: Array, /, count: int, padding_idx: int) -> Any:
    """Return the nonzero rows of the table of ``summed_rows``."""
    index = indices.flatten()  # a copy: the program may write to its indices before the step
    values = rows.reshape(index.size, rows.shape[-1])
    if padding_idx >= 0:
        counted = index != padding_idx
        index, values = index[counted], values[counted]
    return Rows(index, values, count)


@operation(node="EmbeddingBackward0", methods=False, batch="loop")
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


# The id of a weight that several processes share -> what renormalises its rows on all of them.
shared_weights: dict[int, Callable[[Array, float, float], None]] = {}


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
    if norm_type == 2 and array.flags.c_contiguous and numba_kernels.takes(array):
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
