"""The page of a report: sections between a head and a foot."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from tinynet.train.show.markup import SORTABLE, Html, element, escaped, joined
from tinynet.train.store.provenance import version

# Whatever a hostile name got past the escaping, a browser would neither run nor load it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_SORTS = f'class="{SORTABLE}"'


Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Section(Generic[Subject]):
    """A section of a page about a subject, such as a run."""

    title: str
    """Its title, also in the list of contents."""

    content: Callable[[Subject], Html | None]
    """Return what it shows of the subject; None leaves the section out."""


def page(name: str, subject: Subject, sections: Sequence[Section[Subject]]) -> str:
    """Return a page about a subject as an HTML document.

    Args:
        name: its title.
        subject: what the sections take.
        sections: the sections.
    """
    contents = [(section.title, _content(section, subject)) for section in sections]
    return document(name, [(title, content) for title, content in contents if content])


def _content(section: Section[Subject], subject: Subject) -> Html | None:
    """Return the content of a section; of one that fails, the error, so that the others remain."""
    try:
        return section.content(subject)
    except Exception as error:
        return element("p", f"cannot be shown. {type(error).__name__}: {error}", class_="bad")


def document(name: str, sections: Iterable[tuple[str, Html]]) -> str:
    """Return a document of sections: titles and contents."""
    numbered = [*enumerate(sections, 1)]
    links = [element("a", title, href=f"#section-{n}") for n, (title, _) in numbered]
    parts = [
        element("section", element("h2", title), content, id=f"section-{n}")
        for n, (title, content) in numbered
    ]
    main = joined(parts, "\n")
    script = _file("sort.js") if _SORTS in main else ""
    body = element(
        "body",
        element("header", element("h1", name), element("nav", *links)),
        element("main", main),
        element("footer", f"Written by tinynet {version()}."),
        *[element("script", Html(script))] * bool(script),
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n{_head(name, script)}\n{body}\n</html>\n'


def _head(name: str, script: str) -> Html:
    policy = _POLICY
    if script:  # only this one: the hash is that of its text
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
    return Html(
        '<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(name)}</title>\n<style>\n{_file('style.css')}</style>\n</head>"
    )


@functools.cache
def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
