"""Lines that fit a terminal, a line at its bottom that is drawn again and again, and tables.

Nothing here uses colours or escape sequences.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tinynet.base.invocation import command, python
from tinynet.train.base.files import write_text

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
        line: the line: of a table, whose last cell continues below itself; indented; or plain.
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
        encoding: the terminal's, which may have no blocks.

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


_BETWEEN = "  "
_LEAST = ["folder", "status", "memory", "multiply-adds", "update", "backward", "forward"]
"""The columns that a narrow terminal does without, the least important first."""

_FLOAT = re.compile(r"-?\d+(\.\d+(e[+-]?\d+)?|e[+-]?\d+)")
_LONG = 11  # characters; such numbers were drawn, not typed
_CONTEXT = 3  # characters before the first difference of long values
_FEWEST, _KEPT = 2, 1000
_UNIT = re.compile(r"(?<=[\d.]) ?(?:%|[nuµm]?s|[kMGT]?B)$")


def aligned(rows: Iterable[Sequence[str]], width: int | None = None) -> list[str]:
    """Format rows as lines with aligned columns; columns of numbers are right-aligned.

    On a terminal that is too narrow, long values are shortened where they are equal, and columns
    are left out, the least important first. A last line names them.

    Args:
        rows: a header, then the rows.
        width: the columns of a line; by default the width of standard output, if it is a terminal.

    Example:
        >>> for line in aligned([("lr", "kind"), ("0.1", "a"), ("10", "bc")]):
        ...     print(line)
         lr  kind
        0.1  a
         10  bc
        >>> print(*aligned([("module", "time", "memory"), ("0", "1 ms", "2 kB")], 14), sep="\\n")
        module  time
             0  1 ms
        (too narrow for memory)
    """
    columns = [*zip(*([str(cell) for cell in row] for row in rows), strict=True)]
    columns, left_out = _fitting(columns, line_columns(sys.stdout) if width is None else width)
    padded = [_padded(column) for column in columns]
    lines = [_BETWEEN.join(row).rstrip() for row in zip(*padded, strict=True)]
    return [*lines, *([f"(too narrow for {', '.join(left_out)})"] if left_out else [])]


Columns = list[tuple[str, ...]]


def _fitting(columns: Columns, width: int | None) -> tuple[Columns, list[str]]:
    """Return columns that fit a line, and the titles of those that do not."""
    if width is None or _width(columns) <= width:
        return columns, []
    columns = [(title, *distinct(own)) for title, *own in columns[:-1]] + columns[-1:]
    kept, left_out = columns, []
    for column in sorted(reversed(columns), key=_importance):  # of several numbers, the last
        if _width(kept) <= width or len(kept) <= _FEWEST or _importance(column) == _KEPT:
            break
        kept = [one for one in kept if one is not column]
        left_out.append(column[0])
    return kept, [title for title, *_ in columns if title in left_out]


def _importance(column: Sequence[str]) -> int:
    """Return the place of a column among those to leave out; other numbers follow the named."""
    title, *cells = column
    if title in _LEAST:
        return _LEAST.index(title)
    return len(_LEAST) if all(map(_is_number, cells)) else _KEPT


def _width(columns: Columns) -> int:
    return sum(max(map(width_of, column)) + len(_BETWEEN) for column in columns) - len(_BETWEEN)


def _padded(column: Sequence[str]) -> list[str]:
    """Return the cells of a column in the same width."""
    width, right = max(map(width_of, column)), all(map(_is_number, column[1:]))
    spaces = [" " * (width - width_of(cell)) for cell in column]
    pairs = zip(column, spaces, strict=True)
    return [space + cell if right else cell + space for cell, space in pairs]


def write_csv(path: Path, rows: Iterable[Sequence[str]]) -> Path:
    """Write rows as a CSV file, and return its path."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_text(path, text.getvalue())
    return path


def _is_number(text: str) -> bool:
    try:
        float(_UNIT.sub("", text.replace(",", "")) or 0)
    except ValueError:
        return False
    return True


def brief(text: str) -> str:
    """Return the text of a value with at most four digits, if it is a number with many.

    Example:
        >>> brief("0.001234567890123"), brief("0.125"), brief("Adam")
        ('0.001235', '0.125', 'Adam')
    """
    if len(text) < _LONG or not _FLOAT.fullmatch(text):
        return text
    return f"{float(text):.4g}"


def distinct(values: Sequence[str], most: int = 40) -> list[str]:
    """Return values in a few characters each, which begin where long ones begin to differ.

    Args:
        values: the values of one key.
        most: the number of characters.

    Example:
        >>> distinct(["[64, 32, 16, 10]", "[64, 32, 10]"], most=10)
        ['…16, 10]', '…10]']
        >>> distinct(["0.1", "0.01"])
        ['0.1', '0.01']
    """
    texts = [*map(brief, values)]
    if all(len(text) <= most for text in texts):
        return texts
    common = len(os.path.commonprefix(texts)) if len({*texts}) > 1 else 0
    start = texts[0].rfind(", ", 0, common) + len(", ")  # the beginning of the item that differs
    start = start if 1 < start and common - start < most // 2 else max(0, common - _CONTEXT)
    cut = ["…" * (start > 0) + text[start:] if len(text) > start else text for text in texts]
    return [text if len(text) <= most else f"{text[: most - 1]}…" for text in cut]
