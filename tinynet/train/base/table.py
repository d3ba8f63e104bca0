"""Tables for terminals and files."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tinynet.train.base.terminal import line_columns, width_of
from tinynet.train.base.writing import write_text

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
        width: the columns of a line; by default those of standard output, if it is a terminal.

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
