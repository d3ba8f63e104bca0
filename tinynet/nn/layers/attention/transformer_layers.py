"""TransformerEncoderLayer and TransformerDecoderLayer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn.base.module import Module
from tinynet.nn.functional.attention import multi_head_checks as check
from tinynet.nn.layers.attention.multihead import MultiheadAttention
from tinynet.nn.layers.dropout import Dropout
from tinynet.nn.layers.linear import Linear
from tinynet.nn.layers.normalization.normalization import LayerNorm

__all__ = ["TransformerEncoderLayer", "TransformerDecoderLayer"]

Activation = str | Callable[[Tensor], Tensor]
Optional = Tensor | None


def activation_of(activation: Activation) -> Callable[[Tensor], Tensor]:
    """Return the activation function for a name; a function is returned unchanged.

    Raises:
        RuntimeError: the name is unknown.
    """
    if not isinstance(activation, str):
        return activation
    named: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}
    if activation not in named:
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return named[activation]


def _attended(
    attention: Module,
    x: Tensor,
    other: Tensor,
    attn_mask: Optional,
    key_padding_mask: Optional,
    is_causal: bool,
) -> Tensor:
    """Return the attention of ``x`` to ``other``."""
    made: Tensor = attention(
        x,
        other,
        other,
        attn_mask=attn_mask,
        key_padding_mask=key_padding_mask,
        need_weights=False,
        is_causal=is_causal,
    )[0]
    return made


class TransformerEncoderLayer(Module):
    """Self-attention and a feedforward network of two layers, each with a residual connection.

    ``x = norm1(x + attention(x))``, ``x = norm2(x + linear2(activation(linear1(x))))``; or, with
    ``norm_first``, ``x = x + attention(norm1(x))`` and so on (Xiong et al., "On layer
    normalization in the transformer architecture", 2020).

    Args:
        d_model: size of the embedding.
        nhead: number of heads.
        dim_feedforward: hidden size of the feedforward network.
        dropout: probability of zeroing in training: of the attention weights, of the activation,
            and before each residual sum.
        activation: ``"relu"``, ``"gelu"``, or a function.
        layer_norm_eps: ``eps`` of the normalisations.
        batch_first: ``[batch, steps, d_model]`` instead of ``[steps, batch, d_model]``.
        norm_first: normalise the input of each block, not the residual sum.
        bias: whether the layers and normalisations have biases.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        ``[steps, batch, d_model]`` or ``[steps, d_model]``; the output has the same shape.

    Raises:
        AssertionError: ``nhead`` does not divide ``d_model``; in the call, an input of another
            size, or a mask that is neither bool nor floating-point.
        ValueError: ``dropout`` is not in [0, 1].
        RuntimeError: an unknown activation; in the call, another dtype or a mask of the wrong
            shape.

    Source: Vaswani et al., "Attention is all you need", 2017, arXiv:1706.03762.

    Example:
        >>> layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
        >>> layer(tn.zeros(5, 3, 8)).shape
        tinynet.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        made: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, batch_first=batch_first, **made
        )
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **made)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **made)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation_of(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Optional = None,
        src_key_padding_mask: Optional = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Encode a sequence; the masks are those of ``MultiheadAttention``."""
        check.mask_dtypes(src_key_padding_mask, src_mask, ("src_key_padding_mask", "src_mask"))
        masks = (src_mask, src_key_padding_mask, is_causal)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *masks))
        x = self.norm2(x + self._ff_block(x))
        return x

    def _sa_block(
        self, x: Tensor, attn_mask: Optional, key_padding_mask: Optional, is_causal: bool = False
    ) -> Tensor:
        """Apply self-attention."""
        dropped: Tensor = self.dropout1(
            _attended(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal)
        )
        return dropped

    def _ff_block(self, x: Tensor) -> Tensor:
        """Apply the feedforward network."""
        made: Tensor = self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return made


class TransformerDecoderLayer(Module):
    """Self-attention, attention to an encoded sequence, and a feedforward network.

    Each block has a residual connection. ``norm1``, ``norm2`` and ``norm3`` normalise the sums or,
    with ``norm_first``, the inputs of the blocks.

    The arguments are those of ``TransformerEncoderLayer``.

    Shape:
        ``[steps, batch, d_model]`` and ``[source steps, batch, d_model]`` to the shape of the
        first; the batch dimension is optional.

    Raises:
        AssertionError: ``nhead`` does not divide ``d_model``; in the call, an input of another
            size, or a mask that is neither bool nor floating-point.
        ValueError: ``dropout`` is not in [0, 1].
        RuntimeError: an unknown activation; in the call, another dtype, a mask of the wrong shape,
            or batch sizes that differ.

    Source: Vaswani et al., "Attention is all you need", 2017, arXiv:1706.03762.

    Example:
        >>> layer = nn.TransformerDecoderLayer(8, 2, dim_feedforward=16)
        >>> layer(tn.zeros(5, 3, 8), tn.zeros(7, 3, 8)).shape
        tinynet.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        made: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        heads: dict[str, Any] = {"batch_first": batch_first, **made}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, **heads)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, **heads)
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, **made)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, **made)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, **made)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_of(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Optional = None,
        memory_mask: Optional = None,
        tgt_key_padding_mask: Optional = None,
        memory_key_padding_mask: Optional = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode a sequence.

        Args:
            tgt: the sequence.
            memory: the encoded sequence to attend to.
            tgt_mask, tgt_key_padding_mask, tgt_is_causal: for self-attention; the masks are those
                of ``MultiheadAttention``.
            memory_mask, memory_key_padding_mask, memory_is_causal: for attention to ``memory``.
        """
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        x = self.norm3(x + self._ff_block(x))
        return x

    def _sa_block(
        self, x: Tensor, attn_mask: Optional, key_padding_mask: Optional, is_causal: bool = False
    ) -> Tensor:
        """Apply self-attention."""
        dropped: Tensor = self.dropout1(
            _attended(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal)
        )
        return dropped

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Optional,
        key_padding_mask: Optional,
        is_causal: bool = False,
    ) -> Tensor:
        """Apply attention to the encoded sequence."""
        dropped: Tensor = self.dropout2(
            _attended(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal)
        )
        return dropped

    def _ff_block(self, x: Tensor) -> Tensor:
        """Apply the feedforward network."""
        made: Tensor = self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return made
