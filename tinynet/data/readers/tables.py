"""Text files with rows and named columns, and the position of each value."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tinynet.core.printing import quantity
from tinynet.data.readers.files import FormatError, StrPath, listed, raise_all, text_of


@dataclass
class Table:
    """The values of a file, as text without surrounding spaces."""

    path: StrPath
    names: list[str]
    """The names of the columns."""

    rows: list[list[str]]
    lines: list[int]
    """The line in the file where each row begins, from 1."""

    unit: str = "line"
    """What ``lines`` counts."""

    mistakes: list[FormatError] = field(default_factory=list)
    """The mistakes found so far; `check` raises them."""

    def column(self, name: str) -> list[str]:
        """Return the values of a column; FormatError if there is no such column."""
        raise_all(self.unknown([name]))
        index = self.names.index(name)
        return [row[index] for row in self.rows]

    def unknown(self, names: Iterable[str]) -> list[FormatError]:
        """Return the errors for the names that no column has."""
        hint = ""
        if len(self.names) == 1 and (other := [c for c in ",;\t|" if c in self.names[0]]):
            hint = f" (is the delimiter {other[0]!r}?)"
        found = f"the columns {listed(map(repr, self.names))}{hint}"
        wrong = [name for name in dict.fromkeys(names) if name not in self.names]
        return [FormatError(self.path, f"a column {name!r}", found) for name in wrong]

    def error(self, row: int, name: str, expected: str, found: str) -> FormatError:
        """Return the error for one value."""
        where = f"{self.unit} {self.lines[row]}, column {name!r}"
        return FormatError(self.path, expected, found, where)

    def add_mistake(self, row: int, name: str, expected: str, found: str) -> None:
        """Add the error for one value to the mistakes."""
        self.mistakes.append(self.error(row, name, expected, found))

    def check(self) -> None:
        """Raise the mistakes found so far, all at once."""
        raise_all(self.mistakes)

    def only(self, kept: Sequence[int]) -> "Table":
        """Return the table with the rows at these indices."""
        rows, lines = [self.rows[i] for i in kept], [self.lines[i] for i in kept]
        return Table(self.path, self.names, rows, lines, self.unit)


def read_table(
    path: StrPath,
    names: Sequence[str] | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> Table:
    """Return the values of a CSV file.

    Args:
        path: the file; decompressed if its name ends in ``.gz``.
        names: the column names, for a file without a header line.
        delimiter: the separator between values.
        encoding: the encoding of the text.

    Raises:
        FormatError: it is not text, a quote is not closed, column names are missing or repeated,
            there are no rows, or a row has a wrong number of values; the message has the line.
    """
    records = _records(path, text_of(path, encoding), delimiter)
    if names is None:
        line, first = next(records, (1, []))
        names = _checked_names(path, first, line)
    rows, lines, mistakes = [], [], []
    for line, row in records:
        if len(row) != len(names):
            expected = f"{quantity(len(names), 'value')}, as there are columns"
            mistakes.append(FormatError(path, expected, str(len(row)), f"line {line}"))
        rows.append(row)
        lines.append(line)
    raise_all(mistakes)
    if not rows:
        raise FormatError(path, "rows of values", "none")
    return Table(path, list(names), rows, lines)


def _records(path: StrPath, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Return the rows that are not empty, and the lines in which they begin."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True
    )
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            where = f"the row that begins in line {line}"
            raise FormatError(path, "comma-separated values", _reason(error), where) from None
        if row:
            yield line, [value.strip() for value in row]


def _reason(error: csv.Error) -> str:
    text = str(error)
    if text == "unexpected end of data":
        return "a quote that is not closed"
    if "expected after" in text:
        return "more text after a closing quote"
    return text


def _checked_names(path: StrPath, names: list[str], line: int) -> list[str]:
    if not names:
        raise FormatError(path, "a line of column names", "an empty file")
    for index, name in enumerate(names):
        if not name:
            raise FormatError(path, f"a name for column {index + 1}", "none", f"line {line}")
        if name in names[:index]:
            raise FormatError(path, "different names", f"{name!r} twice", f"line {line}")
    return names
