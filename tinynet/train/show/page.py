"""The page of a report: sections between a head and a foot."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from tinynet.train.store.provenance import version

# ---- markup -------------------------------------------------------------------------------------
# HTML from Python values: whatever is not `Html` is escaped.


SORTABLE = "sortable"
"""The class of tables that the script of a page sorts."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(content: object) -> Html:
    """Return a value as HTML text; `Html` stays as it is.

    Example:
        >>> escaped("<b> & c"), escaped(Html("<b>"))
        ('&lt;b&gt; &amp; c', '<b>')
    """
    if isinstance(content, Html):
        return content
    return Html(html.escape("".join(map(_visible, str(content)))))


def _visible(character: str) -> str:
    """Return a character; one that no browser shows as its escape."""
    return character if character.isprintable() or character == "\n" else repr(character)[1:-1]


def element(name: str, *children: object, **attributes: object) -> Html:
    """Return an element.

    Args:
        name: its name, such as ``"td"``.
        children: its contents, one after another.
        attributes: its attributes; an underscore at the end is left out, as in ``class_``, and so
            is an attribute that is None.

    Example:
        >>> element("a", "<here>", href="#top", class_=None)
        '<a href="#top">&lt;here&gt;</a>'
    """
    given = {key.rstrip("_"): value for key, value in attributes.items() if value is not None}
    inside = "".join(f' {key}="{escaped(str(value))}"' for key, value in given.items())
    return Html(f"<{name}{inside}>{joined(children)}</{name}>")


def joined(parts: Iterable[object], between: str = "") -> Html:
    """Return parts one after another."""
    return Html(between.join(map(escaped, parts)))


def table(
    header: Sequence[object],
    rows: Iterable[Sequence[object]],
    numbers: int = 0,
    *,
    sortable: bool = False,
) -> Html:
    """Return a table that scrolls sideways where it is wider than the page.

    Args:
        header: the titles of the columns.
        rows: the cells of each row.
        numbers: the index of the first column of numbers; these are aligned on the right.
        sortable: whether a click on a title sorts the rows.

    Example:
        >>> "<tbody><tr><td>&lt;1&gt;</td></tr></tbody>" in table(["a"], [["<1>"]])
        True
    """
    kinds = ["number" if numbers and index >= numbers else None for index in range(len(header))]

    def row(name: str, cells: Sequence[object]) -> Html:
        pairs = zip(cells, kinds, strict=True)
        return element("tr", *[element(name, cell, class_=kind) for cell, kind in pairs])

    body = [row("td", cells) for cells in rows]
    head = element("thead", row("th", header))
    name = SORTABLE if sortable else None
    shown = element("table", head, element("tbody", *body), class_=name)
    return element("div", shown, class_="wide")


def cards(figures: Mapping[str, object]) -> Html:
    """Return figures as cards, each with its name.

    Example:
        >>> "<b>97 %</b><span>accuracy</span>" in cards({"accuracy": "97 %"})
        True
    """
    shown = [element("div", element("b", v), element("span", k)) for k, v in figures.items()]
    return element("div", *shown, class_="figures")


def bar(name: object, share: float) -> Html:
    """Return a bar for a share from 0 to 1, between its name and the percentage."""
    drawn = element("i", style=f"--share: {100 * share:.1f}%")
    return element("div", element("span", name), drawn, f"{100 * share:.1f} %", class_="bar")


def picture(png: bytes, description: str) -> Html:
    """Return a PNG file as an image inside the page."""
    data = base64.b64encode(png).decode()
    shown = element("img", class_="pixels", alt=description, src=f"data:image/png;base64,{data}")
    return Html(shown.removesuffix("</img>"))


def folded(title: object, *content: object) -> Html:
    """Return content that opens when its title is clicked."""
    return element("details", element("summary", title), *content)


# ---- page ---------------------------------------------------------------------------------------


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
    if script:  # only this one: its text has this hash
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
