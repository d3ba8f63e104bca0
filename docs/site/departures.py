"""The departures from PyTorch: the list in design.md, and small ones from the tests."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.site.text import plain

ROOT = Path(__file__).parents[2]
DESIGN = ROOT / "docs" / "design.md"
LISTS = {
    "Of operations and programs": ("tests/tools/recorded/general.py", 0),
    "Of single operations": ("tests/answers/oracle/departures.py", 0),
    "Of whole programs": ("tests/answers/differential/departures.py", 0),
    "Where random programs are not compared": ("tests/laws/property/departures.py", 1),
}
"""Heading -> the file, and the position of the reason among the arguments of an entry."""

TABLES = "tests/answers/pytorch_tables/known.py"
"""The file whose ``KNOWN`` maps patterns of row ids (``addbmm/inplace/...``) to reasons."""


def part() -> str:
    """Return the tables of design.md."""
    text = DESIGN.read_text(encoding="utf-8")
    (section,) = re.findall(r"^## Departures.*?\n(.*?)(?=^Smaller ones|^## )", text, re.S | re.M)
    return section.strip()


def small() -> str:
    """Return the small departures: the reasons in the tests."""
    parts = []
    for heading, (file, place) in LISTS.items():
        found = dict.fromkeys(reasons(ROOT / file, place))
        parts.append(f"### {heading}\n\n" + "\n".join(f"- {plain(text)}" for text in found))
    of_rows = "\n".join(f"- {plain(text)}" for text in dict.fromkeys(of_tables(ROOT / TABLES)))
    return "\n\n".join([*parts, f"### In the samples of PyTorch's own tests\n\n{of_rows}"])


def of_tables(path: Path) -> Iterator[str]:
    """Yield operations and reasons, without error texts and reasons for many operations."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = _constants(tree)
    (table,) = [s.value for s in tree.body if isinstance(s, ast.AnnAssign)]
    assert isinstance(table, ast.Dict)
    for pattern, value in zip(table.keys, table.values, strict=True):
        reason = constants[value.id] if isinstance(value, ast.Name) else value
        names = [*_operations(ast.literal_eval(pattern))] if pattern else []
        if names and not (text := ast.literal_eval(reason)).startswith("text: "):
            yield f"{', '.join(f'`{name}`' for name in names)}: {text}"


def _operations(pattern: str) -> Iterator[str]:
    """Yield the operations of a pattern such as ``cholesky_(inverse|solve)/function/.*``."""
    for row in re.findall(r"(?:\([^()]*\)|[^|()])+", pattern):
        name = row.split("/")[0].removesuffix(r"\..*").replace("\\.", ".")
        before, _, rest = name.partition("(")
        inner, _, after = rest.partition(")")
        for choice in inner.split("|"):
            if "\\" not in name:
                yield before + choice + after


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    return {
        statement.targets[0].id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }


def reasons(path: Path, place: int) -> Iterator[str]:
    """Yield the reasons in a list of departures, in order."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = _constants(tree)
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        if call.func.id in ("Departure", "Instead", "Avoided", "Forgiven"):
            reason = call.args[place] if len(call.args) > place else None
            if isinstance(reason, ast.Name):
                reason = constants.get(reason.id)
            if isinstance(reason, ast.Constant) and len(str(reason.value)) > 12:
                yield str(reason.value)
