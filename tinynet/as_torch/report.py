"""Finding names of ``torch`` and its companions that tinynet lacks, in the text of a program."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from modulefinder import ModuleFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from tinynet.as_torch.hook import Absence
from tinynet.as_torch.reasons import PATHS, is_served


def files_of(script: str) -> list[str]:
    """Return the files of a program: its script, and the local modules that it imports."""
    finder = ModuleFinder(path=[str(Path(script).parent)])
    finder.run_script(script)
    files = [getattr(module, "__file__", None) for module in finder.modules.values()]
    return [file for file in files if file]


def absent_in(file: str) -> Iterator[Absence]:
    """Yield the names that a file uses and tinynet lacks."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"), file)
    aliases: dict[str, str] = {}  # a name in the program -> its path in torch
    nodes = [*ast.walk(tree)]
    for statement in nodes:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        for name, path in _imported(statement):
            if is_served(path):
                aliases[name] = path
                if missing := first_missing(path):
                    yield Absence(file, statement.lineno, missing)
    for node in nodes:
        if isinstance(node, ast.Attribute):
            dotted = _dotted(node, aliases)
            # The parts of a longer chain are its prefixes: check only the last attribute.
            if dotted and first_missing(dotted) == dotted:
                yield Absence(file, node.lineno, dotted)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield the names that a statement binds, each with its dotted path."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            if not node.level and alias.name != "*":
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            yield alias.name.partition(".")[0], alias.name.partition(".")[0]
            if "." in alias.name:
                yield alias.name, alias.name  # binds no name, but must be checked


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value, aliases)
        return inner and f"{inner}.{node.attr}"
    return None


def first_missing(path: str) -> str | None:
    """Return the prefix of a dotted path up to the first missing name; None if none is missing."""
    parts = path.split(".")
    if parts[0] not in PATHS:
        return parts[0]
    value: Any = importlib.import_module(parts[0])
    for n, part in enumerate(parts[1:], 2):
        inner = ".".join(parts[:n])
        if inner in PATHS:
            value = importlib.import_module(inner)
        elif not isinstance(value, (ModuleType, type)):
            return None
        elif part in vars(value) or (isinstance(value, type) and hasattr(value, part)):
            value = getattr(value, part)
        else:
            return inner
    return None
