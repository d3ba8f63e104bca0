"""Attention as one operation, for speed: ``softmax(query @ key.T * scale + bias) @ value``.

As a composite it would fill five more arrays of the size of the scores. Here the exponentials are
made in place and kept; they are never divided by their sums: the output is, which is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.operation import operation
from tinynet.core.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.nn.functional.recorded import recorded
from tinynet.ops.exponential import exp
from tinynet.ops.products import matmul
from tinynet.ops.reduction import largest, smallest
from tinynet.ops.softmax import SAFE


def _scores(query: Array, key: Array, scale: float, bias: Array | None) -> Array:
    """Return ``query @ key.T * scale + bias``; small products are faster with keys in columns."""
    columns = np.multiply(key.swapaxes(-1, -2), key.dtype.type(scale), order="C")
    scores: Array = np.matmul(query, columns)
    if bias is not None:
        scores += bias
    return scores


def _tops(scores: Array) -> Array:
    """Return the largest score of each row, as a column; 0 where all are -inf."""
    tops = largest(scores, axis=-1, keepdims=True, initial=-np.inf)
    return np.where(np.isneginf(tops), scores.dtype.type(0), tops)


def _powers(
    query: Array, key: Array, scale: float, bias: Array | None, keep: Array | None
) -> tuple[Array, Array]:
    """Return the exponentials of the scores, up to a factor per row, and their sums as a column.

    Where no score is large and no sum small, exp needs no shift: that saves two passes over all.
    """
    scores = _scores(query, key, scale, bias)
    ones, safe = np.ones((scores.shape[-1], 1), scores.dtype), SAFE.get(scores.dtype, 0.0)
    if largest(scores, axis=None, initial=-np.inf) < safe:
        np.exp(scores, out=scores)
        if keep is not None:
            scores *= keep
        sums = np.matmul(scores, ones)
        if smallest(sums, axis=None, initial=np.inf) > math.exp(-safe):
            return scores, sums
        scores = _scores(query, key, scale, bias)
    if keep is not None:
        np.copyto(scores, -np.inf, where=keep == 0)
    scores -= _tops(scores)
    np.exp(scores, out=scores)
    sums = np.matmul(scores, ones)
    sums[sums == 0] = 1  # nothing to attend to: the output is 0
    return scores, sums


def _place(like: Array, shape: tuple[int, ...]) -> Array:
    """Return room for a product, in the memory order of ``like`` if it has the same shape."""
    return np.empty_like(like) if like.shape == shape else np.empty(shape, like.dtype)


def _times(a: Array, b: Array, like: Array, factor: float = 1.0) -> Array:
    """Return ``a @ b * factor``, laid out like ``like``."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = _place(like, (*batch, a.shape[-2], b.shape[-1]))
    np.matmul(a, b, out=out)
    if factor != 1.0:
        out *= out.dtype.type(factor)
    return out


def _attend(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None,
    keep: Array | None,
    noise: Array | None,
    scale: float,
) -> tuple[Array, Array, Array]:
    powers, sums = _powers(query, key, scale, bias, keep)
    output = _times(powers if noise is None else powers * noise, value, query)
    output /= sums
    return output, powers, sums


@operation(
    hidden=("powers", "sums"), methods=False, node="ScaledDotProductFlashAttentionForCpuBackward0"
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
        keep: 0 for pairs that do not meet and 1 for others, of a shape that broadcasts with
            ``[..., L, S]``; or None.
        noise: factors of the weights (dropout), or None.
        scale: of the scores, which are ``query @ key.T``.
    """
    return _attend(query, key, value, None, keep, noise, scale)


@operation(
    hidden=("powers", "sums"), methods=False, node="ScaledDotProductFlashAttentionForCpuBackward0"
)
def attend_with_bias(
    query: Array, key: Array, value: Array, bias: Array, /, noise: Array | None, scale: float
) -> tuple[Array, Array, Array]:
    """Return what ``attend`` does, with something added to the scores.

    Args:
        query, key, value, noise, scale: as for ``attend``.
        bias: of a shape that broadcasts with ``[..., L, S]``.
    """
    return _attend(query, key, value, bias, None, noise, scale)


def attention_steps(
    inputs: Sequence[Tensor], keep: Array | None, noise: Array | None, scale: float
) -> tuple[Tensor]:
    """Return what both do, from elementary operations; a bias may be the fourth input."""
    query, key, value, *bias = inputs
    scores = matmul(query, key.mT) * scale
    if bias:
        scores = scores + bias[0]
    if keep is not None:
        scores = scores.masked_fill(wrap(keep == 0), -math.inf)
    powers: Any = exp(scores - wrap(_tops(scores._array)))
    sums = powers.sum(-1, True)
    if noise is not None:
        powers = powers * wrap(noise)
    return (matmul(powers, value) / (sums + wrap(sums._array == 0)),)


# ---- the derivative -----------------------------------------------------------------------------


def _back(
    g: Array,
    query: Array,
    key: Array,
    value: Array,
    result: Array,
    powers: Array,
    sums: Array,
    noise: Array | None,
    scale: float,
) -> tuple[Array, Array, Array, Array]:
    """Return the gradients of query, key, value and scores."""
    g = g / sums
    weights = powers if noise is None else powers * noise
    of_value = _times(weights.swapaxes(-1, -2), g, value)
    d = np.matmul(g, np.ascontiguousarray(value.swapaxes(-1, -2)))
    if noise is not None:
        d *= noise
    d -= np.einsum("...i,...i->...", g, result)[..., None]
    d *= powers
    return _times(d, key, query, scale), _times(d.swapaxes(-1, -2), query, key, scale), of_value, d


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
    return _back(g, query, key, value, result, powers, sums, noise, scale)[:3]


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
    return _back(g, query, key, value, result, powers, sums, noise, scale)


attend.grads(_gradients)
attend_with_bias.grads(_gradients_with_bias)
