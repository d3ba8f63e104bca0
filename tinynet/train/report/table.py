"""Tables for terminals and files."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tinynet.train.checkpoint.writing import write_text
from tinynet.train.config.grid import distinct
from tinynet.train.report.terminal import width_of

_BETWEEN = "  "
_UNIT = re.compile(r"(?<=[\d.]) ?(?:%|[nuµm]?s|[kMGT]?B)$")


def aligned(rows: Iterable[Sequence[str]], width: int | None = None) -> list[str]:
    """Format rows as lines with aligned columns; columns of numbers are right-aligned.

    Args:
        rows: a header, then the rows.
        width: the columns of a line on a terminal. Columns of the table that it has no room for
            are left out, from the right, and a last line names them.

    Example:
        >>> for line in aligned([("lr", "kind"), ("0.1", "a"), ("10", "bc")]):
        ...     print(line)
         lr  kind
        0.1  a
         10  bc
    """
    cells = [[str(cell) for cell in row] for row in rows]
    columns = [*zip(*cells, strict=True)]
    if width is not None:
        columns = [(title, *distinct(values)) for title, *values in columns]
        cells = [*map(list, zip(*columns, strict=True))]
    widths = [max(map(width_of, column)) for column in columns]
    numbers = [all(_is_number(cell) for cell in column[1:]) for column in columns]
    ends = itertools.accumulate(own + len(_BETWEEN) for own in widths)
    limit = math.inf if width is None else width + len(_BETWEEN)
    count = max(1, sum(end <= limit for end in ends))

    def line(row: Sequence[str]) -> str:
        padded = [
            _padded(cell, own, right)
            for cell, own, right in zip(row[:count], widths, numbers, strict=False)
        ]
        return _BETWEEN.join(padded).rstrip()

    left_out = cells[0][count:]
    note = [f"(not shown, as the terminal is narrow: {', '.join(left_out)})"] if left_out else []
    return [*map(line, cells), *note]


def _padded(cell: str, width: int, right: bool) -> str:
    spaces = " " * (width - width_of(cell))
    return spaces + cell if right else cell + spaces


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
