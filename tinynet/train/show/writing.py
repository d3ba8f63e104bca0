"""Writing the report of a run into its folder: all sections, in their order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinynet.base import invocation
from tinynet.board import Recording
from tinynet.board.graphs.costs import totals
from tinynet.train.assemble.build import Parts
from tinynet.train.base.files import write_text
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.show import plots
from tinynet.train.show.examples import confusion, examples, exhibits, regression
from tinynet.train.show.overview import (
    config,
    costs,
    curves,
    environment,
    graph,
    overview,
    warnings,
    weights,
)
from tinynet.train.show.page import Section, page
from tinynet.train.show.run_data import RunData, examine, read_run
from tinynet.train.store.storage import error_text, newest_checkpoint


def write_report(folder: RunFolder, parts: Parts) -> str:
    """Write ``report.html`` for a run that has just ended; return what went wrong, or ``""``.

    A report never fails a run.

    Args:
        folder: the run folder, with all its other files.
        parts: the objects of the run.
    """
    return attempt(folder.report, lambda: report_of(folder, parts))


def missing() -> str:
    """Return the message about matplotlib, if it is not installed."""
    return f"the report needs matplotlib: {invocation.installation('report')}"


def attempt(path: Path, text: Callable[[], str]) -> str:
    """Write a page; return what went wrong, or ``""``."""
    if not plots.is_available():
        return missing()
    try:
        write_text(path, text())
    except Exception as error:
        return f"{path.name} is not written. {type(error).__name__}: {error}"
    return ""


def report_of(folder: RunFolder, parts: Parts | None, missing: str = "") -> str:
    """Return the report of a run.

    Args:
        folder: the run folder.
        parts: the objects of its config; None if they cannot be built.
        missing: why they cannot be built.

    Raises:
        TrainError: if a file of the run is damaged.
    """
    found = newest_checkpoint(folder) if parts is not None else None
    if found is None or parts is None:
        return _page(read_run(folder.path, None, missing))
    try:
        model = examine(parts, found[1])
    except Exception as error:  # in code of the user's, such as what ended the run
        return _page(read_run(folder.path, None, error_text(error)))
    return _page(read_run(folder.path, model))


def _page(run: RunData) -> str:
    return page(run.name, run, SECTIONS)


def costs_of(recording: Recording) -> dict[str, Any]:
    """Return the time and memory of a recorded step for ``run.json``: of each module, of all."""
    by_module = totals(recording.costs, by=lambda cost: cost.module)
    modules = [
        {
            "module": name,
            "type": recording.classes.get(name, ""),
            "forward": total.forward,
            "backward": total.backward,
            "update": total.update,
            "memory": total.memory,
            "flops": total.flops,
        }
        for name, total in by_module.items()
    ]
    step = recording.step_time
    return {"costs": modules, **({} if step is None else {"step_time": step._asdict()})}


SECTIONS = (
    Section("Overview", overview),
    Section("Curves", curves),
    Section("Confusion matrix", confusion),
    Section("Predictions", regression),
    Section("Examples", examples),
    Section("Exhibits", exhibits),
    Section("Weights and gradients", weights),
    Section("Graph", graph),
    Section("Time and memory", costs),
    Section("Config", config),
    Section("Environment", environment),
    Section("Warnings", warnings),
)
