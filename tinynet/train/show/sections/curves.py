"""Curves of losses, metrics and learning rates."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence

from tinynet.train.metrics.criterion import SETS
from tinynet.train.observe.progress import figure_text
from tinynet.train.show.page import Html, element
from tinynet.train.show.plots import GREY, Curve, Scale, lines
from tinynet.train.show.run_data import RunData

_POINTS = 300  # of a curve over steps; more are averaged
_STEEP = 30.0  # the ratio of values from which a logarithmic scale is easier to read
_MOST = 12  # plots


def curves(run: RunData) -> Html | None:
    """Return a plot for each loss and metric, of all data sets together; and for the rates."""
    names = dict.fromkeys(key for row in run.rows for key in row if key not in ("epoch", "step"))
    figures = [*dict.fromkeys(map(_short, names))]
    figures = figures or [*dict.fromkeys(map(_short, run.logged.scalars))]
    figures.sort(key=lambda name: (not name.startswith("loss"), name.startswith("lr")))
    plots = [_plot(run, name) for name in figures[:_MOST]]
    shown = [*filter(None, plots)]
    more = len(figures) - _MOST
    rest = element("p", f"and {more} more figures, in metrics.jsonl", class_="soft")
    return element("div", *shown, *([rest] if more > 0 else []), class_="plots") if shown else None


def parts_of(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the sets that figures are measured on, in their order: ``["train", "val", "test"]``.

    Example:
        >>> parts_of([{"epoch": 1, "train/loss": 1.0, "lr": 0.1, "val/loss": 1.0}])
        ['train', 'val']
    """
    return [*dict.fromkeys(key.partition("/")[0] for row in rows for key in row if "/" in key)]


def style_of(part: str, parts: Sequence[str]) -> str:
    """Return the style of the lines of a set: solid for that which selects the best weights."""
    others = [one for one in parts if one != "train"]
    if part == "train" and others:
        return "dashed"
    return "dotted" if part in others[1:] else "solid"


def set_name(part: str) -> str:
    """Return the name of a set, from that in its figures.

    Example:
        >>> set_name("val")
        'validation'
    """
    return {short: name for name, short in SETS.items()}.get(part, part)


def _short(tag: str) -> str:
    part, slash, name = tag.partition("/")
    return name if slash and part in SETS.values() else tag


def _plot(run: RunData, name: str) -> Html | None:
    """Return the plot of a figure."""
    per_epoch = _steps_per_epoch(run)
    found = []
    tag = name if name.startswith("lr") else f"train/{name}"
    steps = run.logged.scalars.get(tag, {})
    points = [((step + 1) / per_epoch, value) for step, value in sorted(steps.items())]
    if points:
        is_rate = tag == name
        x, y = zip(*_thinned(points), strict=True)
        found.append(Curve("", x, y) if is_rate else Curve("each step", x, y, GREY, thin=True))
    for number, part in enumerate(parts_of(run.rows)):
        rows = [(row["epoch"], row.get(f"{part}/{name}")) for row in run.rows if "epoch" in row]
        known = [(float(x), y) for x, y in rows if isinstance(y, float) and math.isfinite(y)]
        if known:
            x, y = zip(*known, strict=True)
            found.append(Curve(set_name(part), x, y, number))
    if not found:
        return None
    values = [value for curve in found for value in curve.y]
    steep = name.startswith("loss") and min(values) > 0 and max(values) > _STEEP * min(values)
    text = functools.partial(figure_text, name)
    scale = Scale(log=steep, text=text, ticks=functools.partial(text, digits=3))
    return lines(name, found, "epoch" if per_epoch > 1 else "step", y=scale)


def _steps_per_epoch(run: RunData) -> float:
    """Return the number of steps of an epoch; 1 before the first one has ended."""
    whole = [row for row in run.rows if row.get("epoch") and isinstance(row.get("step"), int)]
    return max(1.0, (whole[-1]["step"] + 1) / whole[-1]["epoch"]) if whole else 1.0


def _thinned(points: Sequence[tuple[float, float]]) -> Iterable[tuple[float, float]]:
    """Return the means of neighbouring points, where there are more than a plot can show."""
    finite = [(x, y) for x, y in points if math.isfinite(y)]
    size = math.ceil(len(finite) / _POINTS) or 1
    for start in range(0, len(finite), size):
        group = finite[start : start + size]
        yield sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group)
