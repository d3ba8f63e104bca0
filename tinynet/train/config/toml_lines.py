"""The line of each key in a TOML document, which `tomllib` does not report.

The document must be valid for `tomllib`. The scanner can therefore assume that quotes and brackets
are balanced, and only finds where keys and values begin and end; `tomllib` parses the keys.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from bisect import bisect_right
from typing import Any

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the root: ``("model", "layers", 0, "type")``."""

_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'"
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(rf"(?:{_STRING}|[^=\"'])*")
_HEADER = re.compile(rf"(?:{_STRING}|[^\]\"'])*")
# Up to two quotes may precede the three that close a multi-line string.
_TEXT = re.compile(
    rf"\"\"\"(?:\\.|[^\\])*?\"\"\"(?:\"{{0,2}})|'''.*?'''(?:'{{0,2}})|{_STRING}", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\n]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""Return the line (from 1) of every table, key and list element of a valid TOML document.

    A table that exists only because of a longer header has the line of that header.

    Example:
        >>> key_lines("[optimizer]\nlr = 0.1\nbetas = [\n  0.9,\n  0.99]\n")[("optimizer", "lr")]
        2
        >>> key_lines("a.b = [\n  1, # one\n  {c = 2}]")[("a", "b", 1, "c")]
        3
    """
    return _Scanner(text.replace("\r\n", "\n")).document()


def split_key(text: str) -> tuple[str, ...]:
    """Split a dotted TOML key into its parts, and resolve quotes and escapes.

    Raises:
        tomllib.TOMLDecodeError: if the text is no TOML key.

    Example:
        >>> split_key('optimizer . "learning rate"')
        ('optimizer', 'learning rate')
    """
    parts: list[str] = []
    value: Any = tomllib.loads(f"{text} = 0")
    while isinstance(value, dict):
        if len(value) != 1:
            raise tomllib.TOMLDecodeError("Invalid key")
        ((part, value),) = value.items()
        parts.append(part)
    return tuple(parts)


def repeated_key(text: str) -> tuple[KeyPath, int, int] | None:
    r"""Return the first key or table that a document has twice, and both lines; None if none.

    The document may end within a value, and must be valid up to there.

    Example:
        >>> repeated_key("[run]\nseed = 1\nepochs = 3\nseed = 2\n")
        (('run', 'seed'), 2, 4)
    """
    scanner = _Scanner(text.replace("\r\n", "\n"))
    with contextlib.suppress(IndexError):  # the end of the text, within a value
        scanner.document()
    return scanner.repeated


class _Scanner:
    """Scans a document once, and records where keys and list elements begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.newlines = [i for i, character in enumerate(text) if character == "\n"]
        self.lines: dict[KeyPath, int] = {}
        self.elements: dict[KeyPath, int] = {}  # the last index of each array of tables
        self.defined: dict[KeyPath, int] = {}  # the lines of keys with a value, and of tables
        self.repeated: tuple[KeyPath, int, int] | None = None

    def document(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANK)
        return self.lines

    def header(self) -> KeyPath:
        """Scan `[a.b]` or `[[a.b]]`, and return the path of the table of the following keys."""
        start = self.at
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        *parents, last = split_key(self.skip(_HEADER))
        self.at += brackets
        path: KeyPath = ()
        for part in parents:
            path = self.inside((*path, part), start)
        path = (*path, last)
        if brackets == 1:
            self.define(path, start)
            return self.note(path, start)
        self.note(path, start)
        self.elements[path] = self.elements.get(path, -1) + 1
        return self.note((*path, self.elements[path]), start)

    def inside(self, path: KeyPath, start: int) -> KeyPath:
        """Return the path of a parent in a header: in an array of tables, its last element."""
        self.note(path, start)
        return (*path, self.elements[path]) if path in self.elements else path

    def pair(self, table: KeyPath) -> None:
        """Scan `a.b = value` in a table or inline table."""
        start = self.at
        path = table
        for part in split_key(self.skip(_KEY)):
            path = self.note((*path, part), start)
        self.define(path, start)
        self.at += 1  # the equals sign
        self.skip(_BLANK)
        self.value(path)

    def value(self, path: KeyPath) -> None:
        first = self.text[self.at]
        if first in "[{":
            self.at += 1
            self.collection(path, "]" if first == "[" else "}")
        else:
            self.skip(_TEXT if first in "\"'" else _SCALAR)

    def collection(self, path: KeyPath, end: str) -> None:
        """Scan the content of an array or inline table, including its closing bracket."""
        index = 0
        while True:
            self.skip(_BLANK)
            if self.text[self.at] == end:
                self.at += 1
                return
            if self.text[self.at] == ",":
                self.at += 1
            elif end == "}":
                self.pair(path)
            else:
                self.value(self.note((*path, index), self.at))
                index += 1

    def define(self, path: KeyPath, start: int) -> None:
        """Record the line of a definition, and the first that repeats one."""
        line = self.line_of(start)
        if path in self.defined and self.repeated is None:
            self.repeated = path, self.defined[path], line
        self.defined[path] = line

    def line_of(self, place: int) -> int:
        return bisect_right(self.newlines, place - 1) + 1

    def note(self, path: KeyPath, start: int) -> KeyPath:
        """Record the first line that names the path."""
        self.lines.setdefault(path, self.line_of(start))
        return path

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        assert match is not None  # every pattern here can be empty or is chosen by its first letter
        self.at = match.end()
        return match.group()
