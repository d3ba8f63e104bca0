"""Markdown snippets."""

import re
from collections.abc import Iterable

_CODE = re.compile(r"(``.+?``|`[^`\n]+`)")


def plain(text: str) -> str:
    """Return text with all of Markdown's characters escaped, except code in backticks."""
    parts = _CODE.split(text)
    parts[::2] = [
        re.sub(r"([\\*_\[\]|])", r"\\\1", part.replace("<", "&lt;")) for part in parts[::2]
    ]
    return "".join(parts)


def cell(text: str) -> str:
    """Return text for a table cell."""
    return plain(" ".join(text.split())).replace("\\|", "|").replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are already Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fenced(text: str, language: str, title: str = "", lines: bool = False) -> str:
    """Return a block of code."""
    extra = f' title="{title}"' * bool(title) + ' linenums="1"' * lines
    return f"``` {{.{language}{extra}}}\n{text.strip(chr(10))}\n```"
