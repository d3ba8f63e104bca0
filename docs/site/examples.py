"""The programs of ``examples/``."""

from pathlib import Path

from docs.site.text import fenced, plain

FOLDER = Path(__file__).parents[2] / "examples"


def part() -> str:
    """Return all programs, each below its docstring."""
    return "\n\n".join(program(path) for path in sorted(FOLDER.glob("*.py")))


def program(path: Path) -> str:
    """Return one program."""
    text = path.read_text(encoding="utf-8")
    _, doc, code = text.split('"""', 2)
    description = " ".join(doc.split())
    return f"## {path.name}\n\n{plain(description)}\n\n{fenced(code, 'python', title=path.name)}"
