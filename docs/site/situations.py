"""The fifteen situations: programs that fail, their messages, and corrected programs.

`tests/whole/situations` runs all of them.
"""

import textwrap
from pathlib import Path

from docs.site.text import fenced

FOLDER = Path(__file__).parents[2] / "tests" / "whole" / "situations"
MARK = "# ---- says ----\n"
WIDTH = 80


def part() -> str:
    """Return all situations."""
    return "\n\n".join(situation(path) for path in sorted(FOLDER.glob("sketches/*.py")))


def situation(path: Path) -> str:
    """Return one situation: title and explanation from the docstring of the mended program."""
    broken, _, comments = path.read_text(encoding="utf-8").partition(MARK)
    mended = (FOLDER / "mended" / path.name).read_text(encoding="utf-8")
    _, text, program = mended.split('"""', 2)
    title, _, explanation = text.partition("\n")
    message = "\n".join(line.removeprefix("#").removeprefix(" ") for line in comments.splitlines())
    number = f"{int(path.stem[1:3])}. " if path.stem.startswith("s") else ""
    return "\n\n".join(
        [
            f"### {number}{title.rstrip('.')}",
            explanation.strip(),
            fenced(broken, "python", title=path.name, lines=True),
            fenced("\n".join(wrapped(message)), "text", title="says"),
            fenced(program, "python", title="instead"),
        ]
    )


def wrapped(message: str) -> list[str]:
    """Return the lines of a message, wrapped unless a caret points into them."""
    lines = message.splitlines()
    below = [*lines[1:], ""]
    shown = []
    for line, next_line in zip(lines, below, strict=True):
        if len(line) <= WIDTH or (next_line and set(next_line) <= {" ", "^"}):
            shown.append(line)
        else:
            indent = " " * 11 if line.startswith("  ") else ""
            shown += textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return shown
