"""The config, with the origin of each value."""

from __future__ import annotations

import re

from tinynet.core.printing import quantity
from tinynet.train.show.markup import Html, element, folded, table
from tinynet.train.show.run_data import RunData

_SECTION = re.compile(r"\[([^\[\]=]+)\]")
Row = tuple[str, str, str]
DEFAULT = "default"
"""The origin of a value that no config and no option sets."""


def config(run: RunData) -> Html:
    """Return a table per section: what was chosen, and the defaults below it."""
    shown = []
    for name, rows in sections_of(run.config).items():
        chosen = [row for row in rows if row[2] != DEFAULT]
        defaults = [row for row in rows if row[2] == DEFAULT]
        shown.append(element("h3", name))
        if chosen:
            shown.append(_table(chosen))
        if defaults:
            shown.append(folded(quantity(len(defaults), "default"), _table(defaults)))
    return element("div", *shown, class_="config")


def sections_of(text: str) -> dict[str, list[Row]]:
    """Return the keys, values and origins of each section of ``config.toml``.

    Example:
        >>> sections_of("[run]\\nseed = 1  # digits.toml:3\\n")
        {'run': [('seed', '1', 'digits.toml:3')]}
    """
    found: dict[str, list[Row]] = {}
    rows: list[Row] = []
    for line in text.splitlines():
        heading = _SECTION.fullmatch(line.strip())
        if heading:
            rows = found.setdefault(heading[1], [])
            continue
        assignment, _, origin = line.removeprefix("# ").rpartition("  # ")
        key, equals, value = assignment.partition(" = ")
        if equals:
            rows.append((key.strip(), value.strip(), origin.strip()))
    return found


def _table(rows: list[Row]) -> Html:
    return table(
        ["key", "value", "origin"],
        [(element("code", key), element("code", value), origin) for key, value, origin in rows],
    )
