"""Standard output and error of the command line, which may be closed, full, or know only ASCII."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from tinynet.train.base.problems import TrainError
from tinynet.train.base.terminal import line_columns, wrapped


class OutputError(TrainError):
    """Standard output cannot be written; the message is empty if its reader has gone."""

    def __init__(self, error: OSError) -> None:
        has_no_reader = isinstance(error, BrokenPipeError)  # as in `| head`
        super().__init__("" if has_no_reader else f"cannot write the output: {error.strerror}")


class _Stream(io.TextIOWrapper):
    """A standard stream that drops what cannot be written, and breaks lines between words.

    Attributes:
        raises: whether the first failure raises OutputError.
        warns: whether the first failure is reported on standard error, unless its reader has gone.
    """

    raises = False
    warns = False
    _failed = False

    def write(self, text: str, /) -> int:
        try:
            if (width := line_columns(self)) is not None:
                text = "\n".join(wrapped(line, width) for line in text.split("\n"))
            return super().write(text)
        except OSError as error:
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        first, self._failed = not self._failed, True
        if first and self.raises:
            raise OutputError(error) from None
        if first and self.warns and not isinstance(error, BrokenPipeError):
            text = f"the output cannot be written ({error.strerror}); everything else continues"
            print(f"warning: {text}", file=sys.stderr)


def prepare_streams() -> None:
    """Make failing output raise OutputError, and escape characters that it cannot encode."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next opened file would take its number
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = _stream(sys.stderr, 2)
    sys.stdout = _stream(sys.stdout, 1)
    sys.stdout.raises = True


def survive_closed_output() -> None:
    """From now on, only warn when output fails, so that the command finishes its work."""
    if isinstance(sys.stdout, _Stream):
        sys.stdout.raises, sys.stdout.warns = False, True


def _stream(usual: Any, number: int) -> _Stream:
    """Return our replacement of a standard stream, which is None if it was closed."""
    if usual is None:
        return _Stream(open(number, "wb", closefd=False), encoding="utf-8")
    return _Stream(
        usual.buffer,
        encoding=usual.encoding,
        errors="backslashreplace" if usual.errors == "strict" else usual.errors,
        line_buffering=usual.line_buffering,
        write_through=usual.write_through,
    )
