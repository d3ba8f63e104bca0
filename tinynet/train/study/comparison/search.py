"""The sections about a search."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from tinynet.core.printing import quantity
from tinynet.train.base.table import brief
from tinynet.train.observe.progress import figure_text
from tinynet.train.show.markup import Html, bar, element, joined, table
from tinynet.train.show.plots import GREY, Curve, Scale, lines
from tinynet.train.study.comparison.compared import Comparison
from tinynet.train.study.grid import short_keys
from tinynet.train.study.results import Results, TrialResult
from tinynet.train.study.study import LEAST

_STATUSES = ("finished", "pruned", "failed", "interrupted")


def history(compared: Comparison) -> Html | None:
    """Return the counts of the trials, and their figures in the order in which they began."""
    results = compared.search
    if results is None:
        return None
    counts = [f"{count} {status}" for status in _STATUSES if (count := results.count(status))]
    how = f"Sampler {results.sampler} with seed {results.seed}, pruner {results.pruner}."
    value = "the value of a trial is that of its best evaluation"
    trials = quantity(len(results.trials), "trial")
    text = f"{trials}: {', '.join(counts)}. {how} By {results.figure_name}; "
    paragraph = element("p", f"{text}{value}.", class_="soft")
    curves = _curves(results)
    if not curves:
        return paragraph
    y = Scale(text=functools.partial(figure_text, results.metric, digits=3))
    plot = lines(f"{results.figure_name} by trial", curves, "trial", y=y)
    return joined([paragraph, element("div", plot, class_="plots large")])


def _curves(results: Results) -> list[Curve]:
    in_order = sorted(results.trials, key=lambda trial: trial.number)
    found = []
    for status, colour in (("finished", 0), ("pruned", GREY)):
        points = [
            (trial.number, trial.figure)
            for trial in in_order
            if trial.status == status and trial.figure is not None
        ]
        if points:
            x, y = zip(*points, strict=True)
            found.append(Curve(status, x, y, colour, dots=True))
            if status == "finished":
                found.append(Curve("best so far", x, _running(y, results), 1))
    return found


def _running(figures: Sequence[float], results: Results) -> list[float]:
    """Return the best of the figures up to each."""
    best = functools.partial(min, key=results.criterion.place)
    return [*itertools.accumulate(figures, lambda one, other: best((one, other)))]


def importance(compared: Comparison) -> Html | None:
    """Return the share of each key in the figures of the trials."""
    results = compared.search
    if results is None:
        return None
    if not results.importances:
        return element("p", f"Fewer than {LEAST} trials finished.", class_="soft")
    text = (
        f"The share of each key in reaching a good {results.figure_name} (PED-ANOVA), from "
        f"{results.count('finished')} finished trials. From few trials it is a rough guess."
    )
    bars = [bar(key, share) for key, share in results.importances.items()]
    return joined([element("p", text, class_="soft"), element("div", *bars, class_="bars")])


def pruned(compared: Comparison) -> Html | None:
    """Return a table of the pruned trials, in their order."""
    rows = [
        (trial.number, *values, _text(compared, trial), trial.epochs)
        for trial, values in _with(compared, "pruned")
    ]
    figure = "" if compared.search is None else compared.search.metric
    return _table(compared, rows, [f"best {figure}", "pruned after epoch"])


def failed(compared: Comparison) -> Html | None:
    """Return a table of the failed trials, in their order, with their errors."""
    rows = [(trial.number, *values, trial.message) for trial, values in _with(compared, "failed")]
    return _table(compared, rows, ["error"])


def _with(compared: Comparison, status: str) -> list[tuple[TrialResult, list[Html]]]:
    """Return the trials with a status, each with its values."""
    trials = () if compared.search is None else compared.search.trials
    found = sorted((t for t in trials if t.status == status), key=lambda trial: trial.number)
    return [(t, [element("code", brief(v)) for v in t.values.values()]) for t in found]


def _table(
    compared: Comparison, rows: Sequence[Sequence[object]], others: Sequence[str]
) -> Html | None:
    if compared.search is None or not rows:
        return None
    keys = short_keys([*compared.search.trials[0].values])
    return table(["trial", *keys, *others], rows)


def _text(compared: Comparison, trial: TrialResult) -> str:
    if compared.search is None or trial.figure is None:
        return ""
    return figure_text(compared.search.metric, trial.figure)
