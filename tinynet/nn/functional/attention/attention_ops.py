"""Attention as one operation, for speed: ``softmax(query @ key.T * scale + bias) @ value``.

A composite would fill five more arrays of the size of the scores. Here the exponentials overwrite
the scores and are saved. They are not divided by their sums; the output is, which is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet import threads
from tinynet.core.declaration.operation import operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced, traced
from tinynet.dtypes import Array
from tinynet.nn.functional.double_backward import recorded
from tinynet.ops.pointwise.exponential import exp
from tinynet.ops.products.matmul import matmul
from tinynet.ops.reduction.softmax import SAFE
from tinynet.ops.reduction.sums import largest, smallest

_FEW = 32  # queries for which a copy of all keys costs more than it saves
_BLOCK = 65536  # number of scores per block, which fits the cache


def _has_batch(x: Array, scores: Array) -> bool:
    """Return whether an array has the first dimension of the scores, at its full length."""
    return x.ndim == scores.ndim > 2 and len(x) == len(scores)


def _by_part(work: Callable[[Any], None], scores: Array, *inputs: Array) -> None:
    """Call a function with parts of the first dimension, if all arrays have it."""
    shared = all(_has_batch(x, scores) for x in inputs)
    if not shared or scores.size <= _BLOCK:
        work(...)
    else:
        step = max(1, _BLOCK * len(scores) // scores.size)
        threads.in_turn(work, threads.slices(len(scores), step))


def _part(x: Array | None, part: Any, like: Array) -> Array | None:
    """Return the part of a mask for a part of the scores."""
    return x[part] if x is not None and _has_batch(x, like) else x


def _write_scores(
    query: Array, key: Array, scale: float, bias: Array | None, scores: Array
) -> Array:
    """Write ``query @ key.T * scale + bias``; small products are faster with contiguous columns."""
    if query.shape[-2] < _FEW:
        np.matmul(query * query.dtype.type(scale), key.swapaxes(-1, -2), out=scores)
    else:
        columns = np.multiply(key.swapaxes(-1, -2), key.dtype.type(scale), order="C")
        np.matmul(query, columns, out=scores)
    if bias is not None:
        scores += bias
    return scores


def _tops(scores: Array) -> Array:
    """Return the largest score of each row, as a column; 0 where all are -inf."""
    tops = largest(scores, axis=-1, keepdims=True, initial=-np.inf)
    return np.where(np.isneginf(tops), scores.dtype.type(0), tops)


def _write_powers(
    query: Array,
    key: Array,
    scale: float,
    bias: Array | None,
    keep: Array | None,
    powers: Array,
    sums: Array,
) -> None:
    """Write the exponentials of the scores, up to a factor per row, and their sums as a column.

    If no score is large and no sum is small, exp needs no shift, which saves two passes.
    """
    scores = _write_scores(query, key, scale, bias, powers)
    ones, safe = np.ones((scores.shape[-1], 1), scores.dtype), SAFE.get(scores.dtype, 0.0)
    if largest(scores, axis=None, initial=-np.inf) < safe:
        np.exp(scores, out=scores)
        if keep is not None:
            scores *= keep
        np.matmul(scores, ones, out=sums)
        if smallest(sums, axis=None, initial=np.inf) > math.exp(-safe):
            return
        _write_scores(query, key, scale, bias, powers)
    if keep is not None:
        np.copyto(scores, -np.inf, where=keep == 0)
    scores -= _tops(scores)
    np.exp(scores, out=scores)
    np.matmul(scores, ones, out=sums)
    sums[sums == 0] = 1  # all keys masked: the output is 0


def _allocate(like: Array, shape: tuple[int, ...]) -> Array:
    """Allocate a product in the memory order of ``like`` if it has the same shape."""
    return np.empty_like(like) if like.shape == shape else np.empty(shape, like.dtype)


def _allocate_gradients(batch: tuple[int, ...], *inputs: Array) -> Sequence[Array]:
    """Allocate the gradients: slices of one array if the inputs are slices of one.

    The gradients then need no concatenation.
    """
    x = inputs[0]
    first, second, third = (x.__array_interface__["data"][0] for x in inputs)
    same_layout = all(other.shape == x.shape and other.strides == x.strides for other in inputs)
    if same_layout and 0 < second - first == third - second and x.shape[:-2] == batch:
        return [*np.empty_like(as_strided(x, (3, *x.shape), (second - first, *x.strides)))]
    return [_allocate(x, (*batch, *x.shape[-2:])) for x in inputs]


def _batch(query: Array, key: Array, value: Array) -> tuple[int, ...]:
    """Return the dimensions before the matrices."""
    shapes = [x.shape[:-2] for x in (query, key, value)]
    return shapes[0] if shapes[0] == shapes[1] == shapes[2] else np.broadcast_shapes(*shapes)


def _attend(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None,
    keep: Array | None,
    noise: Array | None,
    scale: float,
) -> tuple[Array, Array, Array]:
    """Return the output, exponentials of the scores up to a factor, and their sums."""
    batch, length, kind = _batch(query, key, value), query.shape[-2], query.dtype
    powers = np.empty((*batch, length, key.shape[-2]), kind)
    sums = np.empty((*batch, length, 1), kind)
    output = _allocate(query, (*batch, length, value.shape[-1]))

    def work(part: Any) -> None:
        p, out = powers[part], output[part]
        b, k, n = (_part(x, part, powers) for x in (bias, keep, noise))
        _write_powers(query[part], key[part], scale, b, k, p, sums[part])
        np.matmul(p if n is None else p * n, value[part], out=out)
        out /= sums[part]

    _by_part(work, powers, query, key, value)
    return output, powers, sums


@operation(
    hidden=("powers", "sums"),
    methods=False,
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    batch="leading",
    order="",  # as the query lies in memory
)
def attend(
    query: Array,
    key: Array,
    value: Array,
    /,
    keep: Array | None,
    noise: Array | None,
    scale: float,
) -> tuple[Array, Array, Array]:
    """Return for each query the mean of the values, weighted by softmax of its scores.

    Args:
        query: ``[..., L, E]``.
        key: ``[..., S, E]``.
        value: ``[..., S, V]``.
        keep: 0 for masked pairs and 1 for others, of a shape that broadcasts with ``[..., L, S]``;
            or None.
        noise: dropout factors of the weights, or None.
        scale: the factor of the scores ``query @ key.T``.
    """
    return _attend(query, key, value, None, keep, noise, scale)


@operation(
    hidden=("powers", "sums"),
    methods=False,
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    batch="leading",
    order="",  # as the query lies in memory
)
def attend_with_bias(
    query: Array, key: Array, value: Array, bias: Array, /, noise: Array | None, scale: float
) -> tuple[Array, Array, Array]:
    """Return ``attend`` with a bias added to the scores.

    Args:
        query, key, value, noise, scale: as for ``attend``.
        bias: of a shape that broadcasts with ``[..., L, S]``.
    """
    return _attend(query, key, value, bias, None, noise, scale)


def attention_steps(
    inputs: Sequence[Tensor], keep: Array | None, noise: Array | None, scale: float
) -> tuple[Tensor]:
    """Compute either operation from elementary ones; the fourth input, if any, is the bias."""
    query, key, value, *bias = inputs
    scores = matmul(query, key.mT) * scale
    if bias:
        scores = scores + bias[0]
    if keep is not None:
        scores = scores.masked_fill(wrap(_is_zero(keep)), -math.inf)
    powers: Any = exp(scores - wrap(run_traced(_tops, scores._array)))
    sums = powers.sum(-1, True)
    if noise is not None:
        powers = powers * wrap(noise)
    return (matmul(powers, value) / (sums + wrap(_is_zero(sums._array))),)


@traced
def _is_zero(array: Any) -> Any:
    return array == 0


# ---- the derivative -----------------------------------------------------------------------------


def _write_score_gradient(d: Array, powers: Array, g: Array, result: Array, factor: float) -> None:
    """Overwrite the gradient of the weights with that of the scores."""
    products = np.einsum("...i,...i->...", g, result)
    products *= factor
    d -= products[..., None]
    d *= powers


def _backward(
    g: Array,
    query: Array,
    key: Array,
    value: Array,
    result: Array,
    powers: Array,
    sums: Array,
    noise: Array | None,
    scale: float,
    of_scores: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return the gradients of query, key and value; write that of the scores to ``of_scores``."""
    batch = powers.shape[:-2]
    of_query, of_key, of_value = _allocate_gradients(batch, query, key, value)
    # The gradient of the scores includes their factor, unless it is itself needed.
    inner, outer = (scale, 1.0) if of_scores is None else (1.0, scale)

    def work(part: Any) -> None:
        p, n = powers[part], _part(noise, part, powers)
        g_over = g[part] / sums[part]
        weights = p if n is None else p * n
        np.matmul(weights.swapaxes(-1, -2), g_over, out=of_value[part])
        columns = np.multiply(value[part].swapaxes(-1, -2), value.dtype.type(inner), order="C")
        d = np.empty_like(p) if of_scores is None else of_scores[part]
        np.matmul(g_over, columns, out=d)
        if n is not None:
            d *= n
        _write_score_gradient(d, p, g_over, result[part], inner)
        np.matmul(d, key[part], out=of_query[part])
        np.matmul(d.swapaxes(-1, -2), query[part], out=of_key[part])

    _by_part(work, powers, g, query, key, value)
    if outer != 1.0:
        of_query *= of_query.dtype.type(outer)
        of_key *= of_key.dtype.type(outer)
    return of_query, of_key, of_value


def _gradients(
    g: Any,
    query: Any,
    key: Any,
    value: Any,
    result: Any,
    powers: Any,
    sums: Any,
    keep: Array | None,
    noise: Array | None,
    scale: float,
    needs: tuple[bool, ...],
) -> tuple[Any, ...]:
    if isinstance(g, Tensor):
        inputs = (query, key, value)
        steps = lambda tensors: attention_steps(tensors, keep, noise, scale)  # noqa: E731
        return recorded(steps, inputs, [g], needs)
    return _backward(g, query, key, value, result, powers, sums, noise, scale)


def _gradients_with_bias(
    g: Any,
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    result: Any,
    powers: Any,
    sums: Any,
    noise: Array | None,
    scale: float,
    needs: tuple[bool, ...],
) -> tuple[Any, ...]:
    if isinstance(g, Tensor):
        inputs = (query, key, value, bias)
        steps = lambda tensors: attention_steps(tensors, None, noise, scale)  # noqa: E731
        return recorded(steps, inputs, [g], needs)
    d = np.empty_like(powers)
    return *_backward(g, query, key, value, result, powers, sums, noise, scale, d), d


attend.grads(_gradients)
attend_with_bias.grads(_gradients_with_bias)
