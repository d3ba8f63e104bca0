"""A config file with overrides, as a tree of values with their origins; values as TOML."""

from __future__ import annotations

import contextlib
import json
import math
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from typing import Any

from tinynet.train.base.problems import ConfigError, Origin, Problem, Problems

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str | None:
    """Return the TOML text of a value on one line, or None if TOML cannot express it.

    Example:
        >>> toml_value({"sizes": [64, 10], "act": "relu"})
        '{sizes = [64, 10], act = "relu"}'
        >>> toml_value(float("inf"))
        'inf'
        >>> toml_value(None) is None
        True
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float_text(float(value))
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return _joined("[", [toml_value(item) for item in value], "]")
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        texts = {toml_key(key): toml_value(item) for key, item in value.items()}
        return _joined("{", [t and f"{key} = {t}" for key, t in texts.items()], "}")
    return None


def toml_key(key: str) -> str:
    """Quote a key if necessary.

    Example:
        >>> toml_key("lr"), toml_key("learning rate")
        ('lr', '"learning rate"')
    """
    return key if _BARE.fullmatch(key) else toml_string(key)


def dotted(path: Iterable[str | int]) -> str:
    """Join a path as a dotted TOML key, with list positions as numbers.

    Example:
        >>> dotted(["model", "layers", 0, "a b"])
        'model.layers.0."a b"'
    """
    return ".".join(str(part) if isinstance(part, int) else toml_key(part) for part in path)


def toml_string(text: str) -> str:
    r"""Return a text as a TOML basic string.

    Example:
        >>> print(toml_string('a "b"\n'))
        "a \"b\"\n"
    """
    # All of JSON's escapes are valid in TOML, but TOML forbids a raw DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "nan"
    return repr(value)  # "inf", "-inf", "0.1", "1e-05": the shortest text that reads back exactly


def _joined(opening: str, texts: list[str | None], closing: str) -> str | None:
    known = [text for text in texts if text is not None]
    return opening + ", ".join(known) + closing if len(known) == len(texts) else None


# ---- toml lines ---------------------------------------------------------------------------------
# The line of each key in a TOML document, which `tomllib` does not report.
#
# The document must be valid for `tomllib`. The scanner can therefore assume that quotes and
# brackets are balanced, and only finds where keys and values begin and end; `tomllib` parses the
# keys.


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


def assignment(line: str) -> tuple[tuple[str, ...], str, str] | None:
    """Return the key of an assignment on one line, the text of its value, and its comment.

    Returns:
        None if the line is not an assignment, or no TOML.

    Example:
        >>> assignment('name = "a  # b"  # digits.toml:3')
        (('name',), '"a  # b"', 'digits.toml:3')
    """
    try:
        tree = tomllib.loads(line)
    except (ValueError, RecursionError):
        return None
    if not tree or line.startswith("["):
        return None
    scanner = _Scanner(line)
    path = split_key(scanner.skip(_KEY))
    scanner.at += 1  # the equals sign
    scanner.skip(_BLANK)
    start = scanner.at
    scanner.value(path)
    comment = line[scanner.at :].strip().removeprefix("#").strip()
    return path, line[start : scanner.at].strip(), comment


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


# ---- document -----------------------------------------------------------------------------------


_POSITION = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass
class Source:
    """The values of a config before they are checked."""

    file: str
    """The file, as the user named it; used in messages."""

    folder: Path
    """The folder that ``./file.py`` is relative to."""

    tree: dict[str, Any] = field(default_factory=dict)
    """The tables, as `tomllib` returns them, with the overrides in place."""

    origins: dict[KeyPath, Origin] = field(default_factory=dict)
    """The origin of each table, key and list element."""

    texts: dict[KeyPath, str] = field(default_factory=dict)
    """The text of each value on the command line: a ``run.name`` of 5 is the text "5"."""

    folders: dict[str, Path] = field(default_factory=dict)
    """The folders of all files that the source was merged from, by their names in messages."""

    def origin(self, *path: str | int) -> Origin:
        """Return the origin of a value, or else of the nearest table around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]]
        return Origin("file", self.file)

    def folder_of(self, *path: str | int) -> Path:
        """Return the folder that a ``./file.py`` at a path is relative to."""
        return self.folders.get(self.origin(*path).file, self.folder)

    def rename(self, old: KeyPath, new: KeyPath) -> None:
        """Move a value to another key of its table."""
        table = self.tree[str(old[0])]
        table[new[-1]] = table.pop(old[-1])
        tables: list[dict[KeyPath, Any]] = [self.origins, self.texts]
        for known in tables:
            for path in [p for p in known if p[: len(old)] == old]:
                known[(*new, *path[len(old) :])] = known.pop(path)

    def forget(self, path: KeyPath) -> None:
        """Remove the origins and texts at and below a path."""
        for known in (self.origins, self.texts):
            for other in [p for p in known if p[: len(path)] == path]:
                del known[other]


