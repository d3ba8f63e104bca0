"""Predictions for arguments, files and lines."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tinynet import data
from tinynet.core.tensors.tensor import Tensor
from tinynet.data import Tokenizer
from tinynet.data.readers.files import FormatError, text_of
from tinynet.data.readers.image_encoding import ImageEncoder
from tinynet.data.readers.image_folder import files_in
from tinynet.data.readers.tables import TableEncoder
from tinynet.data.texts.tokenizer import TextEncoder
from tinynet.ops.shaping.joining import cat
from tinynet.train.base.problems import TrainError, UsageError, did_you_mean
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.diagnose.changes import Drift
from tinynet.train.exhibits import nearest, vectors_of
from tinynet.train.loop.splits import dataset_attribute
from tinynet.train.outputs import Row, generate_text
from tinynet.train.prediction.inputs import (
    Images,
    Kind,
    LabelledTexts,
    Numbers,
    Tables,
    check_content,
    is_text,
)
from tinynet.train.prediction.trained import Trained
from tinynet.train.step.task import as_evaluated
from tinynet.train.store.provenance import stored_tokenizer, stored_vocabulary

# ---- language -----------------------------------------------------------------------------------
# Language models, which continue texts, and word vectors, which have neighbours.


_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Writing:
    """The options of a text to write, as in `generate`."""

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


# ---- answers ------------------------------------------------------------------------------------


def kind_of(trained: Trained, writing: Writing) -> Kind:
    """Return the kind of inputs of a run."""
    encoder = trained.preprocessing
    if isinstance(encoder, TableEncoder):
        return Tables(trained, encoder)
    if isinstance(encoder, TextEncoder):
        return LabelledTexts(trained, encoder)
    if isinstance(encoder, ImageEncoder):
        return Images(trained)
    folder = RunFolder(trained.checkpoint.parent)
    if is_word_vectors(trained):
        return Words(trained, stored_vocabulary(folder, Drift(folder).damage))
    if folder.tokenizer.exists():
        return prompts_of(trained, writing)
    has_loader = dataset_attribute(trained.parts.test_set, "loader") is not None
    return Images(trained) if has_loader or trained.images is not None else Numbers(trained)


def is_word_vectors(trained: Trained) -> bool:
    """Return whether a run trains word vectors."""
    target = trained.config.data.component.target
    return isinstance(target, type) and issubclass(target, data.SkipGrams)


def answers(kind: Kind, words: Iterable[str]) -> Generator[Row, None, None]:
    """Yield the predictions for arguments: files, folders, and examples themselves.

    Raises:
        UsageError: one is neither, or its content does not fit; names it, and what is accepted.
    """
    size = kind.trained.config.data.batch_size
    given = [word.strip() or word for word in words]
    if not any(map(os.path.exists, given)):
        given = [*kind.joined(given)]
    sources = itertools.chain.from_iterable(_sources(kind, word) for word in given)
    with as_evaluated(kind.trained.model, kind.trained.config.run.seed):
        for is_example, group in itertools.groupby(
            sources, lambda source: isinstance(source, Path) and kind.is_example(source)
        ):
            while batch := [*itertools.islice(group, size if is_example else 1)]:
                if is_example:
                    yield from _of_examples(kind, [Path(source) for source in batch])
                elif isinstance(batch[0], Path):
                    yield from _of_file(kind, batch[0])
                else:
                    yield answer(kind, batch[0])


def answer(kind: Kind, line: str) -> Row:
    """Return the prediction for a line, or an error."""
    try:
        return kind.line(line)
    except (TrainError, ValueError, ModuleNotFoundError) as error:
        return {"error": f"{error}"}
    except OSError as error:
        return {"error": f"{line} cannot be read: {error.strerror or error}"}


def _sources(kind: Kind, word: str) -> Iterator[Path | str]:
    """Yield the files of an argument (for a folder, those in it), or the argument itself."""
    if os.path.isdir(word):
        found = [name for name in files_in(word) if name.lower().endswith(kind.endings)]
        if not kind.endings or not found:
            endings = ", ".join(kind.endings)
            none = f" with no file that ends in {endings}" if endings else ""
            raise UsageError(f"{word} is a folder{none or f'; the model takes {kind.accepts}'}")
        yield from map(Path, found)
    else:
        yield word if not os.path.exists(word) and kind.takes(word) else Path(word)


def _of_file(kind: Kind, path: Path) -> Iterator[Row]:
    try:
        check_content(path)
        yield from kind.rows(path)
    except (OSError, ValueError, ModuleNotFoundError, UsageError) as error:
        raise UsageError(refusal(kind, path, error)) from None


def refusal(kind: Kind, path: Path, error: Exception) -> str:
    """Return a message about a file: its mistake, and what the model takes."""
    if isinstance(error, OSError):
        return f"{path} cannot be read: {error.strerror or error}; the model takes {kind.accepts}"
    text = str(error)
    if isinstance(error, FormatError) and is_of_another_format(kind, path):
        text = f"{path} is no {kind.noun}"
    if isinstance(error, ModuleNotFoundError) or "\n" in text:
        return text
    return f"{text}; the model takes {kind.accepts}"


_OF_ROWS = (".csv", ".tsv", ".txt", ".data", ".parquet")  # tables, where any name will do


def is_of_another_format(kind: Kind, path: Path) -> bool:
    """Return whether a file has a format that such inputs do not have."""
    return bool(path.suffix) and path.suffix.lower() not in (kind.endings or _OF_ROWS)


def _of_examples(kind: Kind, paths: Sequence[Path]) -> list[Row]:
    """Return the predictions for files that are one example each; errors for broken ones."""
    rows: dict[Path, Row] = {path: {} for path in paths}
    inputs: dict[Path, Tensor] = {}
    for path in rows:
        try:
            check_content(path)
            inputs[path], text = kind.example(path)
            rows[path] = {"conversion": text} if text else {}
        except (OSError, ValueError, ModuleNotFoundError, UsageError) as error:
            rows[path] = {"error": refusal(kind, path, error)}
    together = len({tuple(one.shape) for one in inputs.values()}) == 1
    for group in [[*inputs]] if together else [[path] for path in inputs]:
        found = _predicted(kind, cat([inputs[path] for path in group]), group)
        for path, row in zip(group, found, strict=True):
            rows[path] = {**row, **rows[path]}
    return [{**rows[path], "file": str(path)} for path in paths]


def _predicted(kind: Kind, inputs: Tensor, paths: Sequence[Path]) -> list[Row]:
    """Return the predictions for a batch; errors for those that the model fails on."""
    try:
        return kind.trained.rows_for(inputs, ", ".join(map(str, paths)))
    except TrainError as error:
        if len(paths) > 1:
            singly = zip(inputs.split(1), paths, strict=True)
            return [row for one, path in singly for row in _predicted(kind, one, [path])]
        return [{"error": str(error)}]
