"""MultiheadAttention."""

from __future__ import annotations

from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.functional import multi_head_attention as check
from tinynet.nn.functional.multi_head_attention import Extra, Inward, Masks, MultiHead, Weighted
from tinynet.nn.layers.linear import Linear
from tinynet.nn.parameter import Parameter
from tinynet.ops.creation.constructors import empty

__all__ = [
    "MultiheadAttention",
]


class NonDynamicallyQuantizableLinear(Linear):
    """A ``Linear`` with the name that PyTorch prints for ``MultiheadAttention.out_proj``."""


class MultiheadAttention(Module):
    """Multi-head attention: each head attends with its own part of the embedding.

    Queries, keys and values are projected, each head attends with its part of them (see
    ``F.scaled_dot_product_attention``), and the concatenated results are projected again. Weights
    are initialised from Xavier's uniform distribution, ``bias_k`` and ``bias_v`` from Xavier's
    normal distribution, biases with 0.

    Args:
        embed_dim: size of the embedding; each head gets ``embed_dim / num_heads`` of it.
        num_heads: number of heads.
        dropout: probability of zero for each attention weight in training.
        bias: whether the projections have biases.
        add_bias_kv: add a learned key and value.
        add_zero_attn: add a key and value of zeros.
        kdim: size of the keys; ``embed_dim`` unless given.
        vdim: size of the values; ``embed_dim`` unless given.
        batch_first: ``[batch, steps, ...]`` instead of ``[steps, batch, ...]``.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Raises:
        ValueError: a size is not positive, or dropout is out of range (in the call).
        AssertionError: ``num_heads`` does not divide ``embed_dim``; in the call, tensors of the
            wrong dimensions or sizes, or a mask that is neither bool nor floating-point.
        RuntimeError: batch sizes or dtypes that differ, an ``attn_mask`` of the wrong shape, or
            ``is_causal`` without a mask.

    Shape:
        query ``[L, batch, embed_dim]``, key ``[S, batch, kdim]``, value ``[S, batch, vdim]`` to
        ``[L, batch, embed_dim]`` and weights ``[batch, L, S]``; the batch dimension is optional.

    Attributes:
        in_proj_weight: ``[3 * embed_dim, embed_dim]``; or, if ``kdim`` or ``vdim`` differs,
        q_proj_weight, k_proj_weight, v_proj_weight: ``[embed_dim, size]`` each.
        in_proj_bias: ``[3 * embed_dim]``, or None.
        out_proj: a Linear.
        bias_k, bias_v: ``[1, 1, embed_dim]``, or None.

    Source: Vaswani et al., "Attention is all you need", 2017, arXiv:1706.03762.

    Example:
        >>> attention = nn.MultiheadAttention(8, 2, batch_first=True)
        >>> x = tn.zeros(3, 5, 8)
        >>> output, weights = attention(x, x, x)
        >>> output.shape, weights.shape
        (tinynet.Size([3, 5, 8]), tinynet.Size([3, 5, 5]))
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    _expected_shapes = ("[{order}, {embed_dim}]", "[L, {embed_dim}]")

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn = add_zero_attn
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        for name, shape in self._shapes(bias, add_bias_kv).items():
            made = None if shape is None else Parameter(empty(shape, dtype=dtype, device=device))
            self.register_parameter(name, made)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self._reset_parameters()

    def _shapes(self, bias: bool, add_bias_kv: bool) -> dict[str, tuple[int, ...] | None]:
        """Return the shape of each parameter; None for an absent one."""
        embed, same = self.embed_dim, self._qkv_same_embed_dim
        shapes = {"in_proj_weight": (3 * embed, embed) if same else None}
        for name, size in (("q", embed), ("k", self.kdim), ("v", self.vdim)):
            shapes[f"{name}_proj_weight"] = None if same else (embed, size)
        extra = (1, 1, embed) if add_bias_kv else None
        return {
            **shapes,
            "in_proj_bias": (3 * embed,) if bias else None,
            "bias_k": extra,
            "bias_v": extra,
        }

    def _reset_parameters(self) -> None:
        """Draw new values for the parameters."""
        for weight in (self.in_proj_weight, *self._separate()):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def _separate(self) -> tuple[Parameter | None, ...]:
        return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output and the attention weights (or None).

        Args:
            query, key, value: see ``Shape``.
            key_padding_mask: ``[batch, S]``: True for keys that no query attends to; or added to
                the scores.
            need_weights: whether to return the weights; False is faster.
            attn_mask: ``[L, S]`` or ``[batch * heads, L, S]``: True where a query must not attend
                to a key; or added to the scores.
            average_attn_weights: average the weights over the heads instead of returning
                ``[batch, heads, L, S]``.
            is_causal: a hint that ``attn_mask`` is the causal mask; the mask is still required.
        """
        check.embedding(query, self.embed_dim, self.num_heads)
        separate = None if self.in_proj_weight is not None else self._separate()
        heads = MultiHead(
            self.num_heads,
            self.batch_first,
            Inward(self.in_proj_weight, separate, self.in_proj_bias),
            Extra(self.bias_k, self.bias_v, self.add_zero_attn),
            (self.out_proj.weight, self.out_proj.bias),
            self.dropout if self.training else 0.0,
        )
        masks = Masks(key_padding_mask, attn_mask, is_causal)
        weighted = Weighted(need_weights, average_attn_weights)
        return heads.run((query, key, value), masks, weighted)
