"""Recurrent language models."""

from __future__ import annotations

from typing import Any

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor

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
            tokens: (batch, time): the tokens after those of the state.
            state: the state returned for the previous tokens; None at the start of a text.

        Shape:
            Scores: (batch, vocab_size).
        """
        outputs: Any
        outputs, state = self.lstm(self.tokens(tokens), state)
        scores: Tensor = self.head(self.dropout(outputs[:, -1]))
        return scores, state
