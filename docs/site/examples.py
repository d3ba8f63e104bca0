"""The programs of ``examples/``, as they are."""

from pathlib import Path

from docs.site.text import fenced, plain

FOLDER = Path(__file__).parents[2] / "examples"


def part() -> str:
    """Each program, under what it says about itself."""
    return "\n\n".join(program(path) for path in sorted(FOLDER.glob("*.py")))


def program(path: Path) -> str:
    """One program."""
    text = path.read_text(encoding="utf-8")
    _, doc, code = text.split('"""', 2)
    says = " ".join(doc.split())
    return f"## {path.name}\n\n{plain(says)}\n\n{fenced(code, 'python', title=path.name)}"
