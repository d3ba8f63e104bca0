"""Tables for terminals and files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tinynet.train.checkpoint.writing import write_text

_UNIT = re.compile(r"(?<=[\d.]) ?(?:%|[num]?s|[kMGT]?B)$")


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Format rows as lines with aligned columns; columns of numbers are right-aligned.

    Args:
        rows: a header, then the rows.

    Example:
        >>> for line in aligned([("lr", "kind"), ("0.1", "a"), ("10", "bc")]):
        ...     print(line)
         lr  kind
        0.1  a
         10  bc
    """
    cells = [[str(cell) for cell in row] for row in rows]
    columns = [*zip(*cells, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    numbers = [all(_is_number(cell) for cell in column[1:]) for column in columns]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numbers, strict=True)
        ).rstrip()
        for row in cells
    ]


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
