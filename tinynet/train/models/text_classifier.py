"""A classifier of texts."""

from __future__ import annotations

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor


class TextClassifier(nn.Module):
    """A classifier of the mean of a text's embedded tokens: fastText.

    Args:
        vocab_size: the number of tokens, such as that of ``LabelledTexts``.
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
