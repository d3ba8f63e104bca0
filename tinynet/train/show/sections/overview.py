"""How the run went, its config, its environment, and what went wrong."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from tinynet.board.graphs.formats import size
from tinynet.core.printing import quantity
from tinynet.train.config.document import dotted
from tinynet.train.config.values import DEFAULT, Value, tables_of
from tinynet.train.diagnose.explanation import fatal_reports, post_mortems, status_with_cause
from tinynet.train.incidents.post_mortem import read_report
from tinynet.train.metrics.criterion import SELECTED_ON_TEST
from tinynet.train.observe.progress import duration_text, figure_text
from tinynet.train.show.page import Html, cards, element, folded, joined, table
from tinynet.train.show.run_data import RunData
from tinynet.train.store.response import brief

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


_MOST = 20


def warnings(run: RunData) -> Html:
    """Return a list of all that a reader should know before trusting the figures."""
    record = run.record
    found = [*map(str, record.get("warnings", []))]
    if record.get("error"):
        found.insert(0, str(record["error"]))
    found += [brief(read_report(place)) for place in post_mortems(run.folder)[:_MOST]]
    found += run.damage.values()
    if run.missing:
        found.append(f"The model cannot be tried, so its answers are missing. {run.missing}")
    found += [
        f"compiled: {reason}" for reason in (record.get("compiled") or {}).get("eager_because", [])
    ]
    if not found:
        return element("p", "None.", class_="soft")
    return joined(element("pre", text, class_="text") for text in found)
