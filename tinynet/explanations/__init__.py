"""What errors mean and how to fix them: one page per error, in this folder.

The messages name the page: ``python -m tinynet explain inplace-saved``.
"""

from importlib import resources

from tinynet.invocation import command


def topics() -> list[str]:
    """Return the names of all pages.

    Example:
        >>> "inplace-saved" in topics()
        True
    """
    pages = (page.name for page in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".md") for name in pages if name.endswith(".md"))


def all_pages() -> str:
    """Return all pages as one Markdown document, the documentation's page on errors."""
    parts = [
        "# Errors, and what to do",
        f"Each of these errors and warnings names its page: `{command('explain', 'TOPIC')}`.",
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
    return (resources.files(__name__) / f"{topic}.md").read_text(encoding="utf-8")
