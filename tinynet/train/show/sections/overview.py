"""How the run went, in a few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinynet.board.graphs.formats import size
from tinynet.train.diagnose.explanation import fatal_reports, status_with_cause
from tinynet.train.metrics.criterion import SELECTED_ON_TEST
from tinynet.train.observe.progress import duration_text, figure_text
from tinynet.train.show.markup import Html, cards, element, joined
from tinynet.train.show.run_data import RunData


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
    """Return what the run has cost; older versions did not record it."""
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
