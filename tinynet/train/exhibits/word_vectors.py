"""The vectors of an embedding: nearest neighbours, and TensorBoard's projector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tinynet import nn
from tinynet.data import CharTokenizer
from tinynet.dtypes import Array
from tinynet.train.exhibits.exhibit import Exhibit, Moment, require_positive


class Projector(Exhibit):
    """The vectors of an embedding, in the projector of TensorBoard.

    Args:
        embedding: the name of the `Embedding` in the model; defaults to its first one.
        count: the number of vectors, from the start (the most frequent words of a vocabulary).
        tag: the name in TensorBoard.

    The labels of the vectors come from the data set's ``vocabulary`` or its tokenizer; without one,
    they are the indices. Only the last evaluation is stored, because the files are large.

    Raises:
        ValueError: if the model has no such embedding.
    """

    def __init__(self, embedding: str = "", count: int = 2000, tag: str = "vectors") -> None:
        require_positive("Projector", count=count)
        self.embedding = embedding
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the vectors in place of those of the previous evaluation."""
        vectors = vectors_of(at.model, self.embedding)[: self.count]
        names = names_of(at) or [*map(str, range(len(vectors)))]
        vectors = vectors[: len(names)]
        at.writer.add_embedding(vectors, [*names[: len(vectors)]], tag=self.tag)


class Neighbours(Exhibit):
    """A table of words with their nearest neighbours by cosine similarity.

    Args:
        words: the words; those outside the vocabulary are marked as unknown.
        embedding: the name of the `Embedding` in the model; defaults to its first one.
        count: the number of neighbours per word.
        tag: the name in TensorBoard.

    Raises:
        ValueError: if the model has no such embedding, the data set has no vocabulary, or it
            contains none of the words.
    """

    def __init__(
        self,
        words: Sequence[str],
        embedding: str = "",
        count: int = 8,
        tag: str = "neighbours",
    ) -> None:
        self.words = [*words]
        self.embedding = embedding
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the table."""
        names = names_of(at)
        if names is None:
            raise ValueError("the data set must have a vocabulary, as data.SkipGrams does")
        found_words = {*names} & {*self.words}
        if not found_words:
            raise ValueError(f"none of {self.words} is in the vocabulary of {len(names)} words")
        found = nearest(vectors_of(at.model, self.embedding), names, self.words, self.count)
        rows = (
            f"| **{word}** | {' '.join(near) if word in found_words else '(unknown)'} |"
            for word, near in found.items()
        )
        at.writer.add_text(self.tag, "\n".join(["| word | nearest |", "|:--|:--|", *rows]), at.step)


def nearest(
    vectors: Array, names: Sequence[str], words: Sequence[str], count: int
) -> dict[str, list[str]]:
    """Return the nearest neighbours of words by cosine similarity, nearest first.

    Args:
        vectors: (names, width).
        names: the names of the vectors; vectors beyond the last name are ignored.
        words: the words; one that is no name gets no neighbours.
        count: the number of neighbours.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 3.0]])
        >>> nearest(vectors, ["a", "b", "c", "d"], ["a", "d", "x"], 2)
        {'a': ['b', 'd'], 'd': ['c', 'b'], 'x': []}
    """
    vectors = vectors[: len(names)]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(lengths == 0, 1, lengths)
    place = {name: index for index, name in enumerate(names)}
    found: dict[str, list[str]] = {}
    for word in words:
        found[word] = []
        if word in place:
            cosines = directions @ directions[place[word]]
            cosines[place[word]] = -np.inf
            order = np.argsort(-cosines, kind="stable")[: min(count, len(names) - 1)]
            found[word] = [names[index] for index in order]
    return found


def vectors_of(model: nn.Module, name: str) -> Array:
    """Return the vectors of an embedding: (vectors, width).

    Args:
        model: the model.
        name: the name of the embedding; the first one if empty.

    Raises:
        ValueError: if there is no such embedding; lists the existing ones.
    """
    embeddings = {n: m for n, m in model.named_modules() if isinstance(m, nn.Embedding)}
    name = name or next(iter(embeddings), "")
    if name not in embeddings:
        listed = ", ".join(embeddings) or "none"
        raise ValueError(f"the model has no embedding {name!r}; it has: {listed}")
    weight: Array = embeddings[name].weight.detach().numpy()
    return weight


def names_of(at: Moment) -> Sequence[str] | None:
    """Return the labels of the vectors: words, or the ``repr`` of characters; None if unknown."""
    tokenizer = at.about("tokenizer")
    if isinstance(tokenizer, CharTokenizer):
        return [repr(character) for character in tokenizer.vocabulary]
    vocabulary: Sequence[str] | None = at.about("vocabulary")
    return vocabulary
