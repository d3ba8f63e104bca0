"""Scaled dot-product attention."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import run_traced, traced
from tinynet.dtypes import Array
from tinynet.kernels import native as native_kernels
from tinynet.kernels import threads
from tinynet.kernels.sums import numbers, ones
from tinynet.nn.functional import native_attention
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.double_backward import recorded
from tinynet.nn.functional.dropouts import dropout_factors
from tinynet.ops.arguments import c_name, name_of
from tinynet.ops.pointwise.exponential import exp
from tinynet.ops.products.matmul import matmul
from tinynet.ops.reduction.softmax import SAFE
from tinynet.ops.reduction.sums import largest

__all__ = [
    "scaled_dot_product_attention",
]


# ---- attention ops ------------------------------------------------------------------------------
# Attention as one operation, for speed: ``softmax(query @ key.T * scale + bias) @ value``.
#
# A composite would fill five more arrays of the size of the scores. Here the exponentials overwrite
# the scores and are saved. They are not divided by their sums; the output is, which is smaller.


_FEW = 32  # queries for which a copy of all keys costs more than it saves
_LISTED = 64  # sums of which Python finds the extremes sooner than numpy
_BLOCK = 65536  # number of scores per block, which fits the cache
_ROWS = 128  # number of queries per block of a large matrix
_SAFE = {kind: math.exp(top) for kind, top in SAFE.items()}  # sums of exponentials


def _parts(scores: Array) -> Sequence[Any]:
    """Return indices of the dimensions before the matrices, for parts that fit the cache."""
    if scores.size <= _BLOCK or scores.ndim == 2:
        return [...]
    if scores.shape[-2] * scores.shape[-1] * 2 > _BLOCK:
        return list(np.ndindex(scores.shape[:-2]))
    return threads.slices(len(scores), max(1, _BLOCK * len(scores) // scores.size))


def _spans(keep: Array | None, length: int, keys: int) -> list[tuple[slice, int, int]]:
    """Return blocks of queries, each with the keys where its mask begins, and behind those it sees.

    So half of the products with a causal mask are left out.
    """
    begin, end, found = 0, keys, []
    mask = keep if keep is not None and keep.shape == (length, keys) else None
    if length * keys * 2 <= _BLOCK:
        return [(slice(None), begin, end)]
    for rows in threads.slices(length, max(_ROWS, _BLOCK // keys) if mask is None else _ROWS):
        if mask is not None:
            by_all, by_any = np.minimum.reduce(mask[rows]) > 0, np.maximum.reduce(mask[rows]) > 0
            begin = keys if by_all.all() else int(np.argmin(by_all))
            end = keys - int(np.argmax(by_any[::-1])) if by_any.any() else 0
        found.append((rows, begin, end))
    return found


def _scaled(rows: Array, x: Array, scale: float) -> tuple[Array, Array]:
    """Return rows and transposed matrices, one of them times a factor.

    Products are faster with contiguous columns, which few rows are not worth.
    """
    (factor,), columns = numbers(x.dtype, scale), x.swapaxes(-1, -2)
    if rows.shape[-2] < _FEW:
        return rows * factor, columns
    return rows, np.multiply(columns, factor, order="C")


def _tops(scores: Array) -> Array:
    """Return the largest score of each row, as a column; 0 where all are -inf."""
    tops = largest(scores, axis=-1, keepdims=True, initial=-np.inf)
    return np.where(np.isneginf(tops), scores.dtype.type(0), tops)


def _powers(
    query: Array,
    columns: Array,
    bias: Array | None,
    keep: Array | None,
    powers: Array | None = None,
) -> tuple[Array, Array]:
    """Return the exponentials of the scores, up to a factor per row, and the sum of each row.

    They are written to ``powers``, if given. If no sum is large or small, exp needs no shift, which
    saves three passes.
    """
    scores: Any = powers
    limit = _SAFE.get(columns.dtype, 1.0)
    for shifted in (False, True):
        scores = np.matmul(query, columns, scores)
        if bias is not None:
            scores += bias
        if shifted:
            if keep is not None:
                np.copyto(scores[..., -keep.shape[-1] :], -np.inf, where=keep == 0)
            scores -= _tops(scores)
        np.exp(scores, scores)
        if keep is not None:
            scores[..., -keep.shape[-1] :] *= keep
        sums = _totals(scores)
        ends = (sums.tolist() or [1.0]) if sums.size <= _LISTED else [sums.min(), sums.max()]
        if 1 / limit < min(ends) and sum(ends) < limit:  # False where one is NaN
            break
    else:
        sums[sums == 0] = 1  # all keys masked: the output is 0
    return scores, sums.reshape(scores.shape[:-1] + (1,))


def _totals(powers: Array) -> Array:
    """Return the sums of all rows."""
    every = ones(powers.shape[-1], powers.dtype)
    if powers.flags.c_contiguous and every.size:
        return powers.reshape(-1, every.size).dot(every)
    return np.matmul(powers, every).reshape(-1)


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


def _broadcast(x: Array, shape: tuple[int, ...]) -> Array:
    return x if x.shape == shape else np.broadcast_to(x, shape)


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
    batch, length, keys = query.shape[:-2], query.shape[-2], key.shape[-2]
    if not batch == key.shape[:-2] == value.shape[:-2]:
        batch = np.broadcast_shapes(batch, key.shape[:-2], value.shape[:-2])
    output = _allocate(query, batch + (length, value.shape[-1]))
    is_small = math.prod(batch) * length * keys * 2 <= _BLOCK
    if is_small and (keep is None or keep.shape[-1] == keys):
        q, columns = _scaled(query, key, scale)  # all in one block: numpy broadcasts
        powers, sums = _powers(q, columns, bias, keep)
        np.matmul(powers if noise is None else powers * noise, value, output)
        np.divide(output, sums, output)
        return output, powers, sums

    powers = np.empty((*batch, length, keys), query.dtype)
    sums = np.empty((*batch, length, 1), query.dtype)
    query, key, value = (_broadcast(x, batch + x.shape[-2:]) for x in (query, key, value))
    b, k = (x if x is None else _broadcast(x, powers.shape) for x in (bias, keep))
    spans = _spans(keep, length, keys)
    for part in _parts(powers):
        p, out, total = powers[part], output[part], sums[part]
        q, columns = _scaled(query[part], key[part], scale)
        for rows, begin, end in spans:
            at = ..., rows, slice(end)  # powers behind the end are never read
            bias_of = b if b is None else b[part][at]
            kept = None if k is None or begin >= end else k[part][..., rows, begin:end]
            given = q[..., rows, :], columns[..., :end], bias_of, kept, p[at]
            total[..., rows, :] = _powers(*given)[1]
            weights = p[at] if noise is None else p[at] * noise[part][at]
            np.matmul(weights, value[part][..., :end, :], out=out[..., rows, :])
        out /= total
    return output, powers, sums


@operation(
    hidden=("powers", "sums"),
    node="ScaledDotProductFlashAttentionForCpuBackward0",
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
    if native_kernels.takes(query, key, value) and native_attention.fits(query, key, value, keep):
        return native_attention.attend(query, key, value, keep, noise, scale)
    return _attend(query, key, value, None, keep, noise, scale)


@operation(
    hidden=("powers", "sums"),
    node="ScaledDotProductFlashAttentionForCpuBackward0",
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


def _add_product(a: Array, b: Array, whole: Array, end: int, number: int) -> None:
    """Add ``a.T @ b`` of a block of queries to the gradient of the keys that they see."""
    out = whole[..., :end, :]
    product = np.multiply if a.shape[-2] == 1 else np.matmul  # BLAS is slow at outer products
    if number:
        out += product(a.swapaxes(-1, -2), b)
    else:
        product(a.swapaxes(-1, -2), b, out=out)
        whole[..., end:, :] = 0


def _backward(
    g: Array,
    query: Array,
    key: Array,
    value: Array,
    result: Array,
    powers: Array,
    sums: Array,
    keep: Array | None,
    noise: Array | None,
    scale: float,
    of_scores: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return the gradients of query, key and value; write that of the scores to ``of_scores``."""
    batch = powers.shape[:-2]
    of_query, of_key, of_value = _allocate_gradients(batch, query, key, value)
    # The gradient of the scores includes their factor, unless it is itself needed.
    inner, outer = (scale, 1.0) if of_scores is None else (1.0, scale)

    query, key, value = (_broadcast(x, batch + x.shape[-2:]) for x in (query, key, value))
    spans = _spans(keep, *powers.shape[-2:])
    for part in _parts(powers):
        over, by_key, by_value = g[part] / sums[part], of_key[part], of_value[part]
        scaled, columns = _scaled(over, value[part], inner)
        for number, (rows, _, end) in enumerate(spans):
            at = ..., rows, slice(end)
            p, g_over = powers[part][at], over[..., rows, :]
            weights = p if noise is None else p * noise[part][at]
            d = np.empty_like(p) if of_scores is None else of_scores[part][at]
            np.matmul(scaled[..., rows, :], columns[..., :end], out=d)
            if noise is not None:
                d *= noise[part][at]
            _write_score_gradient(d, p, g_over, result[part][..., rows, :], inner)
            np.matmul(d, key[part][..., :end, :], out=of_query[part][..., rows, :])
            _add_product(d, query[part][..., rows, :], by_key, end, number)
            _add_product(weights, g_over, by_value, end, number)
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
    if native_kernels.takes(query, key, value) and native_attention.fits(query, key, value, keep):
        made = _allocate_gradients(query.shape[:-2], query, key, value)
        saved = result, powers, sums
        native_attention.write_gradients(g, (query, key, value), saved, made, keep, noise, scale)
        return tuple(made)
    return _backward(g, query, key, value, result, powers, sums, keep, noise, scale)


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
    return *_backward(g, query, key, value, result, powers, sums, None, noise, scale, d), d


