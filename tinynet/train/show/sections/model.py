"""The graph of the model, its costs and its weights."""

from __future__ import annotations

import base64

import numpy as np

from tinynet.board.graphs.formats import duration, size
from tinynet.board.graphs.timing import BETWEEN, StepTime
from tinynet.dtypes import Array
from tinynet.train.show.page import Html, element, folded, joined, table
from tinynet.train.show.run_data import RunData

# ---- graph --------------------------------------------------------------------------------------
# The graph of the model.


def graph(run: RunData) -> Html | None:
    """Return the graph of the forward pass, and those of the other parts of a step."""
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


_MOST = 25


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
        for one in ordered[:_MOST]
    ]
    if left := ordered[_MOST:]:
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
    return f"{times}{eager} Memory is that of the results of the forward pass."


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
