"""Word vectors."""

from __future__ import annotations

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor


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
