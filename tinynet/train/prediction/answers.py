"""Predictions for arguments, files and lines."""

from __future__ import annotations

import itertools
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path

from tinynet import data
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.encoding import TableEncoder
from tinynet.data.readers.files import FormatError
from tinynet.data.readers.folder import files_in
from tinynet.data.readers.image_encoding import ImageEncoder
from tinynet.data.texts.encoding import TextEncoder
from tinynet.ops.shaping.joining import cat
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.diagnose.drift import Drift
from tinynet.train.loop.callback import dataset_attribute
from tinynet.train.loop.fit import as_evaluated
from tinynet.train.outputs.predictions import Row
from tinynet.train.prediction.arrays import check_content
from tinynet.train.prediction.kinds import Images, Kind, LabelledTexts, Numbers, Tables
from tinynet.train.prediction.language import Words, Writing, prompts_of
from tinynet.train.prediction.trained import Trained
from tinynet.train.store.tokens import stored_vocabulary


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
    """Return whether a file's name is that of a format which the kind of inputs does not have."""
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
