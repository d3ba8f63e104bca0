"""The tokenizer or vocabulary of a text: stored in the run folder, and compared with it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from tinynet.data import FormatError, Tokenizer
from tinynet.train.base.problems import UsageError
from tinynet.train.base.reading import read_bytes
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.loop.source import dataset_attribute


def vocabulary_files(train_set: Any, folder: RunFolder) -> dict[str, bytes]:
    """Return the tokenizer and vocabulary of a data set as files: name -> content."""
    tokenizer, words = dataset_attribute(train_set, "tokenizer"), _words(train_set)
    files = {}
    if isinstance(tokenizer, Tokenizer):
        files[folder.tokenizer.name] = tokenizer.to_bytes()
    if words is not None:
        text = json.dumps(words, ensure_ascii=False, indent=0) + "\n"
        files[folder.vocabulary.name] = text.encode("utf-8", "backslashreplace")
    return files


def check_vocabulary(train_set: Any, folder: RunFolder, damaged: Collection[str] = ()) -> None:
    """Check that the tokens and words of a text are those that the model was trained on.

    Args:
        train_set: the training set, which may be a text.
        folder: the run folder.
        damaged: the names of damaged files in it, which are not compared.

    Raises:
        UsageError: if its tokenizer or its vocabulary differs from that in the folder.
    """
    if folder.tokenizer.name not in damaged:
        _check_tokenizer(train_set, folder)
    if folder.vocabulary.name not in damaged:
        _check_words(_words(train_set), folder)


def _words(train_set: Any) -> list[str] | None:
    """Return the vocabulary of a data set, in the order of the indices; None if it has none."""
    words = dataset_attribute(train_set, "vocabulary")
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        return None
    return [*words]


def _check_words(words: list[str] | None, folder: RunFolder) -> None:
    try:
        stored = json.loads(read_bytes(folder.vocabulary))
    except (FileNotFoundError, ValueError):  # nothing to compare with
        return
    if words is not None and words != stored:
        raise UsageError(
            "the text has changed since the run began: its words are not those that the model has "
            f"learned ({folder.vocabulary}), so the same numbers would mean other words. Restore "
            "the former text, or start a new run"
        )


def _check_tokenizer(train_set: Any, folder: RunFolder) -> None:
    tokenizer = dataset_attribute(train_set, "tokenizer")
    if not isinstance(tokenizer, Tokenizer):
        return
    try:
        stored = Tokenizer.load(folder.tokenizer)
    except (OSError, FormatError):  # nothing to compare with
        return
    if not stored.is_same(tokenizer):
        raise UsageError(
            f"the text has changed since the run began: its tokens ({tokenizer.vocab_size}) are "
            f"not those that the model has learned ({stored.vocab_size}, in {folder.tokenizer}), "
            "so the same numbers would mean other characters. Restore the former text, or start a "
            f"new run; one with data.tokenizer = {str(folder.tokenizer)!r} has the former tokens"
        )


def stored_tokenizer(folder: RunFolder, damaged: Mapping[str, str]) -> Tokenizer:
    """Return the tokenizer in a run folder.

    Args:
        folder: the run folder.
        damaged: the damaged files in it, with their problems.

    Raises:
        UsageError: if the run did not train on a text, or the file is damaged.
    """
    file = folder.tokenizer
    if file.name in damaged:
        raise UsageError(damaged[file.name])
    try:
        tokenizer: Tokenizer = Tokenizer.load(file)
    except FileNotFoundError:
        raise UsageError(f"{folder.path} has no {file.name}: its data set is not a text") from None
    except (OSError, FormatError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    return tokenizer


def stored_vocabulary(folder: RunFolder, damaged: Mapping[str, str]) -> list[str]:
    """Return the vocabulary in a run folder; arguments and errors as for `stored_tokenizer`."""
    file = folder.vocabulary
    if file.name in damaged:
        raise UsageError(damaged[file.name])
    try:
        words: list[str] = json.loads(read_bytes(file))
    except FileNotFoundError:
        raise UsageError(f"{folder.path} has no {file.name}: its data set has no words") from None
    except ValueError as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    return words
