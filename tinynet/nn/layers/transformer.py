"""TransformerEncoder, TransformerDecoder and Transformer."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from tinynet import dtypes
from tinynet.core.devices import require_cpu
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.nn import init
from tinynet.nn.base.module import Module
from tinynet.nn.functional import multi_head_attention as check
from tinynet.nn.layers.attention import MultiheadAttention
from tinynet.nn.layers.container import ModuleList
from tinynet.nn.layers.dropout import Dropout
from tinynet.nn.layers.linear import Linear
from tinynet.nn.layers.normalization import LayerNorm
from tinynet.ops.creation.constructors import full

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


# ---- transformer layers -------------------------------------------------------------------------
# TransformerEncoderLayer and TransformerDecoderLayer.


Activation = str | Callable[[Tensor], Tensor]
Optional = Tensor | None


def _get_activation_fn(activation: Activation) -> Callable[[Tensor], Tensor]:
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
        self.activation = _get_activation_fn(activation)

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
        self.activation = _get_activation_fn(activation)

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


# ---- transformer --------------------------------------------------------------------------------


def causal_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """Return the additive causal mask: 0 with -inf above the diagonal.

    Example:
        >>> nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
    """
    return full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)


def is_causal_mask(mask: Optional, is_causal: bool | None, x: Tensor, batch_first: bool) -> bool:
    """Return ``is_causal``, or if it is None, whether ``mask`` is the causal mask."""
    if is_causal is not None or mask is None:
        return is_causal is True
    if mask.dtype != dtypes.bool and not mask.is_floating_point():
        return False  # the layers refuse it
    steps = x.shape[1 if batch_first and x.ndim == 3 else 0]
    wanted = causal_mask(steps, dtype=mask.dtype)
    return mask.shape == wanted.shape and bool((mask == wanted).all())


def _get_clones(module: Module, N: int) -> ModuleList:  # PyTorch's names
    """Return a list of copies of a module."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


class TransformerEncoder(Module):
    """A stack of encoder layers.

    Args:
        encoder_layer: a ``TransformerEncoderLayer``; each layer is a copy of it.
        num_layers: number of layers.
        norm: a module that normalises the result, or None.
        enable_nested_tensor: ignored: tinynet has no nested tensors.
        mask_check: ignored.

    Attributes:
        layers: a ModuleList of the layers.

    Shape:
        The same as for the layers.

    Raises:
        TypeError: the layer is not a Module.
        IndexError: there are no layers (in the call).
        AssertionError, RuntimeError: raised by the layers; see ``TransformerEncoderLayer``.

    Source: Vaswani et al., "Attention is all you need", 2017, arXiv:1706.03762.

    Example:
        >>> layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
        >>> encoder = nn.TransformerEncoder(layer, num_layers=2)
        >>> encoder(tn.zeros(3, 5, 8)).shape
        tinynet.Size([3, 5, 8])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ):
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Optional = None,
        src_key_padding_mask: Optional = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Encode a sequence.

        Args:
            src: the sequence.
            mask, src_key_padding_mask: the masks of ``MultiheadAttention``.
            is_causal: whether ``mask`` is the causal mask; None detects it.
        """
        check.mask_dtypes(src_key_padding_mask, mask, ("src_key_padding_mask", "mask"))
        batch_first = self.layers[0].self_attn.batch_first
        causal = is_causal_mask(mask, is_causal, src, batch_first)
        output = src
        for layer in self.layers:
            output = layer(
                output,
                src_mask=mask,
                is_causal=causal,
                src_key_padding_mask=src_key_padding_mask,
            )
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(Module):
    """A stack of decoder layers that attend to an encoded sequence.

    Args:
        decoder_layer: a ``TransformerDecoderLayer``; each layer is a copy of it.
        num_layers: number of layers.
        norm: a module that normalises the result, or None.

    Attributes:
        layers: a ModuleList of the layers.

    Shape:
        The same as for the layers.

    Raises:
        TypeError: the layer is not a Module.
        IndexError: there are no layers (in the call).
        AssertionError, RuntimeError: raised by the layers; see ``TransformerDecoderLayer``.

    Source: Vaswani et al., "Attention is all you need", 2017, arXiv:1706.03762.

    Example:
        >>> layer = nn.TransformerDecoderLayer(8, 2, dim_feedforward=16)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(tn.zeros(5, 3, 8), tn.zeros(7, 3, 8)).shape
        tinynet.Size([5, 3, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None):
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Optional = None,
        memory_mask: Optional = None,
        tgt_key_padding_mask: Optional = None,
        memory_key_padding_mask: Optional = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode a sequence.

        The arguments are those of ``TransformerDecoderLayer.forward``; a ``tgt_is_causal`` of None
        is detected from the mask.
        """
        batch_first = self.layers[0].self_attn.batch_first
        causal = is_causal_mask(tgt_mask, tgt_is_causal, tgt, batch_first)
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder and a decoder that map sequences to sequences.

    All matrices are initialised from Xavier's uniform distribution.

    Args:
        d_model: size of the embedding.
        nhead: number of heads.
        num_encoder_layers: number of encoder layers.
        num_decoder_layers: number of decoder layers.
        dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: options
            of the layers; see ``TransformerEncoderLayer``.
        custom_encoder: a module to use instead of a ``TransformerEncoder``.
        custom_decoder: a module to use instead of a ``TransformerDecoder``.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype unless given.

    Shape:
        ``[source steps, batch, d_model]`` and ``[steps, batch, d_model]`` to the shape of the
        second; the batch dimension is optional.

    Raises:
        AssertionError: ``nhead`` does not divide ``d_model``; a mask that is neither bool nor
            floating-point.
        ValueError: ``dropout`` is not in [0, 1].
        RuntimeError: an unknown activation; in the call, batch sizes or embeddings that differ, or
            masks of the wrong shape.

    Source: Vaswani et al., "Attention is all you need", 2017, arXiv:1706.03762.

    Example:
        >>> model = nn.Transformer(8, 2, 1, 1, dim_feedforward=16)
        >>> model(tn.zeros(7, 3, 8), tn.zeros(5, 3, 8)).shape
        tinynet.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        if device is not None:
            require_cpu(device)
        made: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        sizes = (d_model, nhead, dim_feedforward, dropout, activation)
        options = (layer_norm_eps, batch_first, norm_first)
        if custom_encoder is None:
            layer: Module = TransformerEncoderLayer(*sizes, *options, **made)
            norm = LayerNorm(d_model, layer_norm_eps, **made)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*sizes, *options, **made)
            norm = LayerNorm(d_model, layer_norm_eps, **made)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Optional = None,
        tgt_mask: Optional = None,
        memory_mask: Optional = None,
        src_key_padding_mask: Optional = None,
        tgt_key_padding_mask: Optional = None,
        memory_key_padding_mask: Optional = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode ``src``, then decode ``tgt`` with it.

        Args:
            src, tgt: the sequences.
            src_mask, src_key_padding_mask, src_is_causal: for self-attention of ``src``; see
                ``TransformerEncoder.forward``.
            tgt_mask, tgt_key_padding_mask, tgt_is_causal: for self-attention of ``tgt``.
            memory_mask, memory_key_padding_mask, memory_is_causal: for attention of ``tgt`` to the
                encoded ``src``.
        """
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        decoded: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return decoded

    generate_square_subsequent_mask = staticmethod(causal_mask)

    def _reset_parameters(self) -> None:
        """Draw new values for all matrices."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
