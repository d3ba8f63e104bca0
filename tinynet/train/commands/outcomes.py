"""What ``sweep`` and ``search`` print and write about their runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tinynet.base.invocation import shown
from tinynet.train.base.run_folder import RunFolder, runs_in
from tinynet.train.show.writing import attempt
from tinynet.train.study.comparison import comparison_of
from tinynet.train.study.run_group import Outcome
from tinynet.train.study.search import Results


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome of a run for ``--json``."""
    return {
        "values": dict(outcome.point.values),
        "status": outcome.status,
        outcome.selected_on: dict(outcome.metrics),
        **({"test": dict(outcome.tests)} if outcome.tests else {}),
        "best": dict(outcome.best),
        "folder": outcome.folder,
        "message": outcome.message,
    }


def write_comparison(folder: Path, results: Results | None = None) -> list[str]:
    """Write the page that compares the runs in a folder; return lines about it for people.

    Args:
        folder: the folder; without runs, there is no page.
        results: the results of the search that made the runs.
    """
    page, runs = RunFolder(folder).report, [*runs_in(folder)]
    if not runs:
        return []
    problem = attempt(page, lambda: comparison_of(runs, page, results))
    return [problem or f"report: {shown(page)}"]
