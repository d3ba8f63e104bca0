"""The confusion matrix of the test set."""

from __future__ import annotations

import numpy as np

from tinynet.data import Tokenizer
from tinynet.dtypes import Array
from tinynet.train.show.markup import Html, element, joined, table
from tinynet.train.show.run_data import RunData

_MOST = 25  # classes of a matrix that is shown whole
_PAIRS = 20


def confusion(run: RunData) -> Html | None:
    """Return the matrix; of many classes, the most frequent mistakes."""
    if run.model is None or run.model.confusion is None:
        return None
    counts, names = run.model.confusion, class_names(run, len(run.model.confusion))
    if len(counts) > _MOST:
        return _mistakes(counts, names)
    text = "Rows are the actual classes, columns the predicted ones."
    return joined([element("p", text, class_="soft"), _matrix(counts, names)])


def class_names(run: RunData, count: int) -> list[str]:
    """Return the names of the classes; their numbers if they have none."""
    model = run.model
    for attribute in ("classes", "vocabulary"):
        given = model.about(attribute) if model is not None else None
        if isinstance(given, list | tuple) and len(given) == count:
            return [*map(str, given)]
    tokenizer = model.about("tokenizer") if model is not None else None
    if isinstance(tokenizer, Tokenizer):  # a model may have more outputs than tokens
        known = range(min(count, tokenizer.vocab_size))
        tokens = [repr(tokenizer.decode([number])) for number in known]
        return [*tokens, *map(str, range(len(tokens), count))]
    return [*map(str, range(count))]


def _matrix(counts: Array, names: list[str]) -> Html:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = [element("tr", element("th"), *[element("th", name) for name in names])]
    for name, row, parts in zip(names, counts.tolist(), shares.tolist(), strict=True):
        cells = [_cell(count, share) for count, share in zip(row, parts, strict=True)]
        rows.append(element("tr", element("th", name), *cells))
    return element("div", element("table", *rows, class_="matrix"), class_="wide")


def _cell(count: int, share: float) -> Html:
    ink = share**0.5  # makes a few mistakes among many right answers visible
    strong = "strong" if ink > 0.6 else None
    return element("td", count or "", class_=strong, style=f"--share: {100 * ink:.0f}%")


def _mistakes(counts: Array, names: list[str]) -> Html:
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_PAIRS]
    pairs = [divmod(int(place), len(counts)) for place in order]
    totals = np.maximum(counts.sum(axis=1), 1)
    rows = [
        (names[i], names[j], f"{wrong[i, j]:,}", f"{100 * wrong[i, j] / totals[i]:.1f} %")
        for i, j in pairs
        if wrong[i, j]
    ]
    text = f"The most frequent mistakes among {len(counts)} classes."
    header = ["actual", "predicted", "count", "of the actual class"]
    return joined([element("p", text, class_="soft"), table(header, rows, numbers=2)])