def read_toml(path: str | Path) -> Source:
    """Read a TOML file.

    Raises:
        ConfigError: if the file is missing, unreadable, not UTF-8 or not TOML.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise _refused(str(path), 0, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise _refused(repr(str(path)), 0, f"cannot be read: {error}") from None
    return parse(data, file=str(path), folder=Path(path).parent)


def parse(data: bytes, *, file: str, folder: Path) -> Source:
    """Parse a TOML document.

    Args:
        data: the document, in UTF-8.
        file: its name, for messages.
        folder: the folder that ``./file.py`` is relative to.

    Raises:
        ConfigError: if it is not UTF-8 or not TOML.

    Example:
        >>> source = parse(b"[run]\\nseed = 1", file="a.toml", folder=Path("."))
        >>> source.tree, str(source.origin("run", "seed"))
        ({'run': {'seed': 1}}, 'a.toml:2')
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refused(file, line, f"is not UTF-8: byte 0x{data[error.start]:02x}") from None
    try:
        tree = tomllib.loads(text)
        lines = key_lines(text)
    except ValueError as error:  # TOMLDecodeError, or a number with thousands of digits
        raise _syntax_error(file, text, str(error)) from None
    except RecursionError:
        raise _refused(file, 0, "is nested too deeply") from None
    origins = {path: Origin("file", file, line) for path, line in lines.items()}
    return Source(file, folder, tree, origins)


def override(
    source: Source, assignments: Iterable[str] | Mapping[str, Any], problems: Problems
) -> None:
    """Replace values of a source in place.

    Args:
        source: the source.
        assignments: ``"optimizer.lr=3e-4"`` strings, as after ``--set``, with values in TOML or
            else as plain text; or a mapping from paths to values.
        problems: collects the mistakes.
    """
    if isinstance(assignments, Mapping):
        for key, value in assignments.items():
            _assign(source, str(key), value, None, Origin("overrides"), problems)
        return
    if isinstance(assignments, str):
        assignments = [assignments]
    origin = Origin("command line")
    for assignment in assignments:
        key, equals, text = str(assignment).partition("=")
        if not equals:
            problems.add(origin, "", f"--set needs KEY=VALUE, got {assignment!r}")
        elif not _is_unicode(assignment):
            problems.add(origin, "", f"--set {assignment!r} is not valid text")
        else:
            _assign(source, key, toml_or_text(text), text, origin, problems)


def _assign(
    source: Source, key: str, value: Any, text: str | None, origin: Origin, problems: Problems
) -> None:
    try:
        path = split_key(key)
    except ValueError:
        problems.add(origin, "", f"{key!r} is not a key such as optimizer.lr")
        return
    place: Any = source.tree
    done: KeyPath = ()
    for part, following in zip(path, [*path[1:], None], strict=True):
        step = _step(place, part)
        if step is None:
            problems.add(origin, dotted(path), f"{dotted(done)} {_selection_problem(place)}")
            return
        done = (*done, step)
        if following is None:
            source.forget(done)
            place[step] = value
            source.origins[done] = origin
            if text is not None:
                source.texts[done] = text
        elif isinstance(place, dict):
            place = place.setdefault(part, {})
            source.origins.setdefault(done, origin)
        else:
            place = place[step]


def _step(place: Any, part: str) -> str | int | None:
    """Return the key or list position that a part of a path selects, or None."""
    if isinstance(place, dict):
        return part
    if isinstance(place, list) and part.isdecimal() and int(part) < len(place):
        return int(part)
    return None


def _selection_problem(place: Any) -> str:
    if isinstance(place, list):
        return f"is a list of {len(place)}: its elements are 0 to {len(place) - 1}"
    return f"is {place!r}, which has no keys"


def toml_or_text(text: str) -> Any:
    """Parse the text of a value on the command line: as TOML, or else as plain text.

    Example:
        >>> toml_or_text("1e-3"), toml_or_text("Adam")
        (0.001, 'Adam')
    """
    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return document["value"] if len(document) == 1 else text


def _is_unicode(text: str) -> bool:
    """Return False for surrogates, which stand for undecodable bytes of the command line."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _syntax_error(file: str, text: str, message: str) -> ConfigError:
    position = _POSITION.search(message)
    if position is None:
        return _refused(file, 0, f"is not TOML: {message}")
    lines, place = text.split("\n"), ""
    if position[1]:
        lines = lines[: int(position[1])]
        lines[-1] = lines[-1][: int(position[2]) - 1]
        place = f" (column {position[2]})"
    message = message[: position.start()]
    text = f"is not TOML: {message}{place}{_repetition(message, lines)}"
    return _refused(file, len(lines), text)


def _repetition(message: str, read: list[str]) -> str:
    """Return in words which key is given twice, if a message of `tomllib` is about that.

    Args:
        message: the message.
        read: the lines of the document up to the mistake, which are valid.
    """
    if not message.startswith(("Cannot overwrite", "Cannot declare", "Duplicate")):
        return ""
    found = repeated_key("\n".join(read))
    if found is None:
        return ""
    key, first, second = found
    lines = f"lines {first} and {second}" if first < second else f"line {first}"
    return f": {dotted(key)} is given twice, in {lines}"


def _refused(file: str, line: int, text: str) -> ConfigError:
    return ConfigError([Problem(Origin("file", file, line), "", text)])
