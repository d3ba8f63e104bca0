"""Several runs side by side: what differs between their configs, and which is the best.

Runs that differ only in their seeds or folds have means and deviations.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tinynet.train.base.terminal import brief, distinct
from tinynet.train.config.document import dotted
from tinynet.train.config.values import DEFAULT, Value
from tinynet.train.metrics.criterion import Criterion, criterion_of, recorded_criterion
from tinynet.train.observe.progress import figure_text
from tinynet.train.show.overview import parts_of, set_name, style_of
from tinynet.train.show.page import Html, element, joined, table
from tinynet.train.show.plots import COLOURS, Curve, Scale, legend, lines
from tinynet.train.show.run_data import RunData, finite
from tinynet.train.study.search import Results
from tinynet.train.study.study import short_keys

_NOT_COMPARED = ("run.name", "run.out")


@dataclass(frozen=True)
class Comparison:
    """Several runs, and where the page about them will be."""

    runs: Sequence[RunData]
    page: Path
    search: Results | None = None
    """The results of the search that made the runs; its figures come from the best evaluations.
    """

    @functools.cached_property
    def values(self) -> dict[str, list[str]]:
        """The keys of the configs that differ between the runs, with the value of each run.

        A key with only defaults differs because of another, such as the type of an optimizer.
        """
        configs = [_values(run) for run in self.runs]
        chosen = [[k for k, value in c.items() if value.origin != DEFAULT] for c in configs]
        keys = dict.fromkeys(itertools.chain(*chosen))
        left_out = Value("", DEFAULT)
        found = {key: [config.get(key, left_out).text for config in configs] for key in keys}
        differ = {key: values for key, values in found.items() if len({*values}) > 1}
        return {key: values for key, values in differ.items() if key not in _NOT_COMPARED}

    @functools.cached_property
    def shown(self) -> dict[str, list[str]]:
        """These values in a few characters each."""
        return {key: distinct(values) for key, values in self.values.items()}

    def value(self, key: str, number: int) -> Html:
        """Return the value of a run for a table; a long one opens when it is clicked."""
        whole, short = brief(self.values[key][number]), self.shown[key][number]
        if short == whole:
            return element("code", whole)
        return element("details", element("summary", element("code", short)), whole)

    @functools.cached_property
    def labels(self) -> dict[str, str]:
        """Short names of these keys: their last parts, where these are unambiguous."""
        return dict(zip(self.values, short_keys([*self.values]), strict=True))

    @functools.cached_property
    def _names(self) -> list[str]:
        """The names of the figures that select; losses last."""
        names = dict.fromkeys(name for n in range(len(self.runs)) for name in self.figures_of(n))
        return sorted(names, key=lambda name: name.startswith("loss"))

    @functools.cached_property
    def criterion(self) -> Criterion:
        """What decides between the runs: what decided between the evaluations of each."""
        if self.search is not None:
            return self.search.criterion
        for criterion in (recorded_criterion(run.record) for run in self.runs):
            if criterion is not None and criterion.figure in self._names:
                return criterion
        chosen = self.runs[0].config.get(("evaluation", "monitor"))
        monitor = chosen.value if chosen and chosen.value in self._names else ""
        return criterion_of(self._names, monitor=monitor)

    @functools.cached_property
    def figures(self) -> list[str]:
        """The names of the figures, that which decides first."""
        return sorted(self._names, key=lambda name: name != self.criterion.figure)

    def figures_of(self, number: int) -> dict[str, float]:
        """Return the figures of a run on the set that selects: of the last evaluation, or in a
        search of the best."""
        run = self.runs[number]
        best = run.record.get("best") if self.search else None
        if not best or not best.get("epoch"):
            return run.figures_on(run.selection)
        return finite({k: v for k, v in best.items() if k != "epoch"})

    def tests_of(self, number: int) -> dict[str, float]:
        """Return the figures of the test set, if the run selected on another: with the last
        weights, or in a search with the best."""
        run = self.runs[number]
        if run.selection == "test":
            return {}
        return run.best_test if self.search else run.figures_on("test")

    @functools.cached_property
    def selection(self) -> str:
        """The set on which the runs are compared; both names if they differ."""
        return " or ".join(sorted({run.selection for run in self.runs}, reverse=True))

    @functools.cached_property
    def order(self) -> list[int]:
        """The numbers of the runs, the best first; those without the figure last."""
        if self.search is not None:
            places = {trial.folder: place for place, trial in enumerate(self.search.trials)}
            names = [run.name for run in self.runs]
            return sorted(range(len(names)), key=lambda n: places.get(names[n], len(places)))

        def place(number: int) -> tuple[bool, float]:
            return self.criterion.place(self.figures_of(number).get(self.criterion.figure))

        return sorted(range(len(self.runs)), key=place)

    def link(self, run: RunData) -> str:
        """Return the address of a run's report, relative to this page; empty if it has none."""
        if not run.folder.report.is_file():
            return ""
        return quote(Path(os.path.relpath(run.folder.report, self.page.parent)).as_posix())


