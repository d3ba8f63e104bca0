"""Word vectors."""

from __future__ import annotations

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor


class SkipGram(nn.Module):
    """Word vectors that tell which words stand near each other: skip-gram with negative sampling.

    The score of two words is the product of the vector of the one with the context vector of the
    other. With `BCEWithLogitsLoss` the score becomes high for neighbours and low for others;
    `data.SkipGrams` has both.

    Args:
        vocab_size: how many words there are.
        width: the size of a vector.
        max_norm: vectors that are longer are shortened to this before they are used; None lets them
            grow.
        sparse: whether gradients are sparse, for `SparseAdam`, `Adagrad` or `SGD`: a step then
            costs what its batch costs, not what the vocabulary costs.

    Shape:
        (batch, 1 + others) integers, the word first, to (batch, others) scores.

    Source: Mikolov et al., "Distributed representations of words and phrases and their
    compositionality", 2013; vectors start as in its program: uniform up to ``0.5 / width``, those
    of the context at 0.

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
        """Return the scores of each first word with the others of its row."""
        first = self.words(words[:, 0]).unsqueeze(2)
        scores: Tensor = (self.contexts(words[:, 1:]) @ first).squeeze(2)
        return scores
