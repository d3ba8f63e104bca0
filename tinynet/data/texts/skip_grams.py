"""Words and their neighbors in a text, for learning word vectors."""

from __future__ import annotations

import copy
import re
import sysconfig
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.dataset import Dataset, Samples
from tinynet.data.readers.files import StrPath
from tinynet.data.texts.text import held_out_from, joined
from tinynet.dtypes import Array
from tinynet.random import default_generator

_WORD = re.compile(r"[^\W\d_]{2,}")
_INSIDE_NAMES = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEED = 0  # of choices made once per text


class SkipGrams(Dataset[tuple[Tensor, ...]]):
    """Pairs of neighboring words in a text, with random words as negative examples.

    This is the training data of skip-gram with negative sampling. Sample ``i`` is ``(words,
    labels)``: ``words`` is int64 of shape (2 + negatives,) with word ``i`` of the text, one of its
    neighbors, and random words; ``labels`` is float32 of shape (1 + negatives,), 1 for the
    neighbor and 0 for the random words.

    A word is a run of two or more letters, in lower case; ``readLines`` and ``read_lines`` are two
    words each. In training, the neighbor (uniform among those up to ``window`` words away) and the
    random words are drawn anew each time; in the held-out part they are fixed.

    Args:
        path: a text as for ``Text``; by default the source of Python's standard library.
        train: True for the first part of the text, False for the held-out part at its end.
        window: maximum distance of a neighbor, in words.
        negatives: number of random words, drawn with their frequency to the power 3/4.
        vocab_size: number of words to keep, the most frequent of the training part.
        subsample: words with a frequency ``f`` above this are kept with probability
            ``sqrt(subsample / f)``; None keeps all.
        held_out: fraction of the text that is held out, from 0 to 1.
        pattern: which files of a folder to read.
        limit: maximum number of characters to read, from the beginning.

    Attributes:
        vocabulary: the words, most frequent first.

    Raises:
        FileNotFoundError: a file is missing; the message says what was looked for.
        FormatError: a file is not UTF-8; the message has the line.
        ValueError: this part of the text has fewer than two known words.

    Source: Mikolov et al., "Distributed representations of words and phrases and their
    compositionality", 2013.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "a.txt")
        >>> _ = path.write_text("one two three " * 20, encoding="utf-8")
        >>> words, labels = tn.data.SkipGrams(path, window=1, negatives=2, held_out=0)[0]
        >>> words.shape, labels
        (tinynet.Size([4]), tensor([1., 0., 0.]))
    """

    in_order = True
    """A later part of the text serves for validation, not words from all over it."""

    def __init__(
        self,
        path: StrPath | list[StrPath] | None = None,
        train: bool = True,
        *,
        window: int = 5,
        negatives: int = 5,
        vocab_size: int = 5000,
        subsample: float | None = 1e-3,
        held_out: float = 0.1,
        pattern: str = "*.py",
        limit: int | None = None,
    ):
        _check(window=window, negatives=negatives, vocab_size=vocab_size)
        source = sysconfig.get_path("stdlib") if path is None else path
        words = _words_of(joined(source, pattern, limit))
        first = held_out_from(len(words), held_out, "SkipGrams")
        counts = Counter(words[:first])
        self.vocabulary = [word for word, _ in counts.most_common(vocab_size)]
        self.window, self.negatives = window, negatives
        frequencies = np.array([counts[word] for word in self.vocabulary], float)
        self._chances = np.cumsum(frequencies**0.75)
        number_of = {word: number for number, word in enumerate(self.vocabulary)}
        part = words[:first] if train else words[first:]
        known = np.array([number_of[word] for word in part if word in number_of], np.int32)
        steady = np.random.Generator(np.random.PCG64(_SEED))
        self._words = _subsampled(known, frequencies, subsample, steady)
        if len(self._words) < 2:
            name = "training" if train else "held-out"
            raise ValueError(
                f"The {name} part of the text has fewer than two known words. Give a longer text "
                f"or another 'held_out' (now {held_out})."
            )
        self._labels = np.zeros(1 + negatives, np.float32)
        self._labels[0] = 1
        self._fixed = None if train else self._all(steady)

    def _drawn(self, places: Array, generator: np.random.Generator) -> Array:
        """Return the words at some positions, a neighbor of each, and random words."""
        count = len(places)
        distance = generator.integers(1, self.window + 1, count)
        distance *= generator.integers(0, 2, count) * 2 - 1
        last = len(self._words) - 1
        neighbours = places + distance
        outside = (neighbours < 0) | (neighbours > last)
        neighbours[outside] = (places - distance)[outside].clip(0, last)
        drawn = generator.random((count, self.negatives)) * self._chances[-1]
        rows = np.empty((count, 2 + self.negatives), np.int64)
        rows[:, 0] = self._words[places]
        rows[:, 1] = self._words[neighbours]
        rows[:, 2:] = np.searchsorted(self._chances, drawn, side="right")
        return rows

    def _all(self, generator: np.random.Generator) -> Array:
        """Return samples for all words."""
        return self._drawn(np.arange(len(self._words)), generator)

    def divided(
        self, train: Sequence[int], test: Sequence[int], state: Mapping[str, Any] | None = None
    ) -> tuple[Self, Self]:
        """Return the training part, and a later part of the text whose samples are fixed.

        Args:
            train: the indices of words.
            test: those of later words, in order.
            state: not used.
        """
        parts = copy.copy(self), copy.copy(self)
        for part, chosen in zip(parts, (train, test), strict=True):
            part._words = self._words[chosen]
        parts[1]._fixed = parts[1]._all(np.random.Generator(np.random.PCG64(_SEED)))
        return parts

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"word {index} is out of range: there are {len(self)}")
        words, labels = self._rows(np.array([index % len(self)]))
        return wrap(words[0]), wrap(labels[0])

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return the samples at ``indices``, drawn together."""
        places = np.asarray(indices)
        inside = places.dtype.kind == "i" and ((places >= 0) & (places < len(self))).all()
        if not inside or type(self).__getitem__ is not SkipGrams.__getitem__:
            return [self[index] for index in indices]
        words, labels = self._rows(places)
        return Samples((wrap(words), wrap(labels)))

    def _rows(self, places: Array) -> tuple[Array, Array]:
        if self._fixed is None:
            rows = self._drawn(places, default_generator.numpy)
        else:
            rows = self._fixed[places]
        return rows, np.tile(self._labels, (len(places), 1))


def _check(**counts: int) -> None:
    for name, value in counts.items():
        if value < 1:
            raise ValueError(
                f"The '{name}' parameter of SkipGrams must be >= 1. Got {value} instead."
            )


def _words_of(text: str) -> list[str]:
    return _WORD.findall(_INSIDE_NAMES.sub(" ", text).lower())


def _subsampled(
    words: Array, frequencies: Array, subsample: float | None, generator: np.random.Generator
) -> Array:
    """Return the words after subsampling the most frequent ones."""
    if subsample is None:
        return words
    share = frequencies / frequencies.sum()
    kept: Array = words[generator.random(len(words)) < np.sqrt(subsample / share)[words]]
    return kept
