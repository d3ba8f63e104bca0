"""Multi-head attention: projections, attention of each head, projection."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tinynet import dtypes
from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.affine import linear
from tinynet.nn.functional.dropouts import dropout
from tinynet.nn.functional.images.padding import pad
from tinynet.nn.functional.scaled_dot_product import scaled_dot_product_attention
from tinynet.ops.creation.constructors import zeros
from tinynet.ops.products.matmul import matmul
from tinynet.ops.reduction.softmax import softmax
from tinynet.ops.shaping.joining import cat

__all__ = [
    "multi_head_attention_forward",
]


# ---- multi head checks --------------------------------------------------------------------------
# Checks of multi-head attention, and the combination of its masks.


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


# ---- multi head ---------------------------------------------------------------------------------


class Inward(NamedTuple):
    """The projections of query, key and value: one weight for all, or three; and one bias."""

    packed: Optional
    separate: tuple[Any, ...] | None
    bias: Optional


class Extra(NamedTuple):
    """Additional keys and values: learned ones, and zeros."""

    key: Optional
    value: Optional
    zeros: bool

    def keys(self) -> int:
        """Return the number of additional keys."""
        return int(self.key is not None) + int(self.zeros)


class Masks(NamedTuple):
    """The masks; see ``multi_head_attention_forward``."""

    key_padding: Optional
    attn: Optional
    causal: bool


class Weighted(NamedTuple):
    """Whether to return the weights, and whether to average them over the heads."""

    returned: bool
    average: bool


@dataclass(frozen=True, slots=True)
class MultiHead:
    """Multi-head attention with given weights.

    Inputs are ``[steps, batch, size]``, with ``batch_first`` ``[batch, steps, size]``; "by head"
    means ``[batch, heads, steps, size / heads]``.
    """

    num_heads: int
    batch_first: bool
    inward: Inward
    extra: Extra
    outward: tuple[Tensor, Optional]
    dropout_p: float

    def run(
        self,
        qkv: tuple[Tensor, Tensor, Tensor],
        masks: Masks,
        weighted: Weighted,
        static: tuple[Optional, Optional] = (None, None),
    ) -> tuple[Tensor, Optional]:
        """Return the output and the weights (or None).

        Args:
            static: keys and values to use instead of projected ones.
        """
        mask_dtypes(masks.key_padding, masks.attn)
        dims(*qkv, masks.key_padding, masks.attn, self.num_heads)
        if masks.causal and masks.attn is None:
            raise no_causal_mask()
        if qkv[0].ndim == 2:
            if masks.key_padding is not None:
                masks = masks._replace(key_padding=masks.key_padding.unsqueeze(0))
            one = replace(self, batch_first=False)
            output, weights = one.run(with_batch(*qkv), masks, weighted, static)
            return output.squeeze(1), None if weights is None else weights.squeeze(0)
        sizes(qkv, self.inward.separate, self.batch_first)
        if static[0] is None or static[1] is None:
            batches(*qkv[:2], self.batch_first)
        attn_mask_shape(masks.attn, *qkv[:2], self.num_heads, self.batch_first)
        no_half_or_static(self.extra.key, self.extra.value, static)
        q, k, v = self.with_zeros(*self.by_head(*qkv), *static)
        if masks.causal and masks.key_padding is None and not weighted.returned:
            output = scaled_dot_product_attention(q, k, v, None, self.dropout_p, True)
            return linear(self.joined(output), *self.outward), None
        mask = merged_masks(masks.attn, masks.key_padding, q, k, self.extra.keys())
        if weighted.returned:
            output, weights = self.weighted(q, k, v, mask, weighted.average)
            return linear(self.joined(output), *self.outward), weights
        keep = mask.logical_not() if mask is not None and mask.dtype == dtypes.bool else mask
        output = scaled_dot_product_attention(q, k, v, keep, self.dropout_p)
        return linear(self.joined(output), *self.outward), None

    def by_head(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the projected queries, keys and values by head, with learned ones appended."""
        w, separate, b = self.inward
        extra = self.extra
        if w is not None and extra.key is None and query is key and key is value:
            parts = linear(query, w, b)  # all three at once
            size = parts.shape[2] // 3 // self.num_heads  # not -1, since the batch may be empty
            parts = parts.reshape(*parts.shape[:2], 3, self.num_heads, size)
            order = (2, 0, 3, 1, 4) if self.batch_first else (2, 1, 3, 0, 4)
            q, k, v = parts.permute(*order).unbind(0)
            return q, k, v
        weights = separate if w is None else w.chunk(3)
        biases = (None,) * 3 if b is None else b.chunk(3)
        assert weights is not None
        q, k, v = (
            linear(x, weight, bias)
            for x, weight, bias in zip((query, key, value), weights, biases, strict=True)
        )
        if extra.key is not None and extra.value is not None:
            steps = 1 if self.batch_first else 0
            shape = (k.shape[0], 1, -1) if self.batch_first else (1, k.shape[1], -1)
            k = cat([k, extra.key.expand(*shape)], steps)
            v = cat([v, extra.value.expand(*shape)], steps)
        return self.split(q), self.split(k), self.split(v)

    def split(self, x: Tensor) -> Tensor:
        """Return a tensor by head."""
        parts = x.reshape(*x.shape[:2], self.num_heads, x.shape[2] // self.num_heads)
        return parts.permute(0, 2, 1, 3) if self.batch_first else parts.permute(1, 2, 0, 3)

    def joined(self, x: Tensor) -> Tensor:
        """Return a tensor by head with its heads concatenated."""
        parts = x.permute(0, 2, 1, 3) if self.batch_first else x.permute(2, 0, 1, 3)
        return parts.flatten(2)

    def with_zeros(
        self, query: Tensor, key: Tensor, value: Tensor, static_k: Optional, static_v: Optional
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return keys and values by head, with static ones and zeros if requested."""
        batch, heads, _, size = query.shape
        key = key if static_k is None else static_k.reshape(batch, heads, -1, size)
        value = value if static_v is None else static_v.reshape(batch, heads, -1, size)
        if self.extra.zeros:
            none = zeros(batch, heads, 1, size, dtype=query.dtype)
            key, value = cat([key, none], 2), cat([value, none], 2)
        return query, key, value

    def weighted(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Optional, average: bool
    ) -> tuple[Tensor, Tensor]:
        """Return the output of all heads, and the weights."""
        scores = matmul(query * math.sqrt(1 / query.shape[-1]), key.mT)
        if mask is not None:
            scores = scores + added(mask, scores.dtype)
        weights = dropout(softmax.function(scores, -1), self.dropout_p)
        return matmul(weights, value), weights.mean(1) if average else weights


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Optional,
    in_proj_bias: Optional,
    bias_k: Optional,
    bias_v: Optional,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Optional,
    training: bool = True,
    key_padding_mask: Optional = None,
    need_weights: bool = True,
    attn_mask: Optional = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Optional = None,
    k_proj_weight: Optional = None,
    v_proj_weight: Optional = None,
    static_k: Optional = None,
    static_v: Optional = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Optional]:
    """Return the output of multi-head attention and its weights (or None).

    Args:
        query: ``[L, batch, embed]``, or without ``batch``.
        key: ``[S, batch, key size]``.
        value: ``[S, batch, value size]``.
        embed_dim_to_check: the required size of the query.
        num_heads: number of heads.
        in_proj_weight: ``[3 * embed, embed]``, for query, key and value.
        in_proj_bias: ``[3 * embed]``, or None.
        bias_k, bias_v: ``[1, 1, embed]``, an additional key and value; or None.
        add_zero_attn: add a key and value of zeros.
        dropout_p: probability of zeroing each weight.
        out_proj_weight, out_proj_bias: parameters of the output projection.
        training: whether to apply dropout.
        key_padding_mask: ``[batch, S]``: True for keys that no query attends to; or added to the
            scores.
        need_weights: whether to return the weights; False is faster.
        attn_mask: ``[L, S]`` or ``[batch * heads, L, S]``: True where a query must not attend to a
            key; or added to the scores.
        use_separate_proj_weight: use the next three weights instead of ``in_proj_weight``.
        q_proj_weight, k_proj_weight, v_proj_weight: ``[embed, size]`` each.
        static_k, static_v: keys and values by head, ``[batch * heads, S, embed / heads]``, instead
            of projected ones.
        average_attn_weights: return the mean of the weights over the heads.
        is_causal: a hint that ``attn_mask`` is the causal mask; the mask is still required.

    Returns:
        The output, shaped like the query, and the weights, ``[batch, L, S]`` or
        ``[batch, heads, L, S]``.

    Raises:
        AssertionError: sizes or numbers of dimensions do not match.
        RuntimeError: ``is_causal`` is set without a mask.

    Source: Vaswani et al., "Attention is all you need", 2017.

    Example:
        >>> layer, x = nn.MultiheadAttention(4, 2), tn.rand(3, 1, 4)
        >>> projections = layer.in_proj_weight, layer.in_proj_bias
        >>> output, weights = F.multi_head_attention_forward(
        ...     x, x, x, 4, 2, *projections, None, None, False, 0.0, *layer.out_proj.parameters()
        ... )
        >>> output.shape, weights.shape
        (tinynet.Size([3, 1, 4]), tinynet.Size([1, 3, 3]))
    """
    embedding(query, embed_dim_to_check, num_heads)
    inward = Inward(in_proj_weight, None, in_proj_bias)
    if use_separate_proj_weight:
        inward = Inward(None, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    projections(inward.packed, inward.separate)
    extra, out = Extra(bias_k, bias_v, add_zero_attn), (out_proj_weight, out_proj_bias)
    heads = MultiHead(num_heads, False, inward, extra, out, dropout_p if training else 0.0)
    masks = Masks(key_padding_mask, attn_mask, is_causal)
    weighted = Weighted(need_weights, average_attn_weights)
    return heads.run((query, key, value), masks, weighted, (static_k, static_v))
