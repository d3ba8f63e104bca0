"""Language models that read a text step by step."""

from __future__ import annotations

from typing import Any

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor

State = tuple[Tensor, Tensor]


class LSTMLanguageModel(nn.Module):
    """Embedding, LSTM and a linear layer: for each token, the scores of the one that follows it.

    Args:
        vocab_size: how many tokens there are.
        width: the size of the embedding.
        hidden: the size of the LSTM's states.
        layers: how many LSTM layers.
        dropout: the probability of zero in training, for what goes from layer to layer and into
            the last one.

    Shape:
        (batch, time) integers to (batch, vocab_size, time): classes second, as CrossEntropyLoss and
        the metrics take them.

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
        """Return the scores of what follows each token of a text that begins here."""
        scores: Tensor = self.head(self.dropout(self.lstm(self.tokens(tokens))[0]))
        return scores.transpose(1, 2)

    def advance(self, tokens: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Return the scores of what follows the last token, and the state for going on from there.

        Args:
            tokens: (batch, time): what comes after the tokens of the state.
            state: what was returned with those; None at the beginning of a text.

        Shape:
            Scores: (batch, vocab_size).
        """
        read: Any = self.lstm(self.tokens(tokens), state)
        scores: Tensor = self.head(self.dropout(read[0][:, -1]))
        return scores, read[1]
