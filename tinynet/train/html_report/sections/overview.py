"""How the run went, in a few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinynet.board.graphs.formats import size
from tinynet.train.html_report.markup import Html, cards, element, joined
from tinynet.train.html_report.run_data import RunData
from tinynet.train.report.explanation import status_with_cause
from tinynet.train.report.progress import duration_text, figure_text


def overview(run: RunData) -> Html:
    """Return the status, the last and the best figures, and the size of the model."""
    status = element("p", status_with_cause(run.record), class_=_tone(run.record))
    started = str(run.record.get("started", ""))[:19].replace("T", " ")
    lines = [status, element("p", f"Started {started}.", class_="soft")] if started else [status]
    figures = sorted(run.test_figures.items(), key=lambda item: item[0].startswith("loss"))
    shown = {f"test {name}": figure_text(name, value) for name, value in figures}
    best = run.record.get("best") or {}
    if best.get("epoch") and run.rows:
        shown["best after epoch"] = f"{best['epoch']} of {run.rows[-1].get('epoch')}"
    if run.model is not None:
        shown["parameters"] = f"{sum(array.size for array in run.model.weights.values()):,}"
        shown["training examples"] = f"{len(run.model.parts.train_set):,}"
        shown["test examples"] = f"{len(run.model.parts.test_set):,}"
    return joined([*lines, cards(shown | _cost(run.record.get("spent") or {}))])


def _cost(spent: Mapping[str, Any]) -> dict[str, str]:
    """Return what the run has cost; older versions did not record it."""
    times = {"duration": spent.get("seconds"), "processor time": spent.get("cpu_seconds")}
    found = {name: duration_text(value) for name, value in times.items() if value is not None}
    peak = spent.get("peak_bytes")
    return found | ({"peak memory": size(peak)} if peak else {})


def _tone(record: Mapping[str, Any]) -> str | None:
    return {"finished": "good", "failed": "bad"}.get(str(record.get("status")))
