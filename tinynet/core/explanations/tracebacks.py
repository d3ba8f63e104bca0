"""Tracebacks without the frames of tinynet: what remains are the user's lines.

Only errors that tinynet raises on purpose are folded. An error that Python raises inside tinynet
may be a bug of tinynet, and keeps all frames. So do all errors where the environment variable
``TINYNET_TRACEBACKS`` is ``full``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from opcode import opmap
from types import TracebackType

import numpy as np

from tinynet.core.callsite import is_outside

SWITCH = "TINYNET_TRACEBACKS"
_RAISE = opmap["RAISE_VARARGS"]
_ARGUMENTS = re.compile(r"[\w.<>]+\(\) (got (an unexpected|multiple|some)|missing|takes) ")
# Where the standard library and the packages are installed.
_INSTALLED = os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(np.__file__))


def entries_of(error: BaseException) -> list[TracebackType]:
    """Return the entries of an error's traceback, the innermost last."""
    return [*_chain(error.__traceback__)]


def _chain(entry: TracebackType | None) -> Iterator[TracebackType]:
    while entry is not None:
        yield entry
        entry = entry.tb_next


def is_ours(entry: TracebackType) -> bool:
    """Return whether an entry is a frame of tinynet."""
    return not is_outside(entry.tb_frame.f_code.co_filename)


def users_of(entries: Sequence[TracebackType]) -> list[TracebackType]:
    """Return the entries outside tinynet; without those of packages that tinynet called."""
    kept, inside = [], False
    for entry in entries:
        if is_ours(entry):
            inside = True
        elif not (inside and _is_installed(entry)):
            inside = False
            kept.append(entry)
    return kept


def _is_installed(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith((*_INSTALLED, "<frozen "))


def is_intended(error: BaseException, entries: Sequence[TracebackType]) -> bool:
    """Return whether the user's code or a ``raise`` of tinynet raised the error.

    Files that are missing, and arguments that do not fit a function, are the user's too.
    """
    last = entries[-1]
    code = last.tb_frame.f_code
    if is_ours(last):
        raises = code.co_code[last.tb_lasti] == _RAISE
        return raises or isinstance(error, OSError) or is_about_arguments(error)
    return last in users_of(entries)


def is_about_arguments(error: BaseException) -> bool:
    """Return whether Python found that arguments do not fit a function."""
    return isinstance(error, TypeError) and _ARGUMENTS.match(str(error)) is not None


def is_full() -> bool:
    """Return whether the user wants the frames of tinynet in tracebacks."""
    return os.environ.get(SWITCH) == "full"


def fold(error: BaseException, entries: Sequence[TracebackType]) -> None:
    """Remove tinynet's frames from the traceback of an error."""
    if is_full():
        return
    folded = None
    for entry in reversed(users_of(entries)):
        folded = TracebackType(folded, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    error.__traceback__ = folded
