"""Texts with classes, from a folder of text files or a column of a CSV file."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.files import FormatError, StrPath, raise_all, text_of
from tinynet.data.readers.image_folder import DatasetFolder
from tinynet.data.readers.table_rows import Rows
from tinynet.data.readers.tables import read_table
from tinynet.data.texts.byte_pairs import BPETokenizer
from tinynet.data.texts.tokenizer import CharTokenizer, TextEncoder, Tokenizer, WordTokenizer

_KINDS: dict[str, Any] = {
    "word": WordTokenizer,
    "character": CharTokenizer,
    "byte_pair": BPETokenizer,
}


class LabelledTexts(Rows[tuple[Tensor, Tensor]]):
    """Texts and their classes, to train a model that classifies texts.

    Sample ``i`` is ``(tokens, label)``: int64 of shape (length,), and a 0-d int64. 0 is padding, at
    the end; other numbers are those of the tokenizer, plus 1. Longer texts are cut off.

    Args:
        path: a folder with a subfolder of UTF-8 ``.txt`` files for each class, or a CSV file.
        length: tokens per text.
        text: in a CSV file, the column with the texts.
        target: in a CSV file, the column with the classes.
        level: the kind of tokens: ``"word"``, ``"character"`` or ``"byte_pair"``.
        vocab_size: maximum number of tokens, so that inputs are at most this number.
        delimiter, encoding: the format of the files.

    The tokenizer is trained on all texts, and on those of the training part in the parts that
    ``divided`` makes, as a config does.

    Attributes:
        classes: the names of the classes.
        targets: the class of each text.
        preprocessing: from texts to a batch of inputs; has the ``tokenizer``.

    Raises:
        FileNotFoundError: the path does not exist, or a class has no texts.
        FormatError: files are not text, texts are empty, or columns are missing; the message has
            all mistakes.
        ValueError: an argument is invalid.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "mails.csv")
        >>> _ = path.write_text('text,label\\n"Win money, now",spam\\nSee you at noon,ham\\n')
        >>> mails = tn.data.LabelledTexts(path, length=5)
        >>> mails.classes, mails[0]
        (['ham', 'spam'], (tensor([1, 2, 3, 4, 0]), tensor(1)))
    """

    def __init__(
        self,
        path: StrPath,
        length: int = 256,
        *,
        text: str = "text",
        target: str = "label",
        level: Literal["word", "character", "byte_pair"] = "word",
        vocab_size: int = 10_000,
        delimiter: str = ",",
        encoding: str = "utf-8",
    ):
        if length < 1:
            raise ValueError(
                f"The 'length' parameter of LabelledTexts must be >= 1. Got {length} instead."
            )
        if level not in _KINDS:
            raise ValueError(
                f"The 'level' parameter of LabelledTexts must be one of {', '.join(_KINDS)}. "
                f"Got {level!r} instead."
            )
        self._level, self._length, self._vocab_size = level, length, vocab_size
        if os.path.isdir(path):
            found = _in_folder(path, encoding)
        else:
            found = _in_table(path, text, target, delimiter, encoding)
        self._texts, labels, self.classes, self._places = found
        self._use(TextEncoder(self.classes, length, self._trained(self._texts)), labels)

    @property
    def targets(self) -> list[int]:
        """The class of each text."""
        numbers: list[int] = self._arrays[1].tolist()
        return numbers

    def location(self, index: int) -> str:
        """Return where a text is from, for messages."""
        return self._places[index]

    def divided(
        self,
        train: Sequence[int],
        test: Sequence[int],
        state: Mapping[str, Any] | None = None,
    ) -> tuple[Self, Self]:
        """Return the training part and the test part of the texts.

        Args:
            train: the indices of the texts for training, on which the tokenizer is trained.
            test: those of the texts for testing.
            state: the ``preprocessing.state_dict()`` to use, instead of training a tokenizer.

        Raises:
            ValueError: the classes differ from those in ``state``.
        """
        if state is None:
            tokenizer = self._trained([self._texts[index] for index in train])
            encoder = TextEncoder(self.classes, self._length, tokenizer)
        else:
            encoder = TextEncoder.from_state_dict(state)
            if encoder.classes != self.classes:
                raise ValueError(
                    f"The classes in 'path' are {', '.join(self.classes)}, but the model was "
                    f"trained for {', '.join(encoder.classes)}."
                )
        return self._part(train, encoder), self._part(test, encoder)

    def _part(self, rows: Sequence[int], encoder: TextEncoder) -> Self:
        part = copy.copy(self)
        part._texts = [self._texts[index] for index in rows]
        part._places = [self._places[index] for index in rows]
        part._use(encoder, [self.targets[index] for index in rows])
        return part

    def _use(self, encoder: TextEncoder, labels: list[int]) -> None:
        self.preprocessing = encoder
        rows = [encoder.row(text) for text in self._texts]
        tokens = np.stack(rows) if rows else np.zeros((0, encoder.length), np.int64)
        super().__init__([tokens, np.array(labels, np.int64)])

    def _trained(self, texts: Sequence[str]) -> Tokenizer:
        tokenizer: Tokenizer = _KINDS[self._level].train("\n".join(texts), self._vocab_size)
        return tokenizer


Found = tuple[list[str], list[int], list[str], list[str]]
"""Texts, their labels, the classes, and where each text is from."""


def _in_folder(path: StrPath, encoding: str) -> Found:
    files = DatasetFolder(path, lambda name: text_of(name, encoding), (".txt",))
    texts, mistakes = [], []
    for name, _ in files.samples:
        try:
            texts.append(files.loader(name))
            if not texts[-1].strip():
                raise FormatError(name, "a text", "none")
        except FormatError as error:
            mistakes.append(error)
    raise_all(mistakes)
    return texts, files.targets, files.classes, [name for name, _ in files.samples]


def _in_table(path: StrPath, text: str, target: str, delimiter: str, encoding: str) -> Found:
    table = read_table(path, None, delimiter, encoding)
    raise_all(table.unknown([text, target]))
    columns = {name: table.column(name) for name in (text, target)}
    for row in range(len(table.rows)):
        for name, values in columns.items():
            if not values[row]:
                table.add_mistake(row, name, "a value", "none")
    table.check()
    classes = sorted({*columns[target]})
    labels = [classes.index(value) for value in columns[target]]
    places = [f"{os.fspath(path)}, line {line}" for line in table.lines]
    return columns[text], labels, classes, places