def _values(run: RunData) -> dict[str, Value]:
    """Return the values of a config by dotted key."""
    return {dotted(path): value for path, value in run.config.items()}


FOLD = "data.fold"
"""The key of a fold, which `tinynet cross-validate` varies."""


@dataclass(frozen=True)
class Group:
    """Runs whose configs differ only in seeds, or in the fold of a cross-validation."""

    numbers: Sequence[int]
    """Their numbers in the comparison, the best first."""

    keys: Sequence[str]
    """The keys whose values other groups do not share."""

    name: str


def groups_of(compared: Comparison) -> list[Group]:
    """Return the groups of a comparison, that with the best mean first."""
    keys = [key for key in compared.values if not _repeats(key)]
    found: dict[tuple[str, ...], list[int]] = {}
    for number in compared.order:
        place = tuple(compared.values[key][number] for key in keys)
        found.setdefault(place, []).append(number)
    groups = []
    for numbers in found.values():
        texts = {compared.labels[key]: compared.shown[key][numbers[0]] for key in keys}
        parts = [f"{label}={text}" for label, text in texts.items() if text]
        own = compared.runs[numbers[0]].name if len(numbers) == 1 else "all runs"
        groups.append(Group(numbers, keys, " ".join(parts) or own))
    return sorted(groups, key=lambda group: _place(compared, group))


def _repeats(key: str) -> bool:
    """Return whether runs with different values of a key repeat each other."""
    return key == FOLD or key.rpartition(".")[2] == "seed"


def _place(compared: Comparison, group: Group) -> tuple[bool, float]:
    known = _known(compared, group, compared.criterion.figure)
    return compared.criterion.place(statistics.fmean(known) if known else None)


def _known(compared: Comparison, group: Group, figure: str) -> list[float]:
    found = [compared.figures_of(number).get(figure) for number in group.numbers]
    return [value for value in found if value is not None]


# ---- the table ----


def over_seeds(compared: Comparison) -> Html | None:
    """Return a table of the means over the seeds; None if no runs differ only in these."""
    text = "Means and standard deviations of the runs that differ only in their seeds."
    return None if FOLD in compared.values else _means_table(compared, text, "runs")


def over_folds(compared: Comparison) -> Html | None:
    """Return a table of the means over the folds of a cross-validation."""
    text = "Means and standard deviations over the folds; each is the validation set of one run."
    return _means_table(compared, text, "folds") if FOLD in compared.values else None


def _means_table(compared: Comparison, text: str, repeated: str) -> Html | None:
    groups = groups_of(compared)
    if all(len(group.numbers) == 1 for group in groups) or not compared.figures:
        return None
    keys = groups[0].keys
    named = [f"{compared.selection} {name}" for name in compared.figures]
    header = [*[compared.labels[key] for key in keys], *named, repeated]
    rows = []
    for group in groups:
        values = [compared.value(key, group.numbers[0]) for key in keys]
        figures = [_mean_text(compared, group, name) for name in compared.figures]
        rows.append([*values, *figures, len(group.numbers)])
    return joined([element("p", text, class_="soft"), table(header, rows, sortable=True)])


