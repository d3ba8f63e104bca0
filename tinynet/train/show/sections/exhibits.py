"""The last pictures and texts that the run wrote for TensorBoard."""

from __future__ import annotations

import textwrap

from tinynet.train.show.markup import Html, element, joined, picture, table
from tinynet.train.show.run_data import RunData

_ELSEWHERE = (
    "test/confusion_matrix",
    "test/samples",
    "val/confusion_matrix",
    "val/samples",
    "graph/folded",
)
_MOST = 12
_LONGEST = 5000  # characters


def exhibits(run: RunData) -> Html | None:
    """Return what exhibits and callbacks showed last."""
    shown = []
    for tag, (step, png) in sorted(run.logged.images.items()):
        if tag not in _ELSEWHERE:
            image = picture(png, tag).replace('class="pixels"', 'class="pixels shown"')
            shown.append(_figure(tag, step, Html(image)))
    for tag, (step, text) in sorted(run.logged.texts.items()):
        if tag not in _ELSEWHERE:
            shown.append(_figure(tag, step, _text(text[:_LONGEST])))
    return joined(shown[:_MOST]) if shown else None


def _text(markdown: str) -> Html:
    """Return a text for TensorBoard: a table as a table, all else as it is written."""
    lines = markdown.strip().splitlines()
    if len(lines) > 2 and all(line.startswith("|") for line in lines):
        cells = [line.strip("| ").replace("*", "").split("|") for line in lines]
        if len({*map(len, cells)}) == 1:
            return table(cells[0], cells[2:])
    return element("pre", "\n", textwrap.dedent(markdown), class_="text")


def _figure(tag: str, step: int, content: Html) -> Html:
    caption = element("figcaption", element("b", tag), f", after step {step}")
    return element("figure", caption, content)
