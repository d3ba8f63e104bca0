"""Checks of multi-head attention, and the combination of its masks."""

from __future__ import annotations

import math
from typing import Any

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.images.padding import pad
from tinynet.ops.creation.constructors import zeros

Optional = Tensor | None

# ---- inputs -------------------------------------------------------------------------------------


def dims(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Optional,
    attn_mask: Optional,
    num_heads: int,
) -> None:
    """Raise AssertionError unless all tensors have a batch dimension, or none."""
    ndim = query.ndim
    if ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor"
        )
    given = f"For {'batched' if ndim == 3 else 'unbatched'} ({ndim}-D) `query`, expected"
    if key.ndim != ndim or value.ndim != ndim:
        raise AssertionError(
            f"{given} `key` and `value` to be {ndim}-D but found {key.ndim}-D and "
            f"{value.ndim}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.ndim != ndim - 1:
        raise AssertionError(
            f"{given} `key_padding_mask` to be `None` or {ndim - 1}-D but found "
            f"{key_padding_mask.ndim}-D tensor instead"
        )
    if attn_mask is None:
        return
    if attn_mask.ndim not in (2, 3):
        raise AssertionError(
            f"{given} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.ndim}-D tensor "
            "instead"
        )
    expected = (num_heads, query.shape[0], key.shape[0])
    if ndim == 2 and attn_mask.ndim == 3 and attn_mask.shape != expected:
        raise AssertionError(
            f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}"
        )


def embedding(query: Tensor, embed_dim: int, num_heads: int) -> None:
    """Raise AssertionError unless the query has the size of the embedding, divisible by heads."""
    if query.shape[-1] != embed_dim:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim}, but got {query.shape[-1]}"
        )
    if embed_dim % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")


def projections(packed: Optional, separate: tuple[Optional, ...] | None) -> None:
    """Raise AssertionError for weights that are missing."""
    if separate is None:
        if packed is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        return
    for name, weight in zip("qkv", separate, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")


def with_batch(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Add a batch dimension; tensors that are identical stay identical."""
    batched = {id(x): x.unsqueeze(1) for x in (query, key, value)}
    return batched[id(query)], batched[id(key)], batched[id(value)]


def sizes(
    qkv: tuple[Tensor, Tensor, Tensor], separate: tuple[Any, ...] | None, batch_first: bool
) -> None:
    """Raise AssertionError unless there is one value for each key, and separate weights fit."""
    k, v = (x.transpose(0, 1).shape if batch_first else x.shape for x in qkv[1:])
    if separate is None:
        if k != v:
            raise AssertionError(f"key shape {k} does not match value shape {v}")
        return
    if k[:2] != v[:2]:
        raise AssertionError(f"key's sequence and batch dims {k[:2]} do not match value's {v[:2]}")
    for name, x, w in zip(("query", "key", "value"), qkv, separate, strict=True):
        expected = (qkv[0].shape[-1], x.shape[-1])
        if w.shape != expected:
            raise AssertionError(f"expecting {name} weights shape of {expected}, but got {w.shape}")


def batches(query: Tensor, key: Tensor, batch_first: bool) -> None:
    """Raise RuntimeError unless there are keys and values for each query; they do not broadcast."""
    queries, keys = (x.shape[0 if batch_first else 1] for x in (query, key))
    if queries != keys:
        raise RuntimeError(
            f"The query is a batch of {queries}, key and value of {keys}: they must be equal."
        )


def no_causal_mask() -> RuntimeError:
    """Return the error for ``is_causal`` without a mask."""
    return RuntimeError(
        "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
        "method `generate_square_subsequent_mask` to create this mask."
    )


# ---- masks --------------------------------------------------------------------------------------


def mask_dtypes(
    key_padding_mask: Optional,
    attn_mask: Optional,
    names: tuple[str, str] = ("key_padding_mask", "attn_mask"),
) -> None:
    """Raise AssertionError for masks that are neither bool nor floating; warn of a mixture."""
    for mask, name in zip((key_padding_mask, attn_mask), names, strict=True):
        if mask is not None and mask.dtype != dtypes.bool and not mask.is_floating_point():
            raise AssertionError(f"only bool and floating types of {name} are supported")
    if key_padding_mask is not None and attn_mask is not None:
        if key_padding_mask.dtype != attn_mask.dtype:
            warn(
                f"Support for mismatched {names[0]} and {names[1]} is deprecated. "
                "Use same type for both instead."
            )


def attn_mask_shape(
    mask: Optional, query: Tensor, key: Tensor, num_heads: int, batch_first: bool
) -> None:
    """Raise RuntimeError for a mask of another shape than the scores."""
    if mask is None:
        return
    steps = 1 if batch_first else 0
    expected: tuple[int, ...] = (query.shape[steps], key.shape[steps])
    if mask.ndim == 3:
        expected = (query.shape[1 - steps] * num_heads, *expected)
    if mask.shape != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {expected}."
        )


def no_half_or_static(key: Optional, value: Optional, static: tuple[Optional, Optional]) -> None:
    """Raise for a learned key without a learned value, and for both with static keys."""
    names = ("bias_k", "bias_v")
    for name, other, given, partner in (*names, key, value), (*reversed(names), value, key):
        if given is not None and partner is None:
            raise AssertionError(f"{name} is set but {other} is None")
    if key is not None:
        for what, given in zip(("key", "value"), static, strict=True):
            if given is not None:
                raise AssertionError(f"bias cannot be added to static {what}.")


def merged_masks(
    attn_mask: Optional, key_padding_mask: Optional, query: Tensor, key: Tensor, added_keys: int
) -> Optional:
    """Merge the masks into one that broadcasts to the scores; bool (True: masked) if both are.

    Args:
        query, key: by head.
        added_keys: the number of additional keys, which are never masked.
    """
    batch, heads, rows = query.shape[:3]
    if attn_mask is not None:
        attn_mask = pad(attn_mask, (0, added_keys)) if added_keys else attn_mask
        if attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape(batch, heads, rows, attn_mask.shape[2])
    if key_padding_mask is None:
        return attn_mask
    if added_keys:
        key_padding_mask = pad(key_padding_mask, (0, added_keys))
    for place, expected in enumerate((batch, key.shape[2])):
        if key_padding_mask.shape[place] != expected:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{place}] to be {expected}, but got "
                f"{key_padding_mask.shape[place]}"
            )
    key_padding_mask = key_padding_mask.reshape(batch, 1, 1, key.shape[2])
    if attn_mask is None:
        return key_padding_mask
    if attn_mask.dtype == key_padding_mask.dtype == dtypes.bool:
        return attn_mask | key_padding_mask
    return added(attn_mask, query.dtype) + added(key_padding_mask, query.dtype)


def added(mask: Tensor, kind: dtypes.dtype) -> Tensor:
    """Return a mask as an additive one: -inf for True."""
    if mask.dtype != dtypes.bool:
        return mask
    return zeros(*mask.shape, dtype=kind).masked_fill(mask, -math.inf)
