"""Text as windows of tokens, for language models, and as pairs of neighboring words."""

from __future__ import annotations

import copy
import glob
import math
import os
import re
import sysconfig
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.dataset import Dataset, Samples
from tinynet.data.readers.files import StrPath, text_of
from tinynet.data.splits import Subset
from tinynet.data.texts.byte_pairs import BPETokenizer
from tinynet.data.texts.tokenizer import CharTokenizer, Tokenizer
from tinynet.dtypes import Array
from tinynet.random import default_generator

_BYTE_PAIRS = 1024  # default number of tokens


class Text(Dataset[tuple[Tensor, ...]]):
    """Windows of a text, and the same windows shifted by one token, for language models.

    Sample ``i`` is ``(inputs, targets)``, both int64 of shape (length,): ``targets[t]`` is the
    token that follows ``inputs[t]``.

    Args:
        path: a UTF-8 file (plain or ``.gz``), a folder, or a list of them; texts are joined with
            a line break, those of a folder in the order of their names.
        length: tokens per window.
        train: True for the first part of the text, False for the held-out part at its end.
        level: the kind of tokens: ``"character"`` or ``"byte_pair"``.
        vocab_size: maximum number of tokens: the most frequent characters, or byte pairs (1024 by
            default).
        tokenizer: a tokenizer or its file, instead of one trained on this text (always on the
            training part).
        stride: distance between the starts of training windows (by default ``length``: no
            overlap; held-out windows never overlap).
        held_out: fraction of the text that is held out, from 0 to 1.
        pattern: which files of a folder to read; ``"**/*.txt"`` includes inner folders.
        limit: maximum number of characters to read, from the beginning.

    Attributes:
        tokenizer: the tokenizer, which also decodes tokens.
        vocab_size: its number of tokens.
        tokens: all tokens of this part, int64.

    Raises:
        FileNotFoundError: a file is missing; the message says what was looked for.
        FormatError: a file is not UTF-8; the message has the line.
        ValueError: this part of the text is shorter than a window.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "a.txt")
        >>> _ = path.write_text("hello world", encoding="utf-8")
        >>> text = tn.data.Text(path, length=4, held_out=0)
        >>> [text.tokenizer.decode(window) for window in text[1]]
        ['o wo', ' wor']
    """

    in_order = True
    """A later part of the text serves for validation, not windows from all over it."""

    def __init__(
        self,
        path: StrPath | list[StrPath],
        length: int = 128,
        train: bool = True,
        *,
        level: Literal["character", "byte_pair"] = "character",
        vocab_size: int | None = None,
        tokenizer: Tokenizer | StrPath | None = None,
        stride: int | None = None,
        held_out: float = 0.1,
        pattern: str = "*.txt",
        limit: int | None = None,
    ):
        self.length = _positive("length", length)
        self._stride = length if stride is None or not train else _positive("stride", stride)
        text = joined(path, pattern, limit)
        first = _held_out_from(len(text), held_out, "Text")
        self.tokenizer = _tokenizer(tokenizer, text[:first], level, vocab_size)
        part = text[:first] if train else text[first:]
        self._tokens = self.tokenizer.encode_array(part).astype(np.int32)
        if len(self._tokens) <= length:
            name = "training" if train else "held-out"
            raise ValueError(
                f"The {name} part of the text has {quantity(len(self._tokens), 'token')}, "
                f"and one window needs {length} and the one that follows. Give a longer text, a "
                f"smaller 'length' or another 'held_out' (now {held_out})."
            )

    @property
    def vocab_size(self) -> int:
        """The number of tokens: the size of a model's embedding and output."""
        return self.tokenizer.vocab_size

    @property
    def tokens(self) -> Tensor:
        """All tokens of this part of the text."""
        return wrap(self._tokens.astype(np.int64))

    def __len__(self) -> int:
        return (len(self._tokens) - self.length - 1) // self._stride + 1

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"window {index} is out of range: there are {len(self)}")
        start = index % len(self) * self._stride
        window = self._tokens[start : start + self.length + 1].astype(np.int64)
        return wrap(window[:-1]), wrap(window[1:])

    def divided(
        self, train: Sequence[int], test: Sequence[int], state: Mapping[str, Any] | None = None
    ) -> tuple[Any, Any]:
        """Return the training part, and a later part of the text whose windows do not overlap.

        Args:
            train: the indices of windows; those that reach into the later part are left out.
            test: the indices of the later windows, in order.
            state: not used.
        """
        last = test[0] * self._stride - self.length
        apart = -(-self.length // self._stride)
        kept = [index for index in train if index * self._stride <= last]
        return Subset(self, kept), Subset(self, test[::apart])

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return the windows at ``indices``, gathered together."""
        places = np.asarray(indices)
        inside = places.dtype.kind == "i" and ((places >= 0) & (places < len(self))).all()
        if not inside or type(self).__getitem__ is not Text.__getitem__:
            return [self[index] for index in indices]
        starts = places[:, None] * self._stride
        windows = self._tokens[starts + np.arange(self.length + 1)].astype(np.int64)
        return Samples((wrap(windows[:, :-1]), wrap(windows[:, 1:])))


class PythonSources(Text):
    """Windows of the source of Python's standard library, which every Python installation has.

    The text has some megabytes and needs no download; it differs slightly between Python versions.
    Samples, parameters and attributes are those of ``Text``.

    Args:
        length, train, level, vocab_size, tokenizer, stride, held_out, limit: as in ``Text``.
        pattern: which files of the library's folder to read.

    Example:
        >>> code = tn.data.PythonSources(length=32, limit=10_000)
        >>> code[0][0].shape
        tinynet.Size([32])
    """

    def __init__(
        self,
        length: int = 128,
        train: bool = True,
        *,
        level: Literal["character", "byte_pair"] = "character",
        vocab_size: int | None = None,
        tokenizer: Tokenizer | StrPath | None = None,
        stride: int | None = None,
        held_out: float = 0.1,
        pattern: str = "*.py",
        limit: int | None = None,
    ):
        super().__init__(
            sysconfig.get_path("stdlib"),
            length,
            train,
            level=level,
            vocab_size=vocab_size,
            tokenizer=tokenizer,
            stride=stride,
            held_out=held_out,
            pattern=pattern,
            limit=limit,
        )


def joined(path: StrPath | list[StrPath], pattern: str, limit: int | None) -> str:
    """Return the texts of a file, a folder or a list of them, joined by line breaks."""
    parts: list[str] = []
    room = math.inf if limit is None else limit
    for file in _files(path, pattern):
        parts.append(text_of(file))
        room -= len(parts[-1]) + 1
        if room < 0:  # the rest would be cut off
            break
    return "\n".join(parts)[:limit]


def _held_out_from(length: int, held_out: float, asker: str) -> int:
    """Return the index at which the held-out part of a text begins.

    Raises:
        ValueError: ``held_out`` is not between 0 and 1.
    """
    if not 0 <= held_out <= 1:
        raise ValueError(
            f"The 'held_out' parameter of {asker} must be from 0 to 1. Got {held_out} instead."
        )
    return math.ceil(length * (1 - held_out))


def _positive(name: str, value: int) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError(
            f"The '{name}' parameter of Text must be an integer >= 1. Got {value!r} instead."
        )
    return value


def _files(path: StrPath | list[StrPath], pattern: str) -> list[str]:
    """Return the files that a path or a list of paths refers to."""
    if isinstance(path, list | tuple):
        if not path:
            raise ValueError("The 'path' parameter of Text must name a file. Got [] instead.")
        return [file for one in path for file in _files(one, pattern)]
    if not os.path.isdir(path):
        return [os.fspath(path)]  # opening it reports any problem
    root = os.fspath(path)
    names = sorted(glob.glob(pattern, root_dir=root, recursive=True))
    files = [os.path.join(root, name) for name in names]
    files = [file for file in files if os.path.isfile(file)]
    if not files:
        raise FileNotFoundError(f"{root} has no file that fits the pattern {pattern!r}.")
    return files


def _tokenizer(
    given: Tokenizer | StrPath | None, text: str, level: str, vocab_size: int | None
) -> Tokenizer:
    if given is not None and vocab_size is not None:
        raise ValueError(
            "Text takes a 'tokenizer' or a 'vocab_size' for one that it makes, not both."
        )
    if isinstance(given, Tokenizer):
        return given
    if given is not None:
        loaded: Tokenizer = Tokenizer.load(given)
        return loaded
    if level == "character":
        return CharTokenizer.train(text, vocab_size)
    if level == "byte_pair":
        return BPETokenizer.train(text, vocab_size or _BYTE_PAIRS)
    raise ValueError(
        f"The 'level' parameter of Text must be 'character' or 'byte_pair'. Got {level!r} instead."
    )


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
        first = _held_out_from(len(words), held_out, "SkipGrams")
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
