"""Language models, which continue texts, and word vectors, which have neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tinynet.data import Tokenizer
from tinynet.data.readers.files import text_of
from tinynet.train.base.problems import UsageError, did_you_mean
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.diagnose.drift import Drift
from tinynet.train.exhibits.word_vectors import nearest, vectors_of
from tinynet.train.outputs.generation import generate_text
from tinynet.train.outputs.predictions import Row
from tinynet.train.prediction.kinds import Kind, is_text
from tinynet.train.prediction.trained import Trained
from tinynet.train.store.tokens import stored_tokenizer

_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Writing:
    """The options of a text to write; those of `generate`."""

    length: int = 300
    temperature: float = 0.8
    top_k: int | None = None
    seed: int = 0


class Prompts(Kind):
    """Texts to continue.

    Args:
        trained: the run.
        tokenizer: the tokenizer of its model.
        writing: the options.
    """

    endings = (".txt",)
    noun = "text"
    accepts = "texts to continue: --prompt TEXT, .txt files, folders of them, or lines after -"

    def __init__(self, trained: Trained, tokenizer: Tokenizer, writing: Writing) -> None:
        super().__init__(trained)
        self.tokenizer = tokenizer
        self.writing = writing

    def takes(self, word: str) -> bool:
        """Return whether it is a text, and not the name of a missing file."""
        return is_text(word)

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield the text of a file with its continuation."""
        yield {**self.line(text_of(path)), "file": str(path)}

    def line(self, line: str) -> Row:
        """Return a text with its continuation.

        Raises:
            UsageError: the text is empty, an option is out of range, or the model is no language
                model.
        """
        if not line:
            raise UsageError(
                "the prompt is empty: a language model continues a prompt that is not empty, at "
                "least a space or a line break"
            )
        model, tokenizer, options = self.trained.model, self.tokenizer, self.writing
        try:
            text = generate_text(
                model,
                tokenizer,
                line,
                options.length,
                temperature=options.temperature,
                top_k=options.top_k,
                seed=options.seed,
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
        return {"prompt": line, "text": text}


class Words(Kind):
    """Words of a vocabulary with vectors.

    Args:
        trained: the run.
        vocabulary: the words in the order of their vectors.
    """

    endings = (".txt",)
    noun = "text"
    accepts = "words of its vocabulary, as arguments, .txt files of them, or lines after -"
    count = 8
    """The number of neighbours."""

    def __init__(self, trained: Trained, vocabulary: Sequence[str]) -> None:
        super().__init__(trained)
        self.vocabulary = vocabulary
        self.known = {*vocabulary}
        self.vectors = vectors_of(trained.model, "")

    def takes(self, word: str) -> bool:
        """Return whether it is a word, and not the name of a missing file."""
        return is_text(word)

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield the neighbours of each word in a file."""
        words = _WORD.findall(text_of(path))
        if not self.known & {*map(str.lower, words)}:
            raise UsageError(f"{path} has no word of the vocabulary")
        for word in words:
            yield self.neighbours(word) if word.lower() in self.known else self._unknown(word)

    def line(self, line: str) -> Row:
        """Return the neighbours of a word."""
        return self.neighbours(line) if line.lower() in self.known else self._unknown(line)

    def neighbours(self, word: str) -> Row:
        """Return the neighbours of a word that is in the vocabulary."""
        word = word.lower()
        found = nearest(self.vectors, self.vocabulary, [word], self.count)
        return {"word": word, "nearest": found[word]}

    def _unknown(self, word: str) -> Row:
        count = len(self.vocabulary)
        hint = did_you_mean(word, self.vocabulary)
        return {"error": f"{word!r} is not among the {count:,} words of the vocabulary{hint}"}


def prompts_of(trained: Trained, writing: Writing) -> Prompts:
    """Return the language model of a run.

    Raises:
        UsageError: the run did not train on a text, or its tokenizer is damaged.
    """
    folder = RunFolder(trained.checkpoint.parent)
    return Prompts(trained, stored_tokenizer(folder, Drift(folder).damage), writing)
