"""The sections of a report about the run and its model.

How the run went, its config and environment, what went wrong; the curves of losses, metrics and
learning rates; the graph of the model, its costs and its weights.
"""

from __future__ import annotations

import base64
import functools
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tinynet.board.graphs.graph import duration, size
from tinynet.board.graphs.timing import BETWEEN, StepTime
from tinynet.core.printing import quantity
from tinynet.dtypes import Array
from tinynet.train.config.document import dotted
from tinynet.train.config.values import DEFAULT, Value, tables_of
from tinynet.train.diagnose.explanation import fatal_reports, post_mortems, status_with_cause
from tinynet.train.incidents.guard import read_report
from tinynet.train.metrics.criterion import SELECTED_ON_TEST, SETS
from tinynet.train.observe.progress import duration_text, figure_text
from tinynet.train.show.page import Html, cards, element, folded, joined, table
from tinynet.train.show.plots import GREY, Curve, Scale, lines
from tinynet.train.show.run_data import RunData
from tinynet.train.store.storage import brief

# ---- overview -----------------------------------------------------------------------------------
# How the run went, in a few numbers.


def overview(run: RunData) -> Html:
    """Return the status, the last and the best figures, and the size of the model."""
    status = element("p", status_with_cause(run.record), class_=_tone(run.record))
    started = str(run.record.get("started", ""))[:19].replace("T", " ")
    lines = [status, element("p", f"Started {started}.", class_="soft")] if started else [status]
    for report in fatal_reports(run.folder, run.record):
        lines.append(element("pre", "\n".join(report.lines()), class_="text"))
    shown: dict[str, str] = {}
    if run.selection == "validation":
        shown |= _named("validation", run.figures_on("validation"))
        shown |= _named("test", run.figures_on("test"), " (last weights)")
        shown |= _named("test", run.best_test, " (best weights)")
    else:
        shown |= _named("test", run.figures_on("test"))
    best = run.record.get("best") or {}
    if best.get("epoch") and run.rows:
        shown["best after epoch"] = f"{best['epoch']} of {run.rows[-1].get('epoch')}"
    if run.model is not None:
        shown["parameters"] = f"{sum(array.size for array in run.model.weights.values()):,}"
        sets = run.model.parts.sets.items()
        shown |= {f"{name} examples": f"{len(examples):,}" for name, examples in sets}
    if run.selection == "test" and best.get("epoch"):
        lines.append(element("p", f"Best weights {SELECTED_ON_TEST}.", class_="soft"))
    return joined([*lines, cards(shown | _cost(run.record.get("spent") or {}))])


def _cost(spent: Mapping[str, Any]) -> dict[str, str]:
    """Return what the run has cost, if it has ended."""
    times = {"duration": spent.get("seconds"), "processor time": spent.get("cpu_seconds")}
    found = {name: duration_text(value) for name, value in times.items() if value is not None}
    peak = spent.get("peak_bytes")
    return found | ({"peak memory": size(peak)} if peak else {})


def _named(part: str, figures: Mapping[str, float], weights: str = "") -> dict[str, str]:
    """Return figures as texts by name, losses last."""
    ordered = sorted(figures.items(), key=lambda item: item[0].startswith("loss"))
    return {f"{part} {name}{weights}": figure_text(name, value) for name, value in ordered}


def _tone(record: Mapping[str, Any]) -> str | None:
    return {"finished": "good", "failed": "bad"}.get(str(record.get("status")))


# ---- config -------------------------------------------------------------------------------------
# The config, with the origin of each value.


def config(run: RunData) -> Html:
    """Return a table per section: what was chosen, and the defaults below it."""
    shown = []
    for name, rows in tables_of(run.config).items():
        chosen = {key: value for key, value in rows.items() if value.origin != DEFAULT}
        defaults = {key: value for key, value in rows.items() if value.origin == DEFAULT}
        shown.append(element("h3", dotted(name)))
        if chosen:
            shown.append(_config_table(chosen))
        if defaults:
            shown.append(folded(quantity(len(defaults), "default"), _config_table(defaults)))
    return element("div", *shown, class_="config")


def _config_table(values: Mapping[str, Value]) -> Html:
    rows = [
        (element("code", dotted([key])), element("code", value.text), value.origin)
        for key, value in values.items()
    ]
    return table(["key", "value", "origin"], rows)


