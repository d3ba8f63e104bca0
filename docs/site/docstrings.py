"""Docstrings as Markdown: prose, and sections such as ``Args:`` and ``Example:``."""

import re
import textwrap

from docs.site.text import fenced, plain

HEADINGS = ("Args", "Shape", "Raises", "Returns", "Yields", "Attributes", "Example")
LISTS = ("Args", "Raises", "Attributes")
_HEADING = re.compile(rf"^({'|'.join(HEADINGS)}):$", re.M)
_ENTRY = re.compile(r"^(\S[^:\n]*?): (.*)", re.S)


def sections(doc: str) -> dict[str, str]:
    """Return the parts of a cleaned docstring by heading; prose has the heading ``""``."""
    words = _HEADING.split(doc)
    found = {"": words[0].strip()}
    for heading, text in zip(words[1::2], words[2::2], strict=True):
        body, after = _indented(text)
        found[heading] = (found.get(heading, "") + "\n" + body).strip("\n")
        found[""] = f"{found['']}\n\n{after}".strip()  # prose that follows a section
    return found


def _indented(text: str) -> tuple[str, str]:
    """Return the indented text below a heading, and the rest."""
    lines = text.strip("\n").split("\n")
    end = next((i for i, line in enumerate(lines) if line and line[0] != " "), len(lines))
    return textwrap.dedent("\n".join(lines[:end])), "\n".join(lines[end:])


def markdown(doc: str) -> str:
    """Return a cleaned docstring as Markdown."""
    parts = []
    for heading, text in sections(doc).items():
        if heading == "":
            parts.append(prose(text))
        elif heading == "Example":
            parts.append(fenced(text, "pycon"))
        elif heading in LISTS:
            parts.append(f"**{heading}**\n\n{entries(text)}")
        else:
            parts.append(f"**{heading}:** {prose(text)}")
    return "\n\n".join(part for part in parts if part)


def prose(text: str) -> str:
    """Return paragraphs: indented ones as code, bullets as lists."""
    shown = []
    for paragraph in re.split(r"\n\s*\n", text) if text.strip() else ():
        if paragraph.startswith((">>>", "    >>>")):
            shown.append(fenced(textwrap.dedent(paragraph), "pycon"))
        elif all(line.startswith("    ") for line in paragraph.splitlines()):
            shown.append(fenced(textwrap.dedent(paragraph), "text"))
        elif paragraph.startswith(("- ", "* ")):
            items = re.split(r"^[-*] ", paragraph, flags=re.M)[1:]
            shown.append("\n".join(f"- {plain(' '.join(item.split()))}" for item in items))
        else:
            shown.append(plain(paragraph))
    return "\n\n".join(shown)


def entries(text: str) -> str:
    """Return a list of names with their meanings."""
    items = re.split(r"\n(?=\S)", text)
    return "\n".join(entry(" ".join(item.split())) for item in items if item.strip())


def entry(text: str) -> str:
    """Return the list item of one or several names with their meaning."""
    found = _ENTRY.match(text)
    if not found:
        return f"- {plain(text)}"
    names = ", ".join(f"`{name.strip('` ')}`" for name in found[1].split(","))
    return f"- {names}: {plain(found[2])}"
