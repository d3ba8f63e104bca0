"""Models of texts: recurrent networks, a small GPT, a classifier, word vectors."""

from __future__ import annotations

import math
from typing import Any, Literal

from tinynet import nn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import functional as F
from tinynet.ops.creation.ranges import arange

# ---- recurrent ----------------------------------------------------------------------------------
# Recurrent language models.


State = tuple[Tensor, Tensor]


class LSTMLanguageModel(nn.Module):
    """A language model of an embedding, an LSTM and a linear layer.

    Args:
        vocab_size: the number of tokens.
        width: the size of the embedding.
        hidden: the size of the LSTM's states.
        layers: the number of LSTM layers.
        dropout: the dropout probability between the LSTM layers and before the linear layer.

    Shape:
        (batch, time) integers to scores of the next token, (batch, vocab_size, time), with classes
        second as for CrossEntropyLoss and the metrics.

    Source: A. Graves, "Generating sequences with recurrent neural networks", 2013.

    Example:
        >>> net = LSTMLanguageModel(vocab_size=50, width=8, hidden=16)
        >>> net(tn.zeros(3, 10, dtype=tn.int64)).shape
        tinynet.Size([3, 50, 10])
    """

    def __init__(
        self,
        vocab_size: int,
        width: int = 64,
        hidden: int = 256,
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, width)
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(width, hidden, layers, batch_first=True, dropout=between)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(hidden, vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the scores of the token after each token, from the start of a text."""
        scores: Tensor = self.head(self.dropout(self.lstm(self.tokens(tokens))[0]))
        return scores.transpose(1, 2)

    def advance(self, tokens: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Return the scores of the token after the last one, and the next state.

        Args:
            tokens: (batch, time): the tokens that follow the state's.
            state: the state returned for the previous tokens; None at the start of a text.

        Shape:
            Scores: (batch, vocab_size).
        """
        outputs: Any
        outputs, state = self.lstm(self.tokens(tokens), state)
        scores: Tensor = self.head(self.dropout(outputs[:, -1]))
        return scores, state


# ---- transformer --------------------------------------------------------------------------------
# A small GPT: a causal transformer over tokens.


class GPT(nn.Module):
    """A causal transformer language model.

    The sum of token and position embeddings passes through ``layers`` blocks of causal attention
    and a feed-forward network, both with pre-normalisation as in GPT-2.

    Args:
        vocab_size: the number of tokens.
        context: the maximum number of tokens in a window.
        layers: the number of blocks.
        heads: the number of attention heads, which split ``width`` evenly.
        width: the size of the embedding.
        dropout: the dropout probability of the embeddings, the attention weights and the residual
            branches.
        activation: the activation of the feed-forward network; GELU as in GPT-2, or ReLU, which is
            much faster.
        tied: whether the output layer shares its weight with the token embedding (Press and Wolf,
            "Using the output embedding to improve language models", 2017).

    Shape:
        (batch, time) integers to scores of the next token, (batch, vocab_size, time), with classes
        second as for CrossEntropyLoss and the metrics. ``time`` is at most ``context``.

    Raises:
        ValueError: if ``heads`` does not divide ``width``, or a text is longer than ``context``.

    Source: Radford et al., "Language models are unsupervised multitask learners", 2019, with its
    initialisation: N(0, 0.02), divided by the square root of the number of residual branches for
    the last layer of each branch.

    Example:
        >>> net = GPT(vocab_size=50, context=16, layers=2, heads=2, width=8)
        >>> net(tn.zeros(3, 10, dtype=tn.int64)).shape
        tinynet.Size([3, 50, 10])
    """

    def __init__(
        self,
        vocab_size: int,
        context: int = 128,
        layers: int = 4,
        heads: int = 4,
        width: int = 128,
        dropout: float = 0.0,
        activation: Literal["gelu", "relu"] = "gelu",
        tied: bool = True,
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(
                f"The 'width' parameter of GPT must be a multiple of 'heads' ({heads}). "
                f"Got {width} instead."
            )
        self.context = context
        self.tokens = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(context, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.Sequential(
            *[Block(width, heads, dropout, activation) for _ in range(layers)]
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab_size, bias=False)
        if tied:
            self.head.weight = self.tokens.weight
        self._initialise(layers)

    def _initialise(self, layers: int) -> None:
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                ends_block = name.endswith(("attention.out.weight", "contract.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers if ends_block else 1))
            elif name.endswith("bias"):
                with no_grad():
                    parameter.zero_()

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the scores of the token after each token."""
        time = tokens.shape[-1]
        if time > self.context:
            raise ValueError(
                f"GPT has {self.context} positions (model.context), and got a text of {time} tokens"
            )
        x = self.dropout(self.tokens(tokens) + self.positions(arange(time)))
        scores: Tensor = self.head(self.norm(self.blocks(x)))
        return scores.transpose(1, 2)


class Block(nn.Module):
    """A transformer block: causal attention and a feed-forward network with residual connections.

    Shape:
        (batch, time, width), kept.
    """

    def __init__(
        self, width: int, heads: int, dropout: float, activation: Literal["gelu", "relu"]
    ) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = CausalAttention(width, heads, dropout)
        self.norm2 = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 4 * width)
        self.activation = nn.GELU("tanh") if activation == "gelu" else nn.ReLU()
        self.contract = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output of the block."""
        x = x + self.dropout(self.attention(self.norm1(x)))
        output: Any = self.contract(self.activation(self.expand(self.norm2(x))))
        return x + self.dropout(output)


class CausalAttention(nn.Module):
    """Causal multi-head self-attention.

    Shape:
        (batch, time, width), kept.
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output of the attention."""
        batch, time, width = x.shape
        parts = self.query_key_value(x).view(batch, time, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        dropout = self.dropout if self.training else 0.0
        values = F.scaled_dot_product_attention(query, key, value, None, dropout, is_causal=True)
        out: Tensor = self.out(values.transpose(1, 2).reshape(batch, time, width))
        return out


# ---- text classifier ----------------------------------------------------------------------------
# A classifier of texts.


class TextClassifier(nn.Module):
    """A classifier of the mean of a text's embedded tokens: fastText.

    Args:
        vocab_size: the number of tokens, such as ``vocab_size`` of ``LabelledTexts``.
        classes: the number of classes.
        width: the size of the embedding.
        dropout: the dropout probability before the linear layer.

    Shape:
        (batch, length) integers, 0 for padding and 1 to vocab_size for tokens, to scores of
        (batch, classes).

    Source: A. Joulin et al., "Bag of Tricks for Efficient Text Classification", 2016.

    Example:
        >>> net = TextClassifier(vocab_size=50, classes=3, width=8)
        >>> net(tn.tensor([[7, 8, 0], [50, 0, 0]])).shape
        tinynet.Size([2, 3])
    """

    def __init__(
        self, vocab_size: int, classes: int, width: int = 32, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size + 1, width, padding_idx=0)
        nn.init.uniform_(self.tokens.weight, -1 / width, 1 / width)  # rare words count little
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the scores of the classes."""
        known = (tokens != 0).float().unsqueeze(2)  # padding does not count
        total: Tensor = (self.tokens(tokens) * known).sum(1)
        scores: Tensor = self.head(self.dropout(total / known.sum(1).clamp(min=1.0)))
        return scores


# ---- word vectors -------------------------------------------------------------------------------
# Word vectors.


class SkipGram(nn.Module):
    """Word vectors: skip-gram with negative sampling.

    The score of two words is the dot product of the vector of one with the context vector of the
    other. Training with `BCEWithLogitsLoss` and `data.SkipGrams` raises it for neighbouring words
    and lowers it for random ones.

    Args:
        vocab_size: the number of words.
        width: the size of a vector.
        max_norm: the maximum norm of a vector; longer ones are rescaled before use.
        sparse: whether gradients are sparse, for `SparseAdam`, `Adagrad` or `SGD`; the cost of a
            step then depends on the batch, not on the vocabulary.

    Shape:
        (batch, 1 + others) integers, the word first, to (batch, others) scores.

    Source: Mikolov et al., "Distributed representations of words and phrases and their
    compositionality", 2013; initialized as in its program: uniform up to ``0.5 / width``,
    context vectors 0.

    Example:
        >>> net = SkipGram(vocab_size=100, width=8, max_norm=1.0)
        >>> net(tn.tensor([[5, 3, 99], [7, 2, 0]]))
        tensor([[0., 0.],
                [0., 0.]], grad_fn=<SqueezeBackward1>)
    """

    def __init__(
        self, vocab_size: int, width: int = 64, max_norm: float | None = None, sparse: bool = True
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vocab_size, width, max_norm=max_norm, sparse=sparse)
        self.contexts = nn.Embedding(vocab_size, width, sparse=sparse)
        nn.init.uniform_(self.words.weight, -0.5 / width, 0.5 / width)
        nn.init.zeros_(self.contexts.weight)

    def forward(self, words: Tensor) -> Tensor:
        """Return the scores of the first word of each row with the others."""
        first = self.words(words[:, 0]).unsqueeze(2)
        scores: Tensor = (self.contexts(words[:, 1:]) @ first).squeeze(2)
        return scores
