"""The sections of a comparison."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from typing import Any

from tinynet.errors import quantity
from tinynet.train.config.grid import brief
from tinynet.train.html_report.comparison import search
from tinynet.train.html_report.comparison.compared import Comparison
from tinynet.train.html_report.markup import Html, cards, element, joined, table
from tinynet.train.html_report.page import Section
from tinynet.train.html_report.plots import Axis, Curve, lines, parallel
from tinynet.train.html_report.run_data import RunData
from tinynet.train.report.explanation import status_of
from tinynet.train.report.progress import figure_text

_MOST_AXES = 7
_MOST_CURVES = 7
_MOST_LABELS = 5
_MOST_RUNS = 200


def best(compared: Comparison) -> Html | None:
    """Return the best run: its figures, and the values that the others do not have."""
    if not compared.figures:
        return None
    run, number = compared.runs[compared.order[0]], compared.order[0]
    own = compared.figures_of(number)
    if compared.figures[0] not in own:
        return None
    figures = {f"test {name}": own.get(name) for name in compared.figures}
    shown = {k: figure_text(k, v) for k, v in figures.items() if v is not None}
    own_values = compared.values.items()
    shown |= {compared.labels[key]: brief(values[number]) for key, values in own_values}
    text = f"Of {quantity(len(compared.runs), 'run')}, by test {compared.figures[0]}: "
    line = element("p", text, _name(compared, run))
    return joined([line, cards(shown)])


def runs(compared: Comparison) -> Html:
    """Return a table of the runs, the best first."""
    keys, figures = compared.values, compared.figures
    header = [*[compared.labels[key] for key in keys], *figures, "best epoch", "status", "run"]
    rows = []
    for number in compared.order[:_MOST_RUNS]:
        run = compared.runs[number]
        own = [compared.figures_of(number).get(name) for name in figures]
        shown = ["" if v is None else figure_text(n, v) for n, v in zip(figures, own, strict=True)]
        epoch = (run.record.get("best") or {}).get("epoch") or ""
        values = [element("code", brief(keys[key][number])) for key in keys]
        rows.append([*values, *shown, epoch, status_of(run.record), _name(compared, run)])
    left = len(compared.runs) - _MOST_RUNS
    more = [element("p", f"and {left} more", class_="soft")] if left > 0 else []
    return joined([table(header, rows), *more])


def coordinates(compared: Comparison) -> Html | None:
    """Return parallel coordinates of the values and the figure that decides."""
    if not compared.figures:
        return None
    ranked = [n for n in compared.order if compared.figures[0] in compared.figures_of(n)]
    if len(ranked) < 2 or not compared.values:
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
    plot = parallel(f"test {figure}", axes, [*zip(*places, strict=True)])
    return element("div", plot, class_="plots large")


def curves(compared: Comparison) -> Html | None:
    """Return the curves of the best runs: the figure that decides, and the loss."""
    names = [*dict.fromkeys([*compared.figures[:1], "loss"])]
    plots = [_curves(compared, name) for name in names]
    shown = [*filter(None, plots)]
    return element("div", *shown, class_="plots") if shown else None


def _curves(compared: Comparison, name: str) -> Html | None:
    found = []
    for colour, number in enumerate(compared.order[:_MOST_CURVES]):
        rows = compared.runs[number].rows
        points = [(float(row["epoch"]), row.get(f"test/{name}")) for row in rows if "epoch" in row]
        known = [(x, y) for x, y in points if isinstance(y, float) and math.isfinite(y)]
        if known:
            x, y = zip(*known, strict=True)
            found.append(Curve(_short(compared, number), x, y, colour))
    return lines(f"test {name}", found, "epoch") if found else None


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
    return element("a", run.name, href=address) if address else joined([run.name])


def _short(compared: Comparison, number: int) -> str:
    """Return what a run has and others do not: ``lr=0.01 seed=1``."""
    parts = [
        f"{compared.labels[k]}={brief(values[number])}" for k, values in compared.values.items()
    ]
    return " ".join(parts[:4])[:60] or compared.runs[number].name


# ---- axes ----


def _axis(name: str, texts: Sequence[str]) -> tuple[Axis, list[float]]:
    """Return the axis of a key, and the places of the values on it."""
    parsed = [_parsed(text) for text in texts]
    numbers = [v for v in parsed if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < len(texts):
        return _categories(name, texts)
    steep = min(numbers) > 0 and max(numbers) / min(numbers) >= 20
    values = [math.log(v) if steep else float(v) for v in numbers]
    places = _scaled(values)
    ticks = sorted({*zip(places, [f"{v:g}" for v in numbers], strict=True)})
    return Axis(name, ticks if len(ticks) <= _MOST_LABELS else [ticks[0], ticks[-1]]), places


def _categories(name: str, texts: Sequence[str]) -> tuple[Axis, list[float]]:
    known = sorted({*texts})
    place = {text: i / max(1, len(known) - 1) for i, text in enumerate(known)}
    ticks = [(where, text.strip('"')[:16]) for text, where in place.items()]
    return Axis(name, ticks[:: max(1, len(ticks) // 8)]), [place[text] for text in texts]


def _scaled(values: Sequence[float]) -> list[float]:
    """Return values scaled to the range from 0 to 1."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]


def _parsed(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


COMPARISON: tuple[Section[Comparison], ...] = (
    Section("Best run", best),
    Section("Search", search.history),
    Section("Importance of the values", search.importance),
    Section("Runs", runs),
    Section("Pruned trials", search.pruned),
    Section("Failed trials", search.failed),
    Section("Parallel coordinates", coordinates),
    Section("Curves", curves),
    Section("Warnings", warnings),
)