# ---- environment --------------------------------------------------------------------------------
# What ran where: command, versions, platform, commit.


def environment(run: RunData) -> Html:
    """Return a table of the surroundings of the run, and of each time that it was resumed."""
    resumed = run.record.get("resumed", [])
    shown = [_environment_table(run.record)]
    for number, entry in enumerate(resumed, 1):
        times = f" ({number} of {len(resumed)})" if len(resumed) > 1 else ""
        title = f"Resumed at step {entry.get('step')}{times}"
        shown.append(folded(title, _environment_table(entry)))
    return joined(shown)


def _environment_table(record: Any) -> Html:
    git = record.get("git") or {}
    commit = str(git.get("commit", ""))
    if git.get("dirty"):
        commit += ", with changes (changes.diff)"
    typed = record.get("typed") or shlex.join(map(str, record.get("command", [])))
    rows = {
        "command": element("code", typed, class_="long"),
        "folder": element("code", record.get("working_directory", ""), class_="long"),
        "started": str(record.get("started", "")),
        "seed": record.get("seed", ""),
        **{name: version for name, version in record.get("versions", {}).items()},
        "platform": record.get("platform", ""),
        "commit": commit,
    }
    return table(["", ""], [(name, value) for name, value in rows.items() if value != ""])


# ---- warnings -----------------------------------------------------------------------------------
# What went wrong, or may have: errors, skipped steps, damage, warnings.


_MOST_REPORTS = 20


def warnings(run: RunData) -> Html:
    """Return a list of all that a reader should know before trusting the figures."""
    record = run.record
    found = [*map(str, record.get("warnings", []))]
    if record.get("error"):
        found.insert(0, str(record["error"]))
    found += [brief(read_report(place)) for place in post_mortems(run.folder)[:_MOST_REPORTS]]
    found += run.damage.values()
    if run.missing:
        found.append(f"The model cannot be tried, so its answers are missing. {run.missing}")
    found += [
        f"compiled: {reason}" for reason in (record.get("compiled") or {}).get("eager_because", [])
    ]
    if not found:
        return element("p", "None.", class_="soft")
    return joined(element("pre", text, class_="text") for text in found)


_POINTS = 300  # of a curve over steps; more are averaged
_STEEP = 30.0  # the ratio of values from which a logarithmic scale is easier to read
_MOST_CURVES = 12  # plots


def curves(run: RunData) -> Html | None:
    """Return a plot for each loss and metric, of all data sets together; and for the rates."""
    names = dict.fromkeys(key for row in run.rows for key in row if key not in ("epoch", "step"))
    figures = [*dict.fromkeys(map(_short, names))]
    figures = figures or [*dict.fromkeys(map(_short, run.logged.scalars))]
    figures.sort(key=lambda name: (not name.startswith("loss"), name.startswith("lr")))
    plots = [_plot(run, name) for name in figures[:_MOST_CURVES]]
    shown = [*filter(None, plots)]
    more = len(figures) - _MOST_CURVES
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


# ---- graph --------------------------------------------------------------------------------------
# The graph of the model.


def graph(run: RunData) -> Html | None:
    """Return the graphs of the forward pass and of the other parts of a step."""
    if run.model is None or run.model.graph is None:
        return None
    graphs = run.model.graph
    first = "forward" if "forward" in graphs.graphs else next(iter(graphs.graphs), None)
    if first is None:
        return None
    text = "The operations of one training step on the way forward; boxes are modules."
    shown = [element("p", text, class_="soft"), _picture(graphs.svg(first), first)]
    for name in graphs.graphs:
        if name not in (first, "step"):
            shown.append(folded(name, _picture(graphs.svg(name), name)))
    return joined(shown)


def _picture(svg: str, name: str) -> Html:
    """Return the picture as an image of its own, whose styles and names stay inside."""
    data = base64.b64encode(svg.encode()).decode()
    image = element("img", alt=f"graph: {name}", src=f"data:image/svg+xml;base64,{data}")
    return element("div", Html(image.removesuffix("</img>")), class_="graph")


# ---- costs --------------------------------------------------------------------------------------
# Time and memory per module.


_MOST_WEIGHTS = 25


