"""The section about the folds of a cross-validation."""

from __future__ import annotations

import statistics
from collections import defaultdict

from tinynet.train.config.grid import brief
from tinynet.train.html_report.comparison.compared import Comparison
from tinynet.train.html_report.markup import Html, element, joined, table
from tinynet.train.report.progress import figure_text

_FOLD = "data.fold"


def folds(compared: Comparison) -> Html | None:
    """Return a table of means and standard deviations over the folds, the best first."""
    if _FOLD not in compared.values or not compared.figures:
        return None
    others = [key for key in compared.values if key != _FOLD]
    groups: defaultdict[tuple[str, ...], list[dict[str, float]]] = defaultdict(list)
    for number in range(len(compared.runs)):
        if figures := compared.figures_of(number):
            groups[tuple(compared.values[key][number] for key in others)].append(figures)
    first = compared.figures[0]

    def place(values: tuple[str, ...]) -> tuple[bool, float]:
        known = [own[first] for own in groups[values] if first in own]
        return compared.criterion.place(statistics.fmean(known) if known else None)

    rows = []
    for values in sorted(groups, key=place):
        shown = [_mean(name, groups[values]) for name in compared.figures]
        codes = [element("code", brief(value)) for value in values]
        rows.append([*codes, *shown, len(groups[values])])
    named = [f"{compared.selection} {name}" for name in compared.figures]
    header = [*(compared.labels[key] for key in others), *named, "folds"]
    text = "Mean and standard deviation over the folds; each is the validation set of one run."
    return joined([element("p", text, class_="soft"), table(header, rows)])


def _mean(name: str, figures: list[dict[str, float]]) -> str:
    """Return the mean of a figure and its deviation: ``95.20 % ± 0.81 %``."""
    known = [own[name] for own in figures if name in own]
    if not known:
        return ""
    mean = figure_text(name, statistics.fmean(known))
    return f"{mean} ± {figure_text(name, statistics.stdev(known))}" if len(known) > 1 else mean