def _mean_text(compared: Comparison, group: Group, figure: str) -> str:
    known = _known(compared, group, figure)
    if not known:
        return ""
    return mean_text(figure, statistics.fmean(known), deviation_of(known))


def mean_text(figure: str, mean: float, deviation: float | None) -> str:
    """Return a mean, and its deviation if it is known.

    Example:
        >>> mean_text("accuracy", 0.975, 0.01), mean_text("loss", 0.1, None)
        ('97.50 % ± 1.00 %', '0.1')
    """
    text = figure_text(figure, mean)
    return text if deviation is None else f"{text} ± {figure_text(figure, deviation)}"


def deviation_of(values: Sequence[float]) -> float | None:
    """Return the standard deviation; None of fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


# ---- the curves ----


def curves(compared: Comparison) -> Html | None:
    """Return the curves of the best groups: the figures that decide, and the loss; one legend."""
    names = [*dict.fromkeys([*compared.figures, "loss"])]
    groups = [group for group in groups_of(compared) if _has_rows(compared, group)][:COLOURS]
    plots = [*filter(None, (_plot(compared, groups, name) for name in names))]
    if not plots:
        return None
    parts = parts_of([row for run in compared.runs for row in run.rows])
    keys = [Curve(group.name, (), (), colour) for colour, group in enumerate(groups)]
    styles = [Curve(set_name(part), (), (), COLOURS, style=style_of(part, parts)) for part in parts]
    over = "folds" if FOLD in compared.values else "seeds"
    notes = [f"The band around a mean is one standard deviation over the {over}."]
    notes = notes if any(len(group.numbers) > 1 for group in groups) else []
    left_out = len(groups_of(compared)) - len(groups)
    notes += [f"Not shown: {left_out} more."] if left_out else []
    return joined(
        [
            element("p", legend(keys), legend(styles), class_="legend"),
            element("div", *plots, class_="plots"),
            *[element("p", " ".join(notes), class_="soft")] * bool(notes),
        ]
    )


def _has_rows(compared: Comparison, group: Group) -> bool:
    return any(compared.runs[number].rows for number in group.numbers)


def _plot(compared: Comparison, groups: Sequence[Group], name: str) -> Html | None:
    rows = [row for run in compared.runs for row in run.rows]
    parts = parts_of(rows)
    found = []
    for colour, group in enumerate(groups):
        for part in parts:
            runs = [compared.runs[number].rows for number in group.numbers]
            points = _means(runs, f"{part}/{name}")
            if points:
                x, y, spread = zip(*points, strict=True)
                label, style = f"{group.name}, {set_name(part)}", style_of(part, parts)
                band = spread if any(spread) and part != "train" else ()
                found.append(Curve(label, x, y, colour, style=style, spread=band))
    if not found:
        return None
    return lines(name, found, "epoch", y=Scale(text=lambda v: figure_text(name, v, 3)), keys=False)


def _means(
    runs: Iterable[Sequence[Mapping[str, Any]]], name: str
) -> list[tuple[float, float, float]]:
    """Return the epochs in which all runs that went as far have a figure, the mean, the deviation.

    The first run that ends earlier than the others ends the mean, too: a mean over fewer runs
    would jump.
    """
    by_run = [
        {
            float(row["epoch"]): float(value)
            for row in rows
            if isinstance(row.get("epoch"), int)
            and isinstance(value := row.get(name), int | float)
            and math.isfinite(value)
        }
        for rows in runs
    ]
    known = [one for one in by_run if one]
    epochs = sorted(set.intersection(*map(set, known))) if known else []
    found = []
    for epoch in epochs:
        values = [one[epoch] for one in known]
        found.append((epoch, statistics.fmean(values), deviation_of(values) or 0.0))
    return found
