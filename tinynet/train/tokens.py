"""The tokenizer of a run on a text: kept in its folder, and compared with that of the data set."""

from __future__ import annotations

from typing import Any

from tinynet.data import FormatError, Tokenizer
from tinynet.train.exhibits import said_by
from tinynet.train.folder import RunFolder
from tinynet.train.problems import UsageError


def keep_tokenizer(train_set: Any, folder: RunFolder) -> None:
    """Write what texts become numbers with into the folder, for those who use the model."""
    tokenizer = said_by(train_set, "tokenizer")
    if isinstance(tokenizer, Tokenizer):
        tokenizer.save(folder.tokenizer)


def check_tokenizer(train_set: Any, folder: RunFolder) -> None:
    """Refuse a text whose tokens are others than those that the model of the folder has learned.

    Raises:
        UsageError: its tokenizer is not the one in the folder; the text was changed since.
    """
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


def stored_tokenizer(folder: RunFolder) -> Tokenizer:
    """The tokenizer in the folder of a run.

    Raises:
        UsageError: the run was not on a text, or the file is damaged.
    """
    file = folder.tokenizer
    try:
        tokenizer: Tokenizer = Tokenizer.load(file)
    except FileNotFoundError:
        raise UsageError(f"{folder.path} has no {file.name}: its data set is no text") from None
    except (OSError, FormatError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    return tokenizer
