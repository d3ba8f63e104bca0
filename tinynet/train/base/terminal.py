"""Lines that fit a terminal, and a line at its bottom that is drawn again and again.

Nothing here uses colours or escape sequences.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from tinynet.base.invocation import command, python

_UNKNOWN = 80  # columns of a terminal that does not know its size
_EIGHTHS = "▏▎▍▌▋▊▉"
LEAST_BAR, _MOST_BAR = 10, 30
"""The columns of the shortest bar, and of the longest."""

_INDENT = 2  # of what continues a line
_WORD = r"(?<!\S)'[^'\n]*'\S*|\S+"  # a quoted path is one word
_VERBATIM = re.compile(r" *[^\w `(]|[\w.]+ = ")  # a picture, JSON; a line of a config


class Field(NamedTuple):
    """A part of a line.

    Attributes:
        text: what it shows.
        rank: its rank; where a line is too long, the field with the largest is left out first.
    """

    text: str
    rank: int = 0


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal that can return to the beginning of a line."""
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def columns(stream: Any) -> int:
    """Return the number of columns that a line may have on a terminal now.

    A character in the last column would make some terminals begin a new line.
    """
    try:
        size = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        size = 0
    return (size or _UNKNOWN) - 1


def line_columns(stream: Any) -> int | None:
    """Return the number of columns for a line on a stream; None if it is not a terminal."""
    return columns(stream) if stream.isatty() else None


def width_of(text: str) -> int:
    """Return the number of columns of a text: two for each wide character, such as Chinese ones.

    Example:
        >>> width_of("loss"), width_of("损失")
        (4, 4)
    """
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def wrapped(line: str, width: int) -> str:
    """Break a line of prose between words; a command at its end stays whole.

    A line that begins with a sign is not prose, and stays as it is.

    Args:
        line: the line; that of a table, whose last cell continues below itself; or an indented one.
        width: the columns of a line.

    Example:
        >>> print(wrapped("test accuracy 98.08 %, test loss 0.086 (with the last weights)", 40))
        test accuracy 98.08 %, test loss 0.086
          (with the last weights)
        >>> print(wrapped("loss       AdaptiveLogSoftmaxWithLoss, BCELoss, ...", 40))
        loss       AdaptiveLogSoftmaxWithLoss,
                   BCELoss, ...
    """
    if width_of(line) <= width or _VERBATIM.match(line):
        return line
    commands = "|".join(rf"(?<!\S){re.escape(start)} .*" for start in (command(), python()))
    gaps = [gap.end() for gap in re.finditer("^ +|  +", line) if gap.end() <= width // 2]
    if re.search(commands, line):  # goes to a line of its own, with all the room
        gaps = [2 * _INDENT]
    indent = " " * max(gaps, default=_INDENT)
    lines = [""]
    for word in re.findall(rf"\s*(?:{commands}|{_WORD})", line):
        if lines[-1].strip() and width_of(lines[-1] + word) > width:
            lines.append(indent + word.lstrip())
        else:
            lines[-1] += word
    return "\n".join(lines)


def fitted(
    head: str, fields: Iterable[Field], width: int | None = None, between: str = ", "
) -> str:
    """Return a line of a head and fields, without the fields that it has no room for.

    Args:
        head: the beginning of the line, which always remains.
        fields: the fields in their order on the line.
        width: the columns of the line; None if it has room for all.
        between: what separates the fields; the separator behind the head is its own.

    Example:
        >>> fields = Field("loss 0.1"), Field("lr 0.01", 2), Field("acc 97 %", 1)
        >>> for width in (None, 36, 30, 16):
        ...     print(fitted("epoch 1: ", fields, width))
        epoch 1: loss 0.1, lr 0.01, acc 97 %
        epoch 1: loss 0.1, lr 0.01, acc 97 %
        epoch 1: loss 0.1, acc 97 %
        epoch 1:
    """
    kept = [field for field in fields if field.text]
    while kept and width is not None:
        line = head + between.join(field.text for field in kept)
        if width_of(line) <= width:
            return line
        # of fields with the same rank, the last
        kept.pop(max(range(len(kept)), key=lambda index: (kept[index].rank, index)))
    return (head + between.join(field.text for field in kept)).rstrip()


def bar(share: float, width: int, encoding: str | None = "utf-8") -> str:
    """Return a bar between its ends; an empty text if there is no room for one.

    Args:
        share: the share that is done, from 0 to 1.
        width: the columns that are free.
        encoding: that of the terminal, which may have no blocks.

    Example:
        >>> bar(0.55, 12), bar(0.55, 12, "ascii"), bar(0.55, 4)
        ('|█████▌    |', '|#####     |', '')
    """
    length = min(width, _MOST_BAR) - len("||")
    if width < LEAST_BAR:
        return ""
    full, eighths = divmod(int(8 * length * min(max(share, 0.0), 1.0)), 8)
    filled = "█" * full + (_EIGHTHS[eighths - 1] if eighths else "")
    try:
        filled.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        filled = "#" * full
    return f"|{filled:<{length}}|"


class LiveLine:
    """A line at the bottom of a terminal, below what has been printed.

    Args:
        stream: the terminal.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._shown = ""

    @property
    def columns(self) -> int:
        """The number of columns that it may have now."""
        return columns(self._stream)

    def draw(self, text: str) -> None:
        """Replace the line."""
        if text != self._shown:
            rest = width_of(self._shown) - width_of(text)
            self._write(f"\r{text}{' ' * rest}")
            self._shown = text

    def print(self, text: str) -> None:
        """Print above the line."""
        shown = self._shown
        self.clear()
        self._write(f"{text}\n{shown}")
        self._shown = shown

    def clear(self) -> None:
        """Remove the line; the next output takes its place."""
        if self._shown:
            self._write(f"\r{' ' * width_of(self._shown)}\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
