"""The sections of a report that compares several runs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from tinynet.core.printing import quantity
from tinynet.train.base.terminal import brief, distinct
from tinynet.train.config.document import toml_or_text
from tinynet.train.diagnose.explanation import status_with_cause
from tinynet.train.metrics.criterion import SELECTED_ON_TEST
from tinynet.train.observe.progress import figure_text
from tinynet.train.show.page import Html, Section, bar, cards, element, joined, page, table
from tinynet.train.show.plots import GREY, Axis, Curve, Scale, lines, parallel
from tinynet.train.show.run_data import RunData, read_run
from tinynet.train.study.compared import FOLD, Comparison, curves, over_folds, over_seeds
from tinynet.train.study.search import Results, TrialResult
from tinynet.train.study.study import LEAST, short_keys

# ---- search -------------------------------------------------------------------------------------
# The sections about a search.


_STATUSES = ("finished", "pruned", "failed", "interrupted")


def history(compared: Comparison) -> Html | None:
    """Return the counts of the trials, and their figures in the order in which they began."""
    results = compared.search
    if results is None:
        return None
    counts = [f"{count} {status}" for status in _STATUSES if (count := results.count(status))]
    how = f"Sampler {results.sampler} with seed {results.seed}, pruner {results.pruner}."
    value = "the value of a trial comes from its best evaluation"
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


# ---- sections -----------------------------------------------------------------------------------


_LONGEST, _LABEL = 32, 20  # characters of a folder's name, and of a label
_MOST_AXES = 7
_MOST_LABELS = 5
_MOST_RUNS = 200


def best(compared: Comparison) -> Html | None:
    """Return the best run: its figures, and the values that the others do not have."""
    if not compared.figures or {*compared.values} == {FOLD}:  # no fold is better
        return None
    run, number = compared.runs[compared.order[0]], compared.order[0]
    own = compared.figures_of(number)
    if compared.figures[0] not in own:
        return None
    figures = {f"{run.selection} {name}": own.get(name) for name in compared.figures}
    weights = "best" if compared.search else "last"
    tested = compared.tests_of(number).items()
    figures |= {f"test {name} ({weights} weights)": value for name, value in tested}
    shown = {k: figure_text(k, v) for k, v in figures.items() if v is not None}
    values = compared.shown.items()
    shown |= {compared.labels[key]: texts[number] for key, texts in values if texts[number]}
    count = quantity(len(compared.runs), "run")
    text = f"Of {count}, by {compared.selection} {compared.figures[0]}: "
    line = element("p", text, _name(compared, run))
    warned = [element("p", f"{SELECTED_ON_TEST}.".capitalize(), class_="soft")]
    return joined([line, *(warned if "test" in compared.selection else []), cards(shown)])


def runs(compared: Comparison) -> Html:
    """Return a table of the runs, the best first."""
    keys, figures = compared.values, compared.figures
    named = [f"{compared.selection} {name}" for name in figures]
    if is_tested := any(compared.tests_of(number) for number in compared.order):
        named.append(f"test {figures[0]}")
    header = [*[compared.labels[key] for key in keys], *named, "best epoch", "status", "run"]
    rows = []
    for number in compared.order[:_MOST_RUNS]:
        run = compared.runs[number]
        own = [compared.figures_of(number).get(name) for name in figures]
        own += [compared.tests_of(number).get(figures[0])] if is_tested else []
        pairs = zip(named, own, strict=True)
        shown = ["" if v is None else figure_text(n, v) for n, v in pairs]
        epoch = (run.record.get("best") or {}).get("epoch") or ""
        values = [compared.value(key, number) for key in keys]
        status = element("span", status_with_cause(run.record), class_="note")
        rows.append([*values, *shown, epoch, status, _name(compared, run)])
    left = len(compared.runs) - _MOST_RUNS
    more = [element("p", f"and {left} more", class_="soft")] if left > 0 else []
    return joined([table(header, rows, sortable=True), *more])


def coordinates(compared: Comparison) -> Html | None:
    """Return parallel coordinates of the values and the figure that decides."""
    if not compared.figures:
        return None
    ranked = [n for n in compared.order if compared.figures[0] in compared.figures_of(n)]
    if len(ranked) < 2 or {*compared.values} <= {FOLD}:
        return None
    axes, places = [], []
    for key in [*compared.values][: _MOST_AXES - 1]:
        axis, own = _axis(compared.labels[key], [compared.values[key][n] for n in ranked])
        axes.append(axis)
        places.append(own)
    figure = compared.figures[0]
    values = [compared.figures_of(n)[figure] for n in ranked]
    low, high = min(values), max(values)
    ticks = [(0.0, figure_text(figure, low)), (1.0, figure_text(figure, high))]
    axes.append(Axis(figure, ticks if high > low else ticks[:1]))
    places.append(_scaled(values))
    names = [_values_text(compared, number) for number in ranked]
    title = f"{compared.selection} {figure}"
    return parallel(title, axes, [*zip(*places, strict=True)], names)


def warnings(compared: Comparison) -> Html | None:
    """Return the runs that failed, with their errors, and damaged files."""
    found = []
    for run in compared.runs:
        texts = [str(run.record["error"])] if run.record.get("error") else []
        for text in [*texts, *run.damage.values()]:
            found.append(element("pre", f"{run.name}\n{text}", class_="text"))
    return joined(found) if found else element("p", "None.", class_="soft")


# ---- names ----


def _name(compared: Comparison, run: RunData) -> Html:
    """Return the name of a run, as a link to its report."""
    address = compared.link(run)
    group, _, date = run.name.rpartition("/")
    name = f"{group[: _LONGEST - 1]}…/{date}" if len(group) > _LONGEST else run.name
    return element("a", name, href=address) if address else joined([name])


def _values_text(compared: Comparison, number: int) -> str:
    """Return the values of a run and its figure, which it shows when it is pointed at."""
    values = compared.shown.items()
    parts = [f"{compared.labels[key]}={texts[number]}" for key, texts in values if texts[number]]
    name = compared.figures[0]
    figure = figure_text(name, compared.figures_of(number)[name])
    return f"{' '.join(parts) or compared.runs[number].name}: {name} {figure}"


# ---- axes ----


def _axis(name: str, texts: Sequence[str]) -> tuple[Axis, list[float]]:
    """Return the axis of a key, and the places of the values on it."""
    parsed = [*map(toml_or_text, texts)]
    numbers = [v for v in parsed if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < len(texts):
        return _categories(name, texts)
    steep = min(numbers) > 0 and max(numbers) / min(numbers) >= 20
    values = [math.log(v) if steep else float(v) for v in numbers]
    places = _scaled(values)
    ticks = sorted({*zip(places, [f"{v:.4g}" for v in numbers], strict=True)})
    return Axis(name, ticks if len(ticks) <= _MOST_LABELS else [ticks[0], ticks[-1]]), places


def _categories(name: str, texts: Sequence[str]) -> tuple[Axis, list[float]]:
    known = sorted({*texts})
    place = {text: i / max(1, len(known) - 1) for i, text in enumerate(known)}
    labels = distinct([text.strip('"') for text in known], _LABEL)
    ticks = [*zip(place.values(), labels, strict=True)]
    return Axis(name, ticks[:: max(1, len(ticks) // 8)]), [place[text] for text in texts]


def _scaled(values: Sequence[float]) -> list[float]:
    """Return values scaled to the range from 0 to 1."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]


COMPARISON: tuple[Section[Comparison], ...] = (
    Section("Cross-validation", over_folds),
    Section("Best run", best),
    Section("Search", history),
    Section("Importance of the values", importance),
    Section("Over the seeds", over_seeds),
    Section("Runs", runs),
    Section("Pruned trials", pruned),
    Section("Failed trials", failed),
    Section("Curves", curves),
    Section("Parallel coordinates", coordinates),
    Section("Warnings", warnings),
)


# ---- writing ------------------------------------------------------------------------------------
# Writing the page that compares several runs.


def comparison_of(folders: Iterable[Path], path: Path, search: Results | None = None) -> str:
    """Return the page that compares runs.

    Args:
        folders: their folders.
        path: where the page will be, for links to the reports of the runs.
        search: the results of the search that made the runs, if one did.

    Raises:
        TrainError: if a folder is not a run folder, or a file in it is damaged.
    """
    compared = Comparison([read_run(folder) for folder in folders], path, search)
    name = f"{path.absolute().parent.name}: {quantity(len(compared.runs), 'run')}"
    return page(name, compared, COMPARISON)
