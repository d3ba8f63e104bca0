"""Predictions of numbers: against the actual values, and the residuals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tinynet.data.readers.encoding import TableEncoder
from tinynet.dtypes import Array
from tinynet.train.metrics.metric import Collected
from tinynet.train.metrics.regression import r2
from tinynet.train.observe.progress import number_text
from tinynet.train.show.markup import Html, cards, element, joined
from tinynet.train.show.plots import GREY, Curve, Scale, lines
from tinynet.train.show.run_data import RunData

_MOST = 500  # points of a plot
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
    if len(true) > _MOST:
        text = f"The plots show {_MOST:,} of {len(true):,} examples."
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
    chosen = np.linspace(0, len(true) - 1, min(_MOST, len(true))).astype(int)
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