def costs(run: RunData) -> Html | None:
    """Return a table of the modules, the slowest first."""
    modules = run.record.get("costs")
    if not modules:
        return None
    times = [sum(_times(one)) for one in modules]
    step = StepTime(**run.record["step_time"]) if "step_time" in run.record else None
    whole = (step.sum if step else sum(times)) or 1
    ordered = sorted(modules, key=lambda one: -sum(_times(one)))
    rows = [
        (
            element("span", f"{one['module'] or '(the model)'}", class_="mono"),
            one["type"],
            _share(sum(_times(one)), whole),
            *map(duration, _times(one)),
            size(one["memory"]),
        )
        for one in ordered[:_MOST_WEIGHTS]
    ]
    if left := ordered[_MOST_WEIGHTS:]:
        more = sum(sum(_times(one)) for one in left)
        rows.append((f"{len(left)} more", "", _share(more, whole), *[""] * 4))
    if step:
        rows.append((f"({BETWEEN})", "", _share(step.between, whole), *[""] * 4))
    header = ["module", "type", "time", "forward", "backward", "update", "memory"]
    text = element("p", _text(step, "compiled" in run.record), class_="soft")
    return joined([text, table(header, rows, numbers=2)])


def _text(step: StepTime | None, is_compiled: bool) -> str:
    if step is None:
        times = "A training step that was recorded before the run began."
    else:
        waiting = ", with waiting for a processor" if step.waited else ""
        times = (
            f"A training step takes {duration(step.sum)}: its operations and Python's work between "
            f"them ({step.medians}, taken by a copy of the model before the run began; by the "
            f"clock, a step took {duration(step.whole)}{waiting})."
        )
    eager = " It ran eagerly: the compiled steps of the run are faster." if is_compiled else ""
    return f"{times}{eager} Memory counts the results of the forward pass."


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def _times(one: dict[str, int]) -> tuple[int, int, int]:
    return one["forward"], one["backward"], one["update"]


# ---- weights ------------------------------------------------------------------------------------
# Histograms of the weights and of their gradients.


_BINS = 28
_OPEN = 24  # rows that are visible at once


def weights(run: RunData) -> Html | None:
    """Return a table with a row per parameter."""
    if run.model is None or not run.model.weights:
        return None
    gradients = run.model.gradients
    header = ["parameter", "shape", "weights", "from", "to", "gradients", "typical", "largest"]
    rows = [_row(name, array, gradients.get(name)) for name, array in run.model.weights.items()]
    text = (
        "The last weights, and their gradients for the first batch of the training set: the root "
        "of the mean square, and the largest magnitude."
    )
    first = table(header, rows[:_OPEN], numbers=3)
    rest = rows[_OPEN:]
    more = [folded(f"{len(rest)} more", table(header, rest, numbers=3))] if rest else []
    return joined([element("p", text, class_="soft"), first, *more])


def _row(name: str, array: Array, gradient: Array | None) -> list[object]:
    values = _finite(array)
    low, high = (f"{values.min():.3g}", f"{values.max():.3g}") if values.size else ("", "")
    row: list[object] = [
        element("span", name, class_="mono"),
        "×".join(map(str, array.shape)) or "1",
        sparkline(values),
        low,
        high,
    ]
    if gradient is None or not gradient.size:
        return [*row, element("span", "none", class_="soft"), "", ""]
    slopes = _finite(gradient)
    if not slopes.size:
        return [*row, element("span", "not finite", class_="bad"), "", ""]
    typical = float(np.sqrt(np.mean(np.square(slopes))))
    return [*row, sparkline(slopes, "gradient"), f"{typical:.2g}", f"{np.abs(slopes).max():.2g}"]


def _finite(array: Array) -> Array:
    flat: Array = np.abs(array).ravel() if array.dtype.kind == "c" else array.ravel()
    return flat[np.isfinite(flat)].astype(np.float64)


def sparkline(values: Array, kind: str = "") -> Html:
    """Return a histogram the size of a word."""
    if not values.size:
        return Html("")
    counts, _ = np.histogram(values, bins=_BINS)
    heights = 24 * counts / counts.max()
    bars = "".join(
        f"M{4 * i} 24v{-height:.1f}h3v{height:.1f}z" for i, height in enumerate(heights) if height
    )
    path = element("path", d=bars)
    name = f"spark {kind}".strip()
    box = f"0 0 {4 * _BINS} 24"
    return element("svg", path, viewBox=box, class_=name, preserveAspectRatio="none", role="img")
