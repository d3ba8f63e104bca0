"""Tables, printed row by row during the measurement, and kept for the page and the plots."""

from dataclasses import InitVar, dataclass, field
from typing import Any


@dataclass
class Table:
    """One table of results.

    Attributes:
        title: the title.
        columns: the headings; all columns but the first are numbers.
        rows: one list per row, in the order of the columns.
        notes: sentences below the table.
        about: the machine, the versions and the number of turns.
        quiet: do not print it.
    """

    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    about: str = ""
    quiet: InitVar[bool] = False

    def __post_init__(self, quiet: bool) -> None:
        if not quiet:
            print(f"\n{self.head()}", flush=True)

    def add(self, *row: Any) -> None:
        """Add a row, and print it."""
        assert len(row) == len(self.columns)
        self.rows.append([*row])
        print(_line(row), flush=True)

    def head(self) -> str:
        """Return the title and headings in Markdown."""
        rule = "|---" + "|---:" * (len(self.columns) - 1) + "|"
        return f"**{self.title}**\n\n{_line(self.columns)}\n{rule}"

    def markdown(self) -> str:
        """Return the table in Markdown."""
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join([self.head(), *map(_line, self.rows), *notes]) + "\n"


def _line(cells: Any) -> str:
    return "| " + " | ".join(_shown(cell) for cell in cells) + " |"


def _shown(cell: Any) -> str:
    if cell is None:
        return "-"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
