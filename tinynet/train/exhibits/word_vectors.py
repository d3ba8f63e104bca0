"""The vectors of an embedding: which are near each other, and all of them in the projector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tinynet import nn
from tinynet.data import CharTokenizer
from tinynet.dtypes import Array
from tinynet.train.exhibits.exhibit import Exhibit, Moment


class Projector(Exhibit):
    """The vectors of an embedding, in the projector of TensorBoard.

    Args:
        embedding: the name of the `Embedding` in the model; the first one that it has, if left out.
        count: how many vectors, from the beginning (of a vocabulary: the most frequent words).
        tag: what TensorBoard calls them.

    The vectors have the names of the data set's ``vocabulary``, or of its tokenizer's, if it has
    one; else their numbers. Only the last measurement is kept: a file per measurement would be
    large.

    Raises:
        ValueError: the model has no such embedding.
    """

    def __init__(self, embedding: str = "", count: int = 2000, tag: str = "vectors") -> None:
        if count < 1:
            raise ValueError(
                f"The 'count' parameter of Projector must be >= 1. Got {count} instead."
            )
        self.embedding = embedding
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the vectors, in the place of those of the measurement before."""
        vectors = vectors_of(at.model, self.embedding)[: self.count]
        names = names_of(at) or [*map(str, range(len(vectors)))]
        vectors = vectors[: len(names)]
        at.writer.add_embedding(vectors, [*names[: len(vectors)]], tag=self.tag)


class Neighbours(Exhibit):
    """For some words, the words with the most similar vectors, as a table.

    Two vectors are as similar as the cosine of the angle between them says.

    Args:
        words: the words; those that are not in the vocabulary are said to be unknown.
        embedding: the name of the `Embedding` in the model; the first one that it has, if left out.
        count: how many neighbours each word gets.
        tag: what TensorBoard calls the table.

    Raises:
        ValueError: the model has no such embedding, the data set no vocabulary, or none of the
            words is in it.
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
        known = {*names} & {*self.words}
        if not known:
            raise ValueError(f"none of {self.words} is in the vocabulary of {len(names)} words")
        found = nearest(vectors_of(at.model, self.embedding), names, self.words, self.count)
        rows = (
            f"| **{word}** | {' '.join(near) if word in known else '(unknown)'} |"
            for word, near in found.items()
        )
        at.writer.add_text(self.tag, "\n".join(["| word | nearest |", "|:--|:--|", *rows]), at.step)


def nearest(
    vectors: Array, names: Sequence[str], words: Sequence[str], count: int
) -> dict[str, list[str]]:
    """The names of the vectors with the smallest angle to those of some words, nearest first.

    Args:
        vectors: (names, width).
        names: one for each vector; there may be fewer than vectors.
        words: whose neighbours are asked for; one that is no name gets none.
        count: how many neighbours.

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
    """The vectors of an embedding of the model: (vectors, width).

    Args:
        model: the model.
        name: of the embedding in it; if empty, the first one.

    Raises:
        ValueError: there is none of that name; with those that there are.
    """
    there = {n: m for n, m in model.named_modules() if isinstance(m, nn.Embedding)}
    name = name or next(iter(there), "")
    if name not in there:
        listed = ", ".join(there) or "none"
        raise ValueError(f"the model has no embedding {name!r}; it has: {listed}")
    weight: Array = there[name].weight.detach().numpy()
    return weight


def names_of(at: Moment) -> Sequence[str] | None:
    """What the vectors stand for, if the data set says it: words, or characters as Python writes
    them."""
    tokenizer = at.about("tokenizer")
    if isinstance(tokenizer, CharTokenizer):
        return [repr(character) for character in tokenizer.vocabulary]
    vocabulary: Sequence[str] | None = at.about("vocabulary")
    return vocabulary
