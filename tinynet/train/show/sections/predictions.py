"""Predictions against actual values: the confusion matrix, plots, residuals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tinynet.data import Tokenizer
from tinynet.data.readers.encoding import TableEncoder
from tinynet.dtypes import Array
from tinynet.train.metrics.metric import Collected
from tinynet.train.metrics.registry import r2
from tinynet.train.observe.progress import number_text
from tinynet.train.show.page import Html, cards, element, joined, table
from tinynet.train.show.plots import GREY, Curve, Scale, lines
from tinynet.train.show.run_data import RunData

# ---- confusion ----------------------------------------------------------------------------------
# The confusion matrix of the test set.


_MOST_CLASSES = 25  # classes of a matrix that is shown whole
_PAIRS = 20


def confusion(run: RunData) -> Html | None:
    """Return the matrix; of many classes, the most frequent mistakes."""
    if run.model is None or run.model.confusion is None:
        return None
    counts, names = run.model.confusion, class_names(run, len(run.model.confusion))
    if len(counts) > _MOST_CLASSES:
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


# ---- regression ---------------------------------------------------------------------------------
# Predictions of numbers: against the actual values, and the residuals.


_MOST_POINTS = 500  # points of a plot
_BINS = 30


def regression(run: RunData) -> Html | None:
    """Return the errors of the predictions, and two plots for each number of a target."""
    model = run.model
    if model is None or model.predictions is None:
        return None
    found, true = model.predictions
    names = _names(run, true.shape[1])
    errors = found - true
    score = r2(Collected(found, true))
    shown = {
        "R²": number_text(score, 3),
        "mean absolute error": number_text(float(np.abs(errors).mean())),
        "root mean squared error": number_text(float(np.sqrt(np.square(errors).mean()))),
    }
    parts = [cards(shown)]
    if score < 0:
        text = "R² is below 0: the mean of the actual values would be a better prediction."
        parts.append(element("p", text, class_="bad"))
    if len(true) > _MOST_POINTS:
        text = f"The plots show {_MOST_POINTS:,} of {len(true):,} examples."
        parts.append(element("p", text, class_="soft"))
    plots = [
        plot
        for column, name in enumerate(names)
        for plot in (*_scatter(name, found[:, column], true[:, column]),)
    ]
    return joined([*parts, element("div", *plots, class_="plots")])


def _names(run: RunData, count: int) -> list[str]:
    """Return the names of the numbers of a target: that of its column, if it is one."""
    learned = run.model.about("preprocessing") if run.model is not None else None
    if count == 1 and isinstance(learned, TableEncoder) and learned.target is not None:
        return [learned.target.name]
    return ["target"] if count == 1 else [f"target {number}" for number in range(1, count + 1)]


def _scatter(name: str, found: Array, true: Array) -> Sequence[Html]:
    """Return the plots of predicted against actual values, and of the residuals."""
    chosen = np.linspace(0, len(true) - 1, min(_MOST_POINTS, len(true))).astype(int)
    xs, ys = true[chosen].tolist(), found[chosen].tolist()
    ends = [min(xs + ys), max(xs + ys)]
    diagonal = Curve("predicted = actual", ends, ends, GREY, thin=True)
    counts, edges = np.histogram(found - true, bins=min(_BINS, math.isqrt(len(true)) + 1))
    x = [edges[0], *np.repeat(edges, 2)[1:-1].tolist(), edges[-1]]
    bars = Curve("", x, [0, *np.repeat(counts, 2).tolist(), 0], tips=False)
    zero = Curve("no error", [0.0, 0.0], [0, int(counts.max())], GREY, thin=True)
    points = Curve("", xs, ys, dots=True)
    title, y = f"{name}: predicted and actual", Scale("predicted")
    return (
        lines(title, [diagonal, points], "actual", y=y),
        lines(f"{name}: residuals", [zero, bars], "predicted - actual", y=Scale("examples")),
    )
