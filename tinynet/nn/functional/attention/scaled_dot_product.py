"""Scaled dot-product attention."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.declaration.casting import autocast
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.nn.functional.attention.attention_ops import attend, attend_with_bias
from tinynet.nn.functional.checks import tensor_only
from tinynet.nn.functional.dropouts import dropout_factors
from tinynet.ops.argument_errors import c_name, name_of

__all__ = ["scaled_dot_product_attention"]


@autocast("lower")
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
    tensor_only("scaled_dot_product_attention", query=query, key=key, value=value)
    if not 0.0 <= dropout_p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")
    _check_dtypes(query, key, value)
    if enable_gqa:
        key, value = (_repeated_heads(query, x) for x in (key, value))
    if query.dtype == dtypes.float16:  # products and sums in float16 are slow and inaccurate
        if attn_mask is not None and attn_mask.is_floating_point():
            attn_mask = attn_mask.float()
        q, k, v = query.float(), key.float(), value.float()
        return scaled_dot_product_attention(
            q, k, v, attn_mask, dropout_p, is_causal, scale=scale
        ).half()
    shape = _shape_of_scores(query, key, value)
    kind = query._array.dtype
    keep = None
    if attn_mask is not None:
        _check_mask(attn_mask, query, shape, is_causal)
        if attn_mask.dtype == dtypes.bool:
            keep = arrays.converted(attn_mask._array, kind)
    elif is_causal:
        keep = _causal(*shape[-2:], kind)
    noise = dropout_factors(shape, dropout_p, kind) if dropout_p > 0.0 else None
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
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


def _check_dtypes(query: Tensor, key: Tensor, value: Tensor) -> None:
    if not query._array.dtype == key._array.dtype == value._array.dtype:
        kinds = [c_name(x._array) for x in (query, key, value)]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{kinds[0]} key.dtype: {kinds[1]} and value.dtype: {kinds[2]} instead."
        )
    if not query.is_floating_point():
        raise RuntimeError(f"expected scalar type Float but found {name_of(query._array)}")


def _shape_of_scores(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, ...]:
    """Return the shape of the scores; raise RuntimeError if shapes do not match."""
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    shapes = q, k, v = [x._array.shape for x in (query, key, value)]
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
