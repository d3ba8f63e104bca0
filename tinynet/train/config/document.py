"""A config file with overrides, as a tree of values with their origins."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet.train.base.problems import ConfigError, Origin, Problem, Problems
from tinynet.train.base.toml_text import dotted
from tinynet.train.config.toml_lines import KeyPath, key_lines, repeated_key, split_key

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
