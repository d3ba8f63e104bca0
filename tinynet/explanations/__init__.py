"""What errors mean and how to fix them: one page per error, in this folder.

The messages name the page: ``python -m tinynet explain inplace-saved``.
"""

import os

from tinynet import invocation
from tinynet.explanations import display as display  # shows uncaught errors from now on

_FOLDER = os.path.dirname(__file__)


def topics() -> list[str]:
    """Return the names of all pages.

    Example:
        >>> "inplace-saved" in topics()
        True
    """
    pages = os.listdir(_FOLDER)
    return sorted(name.removesuffix(".md") for name in pages if name.endswith(".md"))


def all_pages() -> str:
    """Return all pages as one Markdown document, the documentation's page on errors."""
    shown = invocation.command("explain", "TOPIC")
    parts = [
        "# Errors, and what to do",
        f"Each of these errors and warnings names its page: `{shown}`.",
    ]
    for topic in topics():
        title, _, body = explain(topic).removeprefix("# ").partition("\n")
        parts.append(f"## {title}\n\n*{topic}*\n{body.rstrip()}")
    return "\n\n".join(parts)


def explain(topic: str) -> str:
    """Return the page on ``topic``, as Markdown.

    Raises:
        KeyError: there is no such page.

    Example:
        >>> explain("scalar-only").splitlines()[0]
        '# backward on a tensor with several elements'
    """
    if topic not in topics():
        raise KeyError(topic)
    with open(os.path.join(_FOLDER, f"{topic}.md"), encoding="utf-8") as page:
        return page.read()
