"""What the numbers of a text mean, tokens or words: kept in the run folder, compared with it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from tinynet.data import FormatError, Tokenizer
from tinynet.train.checkpoint.run_folder import RunFolder
from tinynet.train.config.problems import UsageError
from tinynet.train.exhibits import said_by


def meanings(train_set: Any, folder: RunFolder) -> dict[str, bytes]:
    """What the numbers of a text mean, as files for those who use the model: name -> contents."""
    tokenizer, words = said_by(train_set, "tokenizer"), _words(train_set)
    kept = {}
    if isinstance(tokenizer, Tokenizer):
        kept[folder.tokenizer.name] = tokenizer.to_bytes()
    if words is not None:
        text = json.dumps(words, ensure_ascii=False, indent=0) + "\n"
        kept[folder.vocabulary.name] = text.encode("utf-8", "backslashreplace")
    return kept


def check_meanings(train_set: Any, folder: RunFolder, damaged: Collection[str] = ()) -> None:
    """Refuse a text whose numbers mean something else than what the model has learned.

    Args:
        train_set: that may be a text.
        folder: of the run.
        damaged: the names of files in it that cannot be trusted.

    Raises:
        UsageError: its tokenizer or its words are not those in the folder; the text was changed
            since.
    """
    if folder.tokenizer.name not in damaged:
        _check_tokenizer(train_set, folder)
    if folder.vocabulary.name not in damaged:
        _check_words(_words(train_set), folder)


def _words(train_set: Any) -> list[str] | None:
    """The words of a data set, if it has some: word i is what i stands for."""
    words = said_by(train_set, "vocabulary")
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        return None
    return [*words]


def _check_words(words: list[str] | None, folder: RunFolder) -> None:
    try:
        kept = json.loads(folder.vocabulary.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # nothing to compare with
        return
    if words is not None and words != kept:
        raise UsageError(
            "the text has changed since the run began: its words are not those that the model has "
            f"learned ({folder.vocabulary}), so the same numbers would mean other words. Put the "
            "former text back, or begin a new run"
        )


def _check_tokenizer(train_set: Any, folder: RunFolder) -> None:
    tokenizer = said_by(train_set, "tokenizer")
    if not isinstance(tokenizer, Tokenizer):
        return
    try:
        kept = Tokenizer.load(folder.tokenizer)
    except (OSError, FormatError):  # nothing to compare with
        return
    if not kept.is_same(tokenizer):
        raise UsageError(
            f"the text has changed since the run began: its tokens ({tokenizer.vocab_size}) are "
            f"not those that the model has learned ({kept.vocab_size}, in {folder.tokenizer}), so "
            "the same numbers would mean other characters. Put the former text back, or begin a "
            f"new run; one with data.tokenizer = {str(folder.tokenizer)!r} has the former tokens"
        )


def stored_tokenizer(folder: RunFolder, damaged: Mapping[str, str]) -> Tokenizer:
    """The tokenizer in the folder of a run.

    Args:
        folder: of the run.
        damaged: the files in it that cannot be trusted, and what is the matter.

    Raises:
        UsageError: the run was not on a text, or the file is damaged.
    """
    file = folder.tokenizer
    if file.name in damaged:
        raise UsageError(damaged[file.name])
    try:
        tokenizer: Tokenizer = Tokenizer.load(file)
    except FileNotFoundError:
        raise UsageError(f"{folder.path} has no {file.name}: its data set is no text") from None
    except (OSError, FormatError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    return tokenizer