attend.grads(_gradients)
attend_with_bias.grads(_gradients_with_bias)


# ---- scaled dot product -------------------------------------------------------------------------


@composite(module=True, autocast="lower")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return for each query the mean of the values, weighted by the similarity of their keys.

    The weights are ``softmax(query @ key.T * scale)`` over the keys. A query whose keys are all
    masked gives 0.

    Args:
        query: ``[..., heads, L, E]``.
        key: ``[..., heads, S, E]``.
        value: ``[..., heads, S, V]``.
        attn_mask: of a shape that broadcasts to ``[..., heads, L, S]``: bool, True where a query
            may attend to a key; or of the dtype of the query, added to the scores.
        dropout_p: probability of zeroing each weight; applied even in evaluation.
        is_causal: query i attends only to keys up to i.
        scale: the factor of the scores; ``1 / sqrt(E)`` unless given.
        enable_gqa: allow fewer heads of keys and values than of queries; each is shared by several.

    Raises:
        RuntimeError: shapes or dtypes do not match; or both a mask and ``is_causal`` are given.

    Source: Vaswani et al., "Attention is all you need", 2017.

    Example:
        >>> q, k = tn.zeros(1, 2, 4), tn.zeros(1, 2, 4)
        >>> v = tn.tensor([[[1.0], [3.0]]])
        >>> F.scaled_dot_product_attention(q, k, v, is_causal=True)
        tensor([[[1.],
                 [2.]]])
    """
    if not 0.0 <= dropout_p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")
    shape = _plain_shape(query, key, value)
    if shape is None:
        tensor_only("scaled_dot_product_attention", query=query, key=key, value=value)
        _check_dtypes(query, key, value)
    if enable_gqa:
        key, value = (_repeated_heads(query, x) for x in (key, value))
    kind = query._array.dtype
    if kind.char == "e":  # products and sums in float16 are slow and inaccurate
        if attn_mask is not None and attn_mask.is_floating_point():
            attn_mask = attn_mask.float()
        q, k, v = query.float(), key.float(), value.float()
        return scaled_dot_product_attention(
            q, k, v, attn_mask, dropout_p, is_causal, scale=scale
        ).half()
    shape = shape or _shape_of_scores(query, key, value)
    keep = None
    if attn_mask is not None:
        _check_mask(attn_mask, query, shape, is_causal)
        if attn_mask.dtype == dtypes.bool:
            keep = arrays.converted(attn_mask._array, kind)
    elif is_causal:
        keep = _causal(*shape[-2:], kind)
    noise = dropout_factors(shape, dropout_p, kind) if dropout_p > 0.0 else None
    factor = 1 / math.sqrt(max(query._array.shape[-1], 1)) if scale is None else float(scale)
    if attn_mask is not None and keep is None:
        return attend_with_bias.function(query, key, value, attn_mask, noise, factor)
    return attend.function(query, key, value, keep, noise, factor)


@functools.lru_cache(maxsize=32)
def _causal(rows: int, columns: int, kind: np.dtype[Any]) -> Array:
    """Return the lower triangular matrix of ones."""
    mask = np.tri(rows, columns, dtype=kind)
    mask.flags.writeable = False
    return mask


def _repeated_heads(query: Tensor, x: Tensor) -> Tensor:
    """Return keys or values with each head repeated, so that every query head has one."""
    if min(query.ndim, x.ndim) < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{x.ndim}, {x.ndim - 1}], "
            "but got -3)"
        )
    heads, queries = x.shape[-3], query.shape[-3]
    if not heads or queries % heads:
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in query. "
            f"Got {heads} and {queries} instead."
        )
    if heads == queries:
        return x
    *batch, _, length, size = x.shape
    repeated = x.unsqueeze(-3).expand(*batch, heads, queries // heads, length, size)
    return repeated.reshape(*batch, queries, length, size)


def _plain_shape(query: Any, key: Any, value: Any) -> tuple[int, ...] | None:
    """Return the shape of the scores of tensors whose shapes need no check; None for others."""
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and isinstance(value, Tensor)):
        return None
    q, k, v = query._array, key._array, value._array
    kind, queries, keys = q.dtype, q.shape, k.shape
    if not kind is k.dtype is v.dtype or kind.char not in "fd" or not 1 < q.ndim == k.ndim:
        return None
    if queries[:-2] != keys[:-2] or queries[-1] != keys[-1] or keys[:-1] != v.shape[:-1]:
        return None
    return queries[:-1] + keys[-2:-1]


def _check_dtypes(query: Tensor, key: Tensor, value: Tensor) -> None:
    if not query._array.dtype == key._array.dtype == value._array.dtype:
        kinds = [c_name(x._array) for x in (query, key, value)]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{kinds[0]} key.dtype: {kinds[1]} and value.dtype: {kinds[2]} instead."
        )
    if not dtypes.is_floating(query._array.dtype):
        raise RuntimeError(f"expected scalar type Float but found {name_of(query._array)}")


def _shape_of_scores(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, ...]:
    """Return the shape of the scores; raise RuntimeError if shapes do not match."""
    shapes = q, k, v = query._array.shape, key._array.shape, value._array.shape
    if min(len(q), len(k), len(v)) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if q[-1] != k[-1] or k[-2] != v[-2]:
        raise RuntimeError(
            "The 'query', 'key' and 'value' of scaled_dot_product_attention must be [..., L, E], "
            f"[..., S, E] and [..., S, V]. Got {list(q)}, {list(k)} and {list(v)} instead."
        )
    batch = q[:-2]
    for shape in shapes[1:]:
        if shape[:-2] == batch:
            continue
        try:
            batch = np.broadcast_shapes(batch, shape[:-2])
        except ValueError:
            raise errors.not_broadcastable(q, (*shape[:-2], 1, 1)) from None
    return (*batch, q[-2], k[-2])


def _check_mask(mask: Tensor, query: Tensor, shape: tuple[int, ...], is_causal: bool) -> None:
    """Raise RuntimeError for a mask of the wrong shape or dtype, or together with is_causal."""
    if is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )
    if mask.dtype not in (dtypes.bool, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {c_name(mask._array)} and  query.dtype: "
            f"{c_name(query._array)} instead."
        )
    try:
        broadcast = np.broadcast_shapes(shape, mask._array.shape)
    except ValueError:
        raise errors.not_broadcastable(shape, mask.shape) from None
    if broadcast != shape:
        raise RuntimeError(
            f"output with shape {list(shape)} doesn't match the broadcast shape {list(broadcast)}"
        )
