"""Standard output and error of the command line, which may be closed, full, or know only ASCII."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

from tinynet.train.problems import TrainError


class OutputError(TrainError):
    """Standard output cannot be written; the message is empty if its reader has gone."""

    def __init__(self, error: OSError) -> None:
        has_no_reader = isinstance(error, BrokenPipeError)  # as in `| head`
        super().__init__("" if has_no_reader else f"cannot write the output: {error.strerror}")


class _Stream(io.FileIO):
    """A standard stream that drops what cannot be written.

    Attributes:
        raises: whether the first failure raises OutputError.
        warns: whether the first failure is told on standard error.
    """

    raises = False
    warns = False
    _failed = False

    def write(self, data: Any, /) -> int:
        try:
            if not (self.raises and self._failed):
                return super().write(data)
        except OSError as error:
            first, self._failed = not self._failed, True
            if first and self.raises:
                raise OutputError(error) from None
            if first and self.warns:
                text = f"the output cannot be written ({error.strerror}); everything else goes on"
                print(f"warning: {text}", file=sys.stderr)
        return len(data)


def prepare_streams() -> None:
    """Make output that fails raise OutputError, and what it cannot encode become an escape."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file that is opened would take its place
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = _wrapped(sys.stderr, 2)
    sys.stdout = _wrapped(sys.stdout, 1)
    _raw(sys.stdout).raises = True


def go_on_without_output() -> None:
    """From now on, output that fails is only warned of: what the command does is worth more."""
    raw = _raw(sys.stdout)
    raw.raises, raw.warns = False, True


def _wrapped(stream: TextIO | None, number: int) -> TextIO:
    """A stream of ours in place of one of Python's, which is None if it was closed."""
    raw = _Stream(number, "wb", closefd=False)
    encoding = stream.encoding if stream else "utf-8"
    errors = stream.errors if stream else None
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=encoding,
        errors="backslashreplace" if errors in (None, "strict") else errors,
        line_buffering=number == 2 or raw.isatty(),
    )


def _raw(stream: Any) -> Any:
    return stream.buffer.raw
