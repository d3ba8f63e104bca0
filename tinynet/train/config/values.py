"""The values of a config in full, each with its origin: as TOML text, and read back from it.

`Config.values` returns them for a config that has been checked. The folder of a run keeps them in
``config.toml``, which `read_values` reads also where a type that it names is gone.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from tinynet.train.config.document import assignment, dotted, split_key, toml_or_text, toml_value
from tinynet.train.config.signatures import Component

DEFAULT = "default"
"""The origin of a value that no config and no option sets."""

_UNSET = "# "  # before a value that TOML cannot express, which is a comment


@dataclasses.dataclass(frozen=True)
class Value:
    """A value of a config: its text and its origin.

    Example:
        >>> Value("[0.9, 0.99]", "digits.toml:3").value
        [0.9, 0.99]
    """

    text: str
    """The value in TOML; Python's text if TOML cannot express it."""

    origin: str
    """Where it came from: ``"digits.toml:12"``; ``"default"``."""

    is_toml: bool = True
    """Whether TOML can express it: not None."""

    @property
    def value(self) -> Any:
        """The value as TOML reads it: lists in place of tuples."""
        return toml_or_text(self.text)


Values = dict[tuple[str, ...], Value]
"""The values by their paths: ``("optimizer", "lr")``; in the order of ``config.toml``."""


def value_of(value: Any, origin: str) -> Value:
    """Return a value of Python as one of a config; components are tables on one line."""
    plain = _without_components(value)
    text = toml_value(plain)
    return Value(printable(plain) if text is None else text, origin, text is not None)


def _without_components(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_without_components, value))
    return value.inline if isinstance(value, Component) else value


def tables_of(values: Values) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the values by their tables and keys.

    Example:
        >>> [*tables_of(read_values("[run]\\nseed = 1  # digits.toml:3\\n"))]
        [('run',)]
    """
    groups = itertools.groupby(values.items(), lambda item: item[0][:-1])
    return {table: {path[-1]: value for path, value in rows} for table, rows in groups}


def as_tree(values: Values) -> dict[str, Any]:
    """Return the values as TOML reads them: tables in tables.

    Example:
        >>> as_tree(read_values("[run]\\nseed = 1  # digits.toml:3\\n# name = None  # default\\n"))
        {'run': {'seed': 1}}
    """
    tree: dict[str, Any] = {}
    for (*tables, key), value in values.items():
        place = tree
        for table in tables:
            place = place.setdefault(table, {})
        if value.is_toml:
            place[key] = value.value
    return tree


# ---- as text ----


def text_of(values: Values, file: str, *, with_origins: bool = True) -> str:
    """Return values as a TOML document.

    Args:
        values: the values.
        file: the file that they were first read from.
        with_origins: end each line with a comment that names the origin of its value.
    """
    blocks = [f"# The config of a run, in full; first read from {printable(file)}."]
    for table, rows in tables_of(values).items():
        texts = {
            f"{'' if value.is_toml else _UNSET}{dotted([key])} = {value.text}": value.origin
            for key, value in rows.items()
        }
        width = max(map(len, texts))
        lines = [f"{text:<{width}}  # {printable(origin)}" for text, origin in texts.items()]
        blocks.append("\n".join([f"[{dotted(table)}]", *(lines if with_origins else texts)]))
    return "\n\n".join(blocks) + "\n"


def printable(value: Any) -> str:
    """Escape the text of a comment, so that it stays on its line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))


# ---- from text ----


def read_values(text: str) -> Values:
    """Return the values of a stored config; a damaged line is left out.

    Example:
        >>> read_values('[run]\\nname = "a  # b"  # digits.toml:3\\n')
        {('run', 'name'): Value(text='"a  # b"', origin='digits.toml:3', is_toml=True)}
    """
    values: Values = {}
    table: tuple[str, ...] = ()
    for line in map(str.strip, text.split("\n")):
        if line.startswith("[") and line.endswith("]"):
            table = _path(line[1:-1]) or table
        elif line.startswith(_UNSET):
            assigned, _, origin = line.removeprefix(_UNSET).rpartition("  # ")
            key, equals, shown = assigned.partition(" = ")
            if equals:
                values[*table, *_path(key)] = Value(shown.strip(), origin, is_toml=False)
        elif (found := assignment(line)) is not None:
            path, shown, origin = found
            values[*table, *path] = Value(shown, origin)
    return values


def _path(key: str) -> tuple[str, ...]:
    try:
        return split_key(key)
    except ValueError:  # a damaged line
        return ()
