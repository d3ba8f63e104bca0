"""The results of a search: its trials with their figures, as tables and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tinynet.train.base.problems import UsageError
from tinynet.train.base.reading import read_json
from tinynet.train.base.table import brief
from tinynet.train.base.writing import write_json
from tinynet.train.metrics.criterion import Criterion
from tinynet.train.study.grid import short_keys
from tinynet.train.study.run_group import RunGroup, outcome_of
from tinynet.train.study.search import Search, best_figure
from tinynet.train.study.study import Study, TrialRecord

FILE = "results.json"
_ORDER = ("finished", "pruned", "interrupted", "failed")


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial."""

    number: int
    values: Mapping[str, str]
    status: str
    """``"finished"``, ``"pruned"``, ``"failed"`` or ``"interrupted"``."""

    figure: float | None
    """The best evaluation of its run."""

    epoch: int | None
    """The epoch of the best evaluation."""

    epochs: int
    """The epoch of the last evaluation; 0 without one."""

    folder: str
    """The run folder, relative to that of the search; empty if there is none."""

    message: str = ""
    """Why it failed."""


@dataclass(frozen=True)
class Results:
    """The results of a search."""

    metric: str
    higher_is_better: bool
    sampler: str
    pruner: str
    seed: int
    trials: Sequence[TrialResult]
    """The trials, the best first."""

    importances: Mapping[str, float]
    """The share of each key in the figures of the trials; empty if too few have finished."""

    selected_on: str = "test"
    """The data set of the figures: ``"validation"`` or ``"test"``."""

    @property
    def figure_name(self) -> str:
        """The name of the figure, with its data set: ``"validation accuracy"``."""
        return f"{self.selected_on} {self.metric}"

    @property
    def criterion(self) -> Criterion:
        """What decides between the trials."""
        return Criterion(self.metric, self.higher_is_better)

    @property
    def best(self) -> TrialResult | None:
        """The best finished trial."""
        first = self.trials[0] if self.trials else None
        return first if first is not None and first.status == "finished" else None

    def count(self, status: str) -> int:
        """Return the number of trials with a status."""
        return sum(trial.status == status for trial in self.trials)


def results_of(search: Search, study: Study, *, is_complete: bool = True) -> Results:
    """Return the results of a search; without importances if it has been stopped."""
    plan = search.plan
    trials = [_result(search.runs, trial, plan.metric) for trial in study.trials()]

    def rank(trial: TrialResult) -> tuple[int, bool, float]:
        return _ORDER.index(trial.status), *plan.criterion.place(trial.figure)

    return Results(
        plan.metric,
        plan.higher_is_better,
        plan.sampler,
        plan.pruner,
        plan.seed,
        sorted(trials, key=rank),
        study.importances() if is_complete else {},
        plan.selected_on,
    )


def _result(runs: RunGroup, trial: TrialRecord, metric: str) -> TrialResult:
    outcome = outcome_of(runs, trial.point)
    folder = Path(outcome.folder).relative_to(runs.folder).as_posix() if outcome.folder else ""
    epoch = outcome.best.get("epoch")
    return TrialResult(
        trial.point.number,
        dict(trial.point.values),
        "interrupted" if trial.status == "running" else trial.status,
        best_figure(outcome, metric),
        int(epoch) if epoch else None,
        max(trial.figures, default=0),
        folder,
        trial.message,
    )


def write_results(folder: Path, results: Results) -> None:
    """Write ``results.json``, from which reports are written."""
    write_json(folder / FILE, dataclasses.asdict(results))


def read_results(folder: Path) -> Results | None:
    """Return the results in a folder; None if it is not that of a search that has ended.

    Raises:
        UsageError: if they cannot be read.
    """
    try:
        content = read_json(folder / FILE)
        trials = [TrialResult(**trial) for trial in content["trials"]]
        return Results(**(content | {"trials": trials}))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder / FILE} cannot be read: {error}") from None


def table(results: Results, most: int | None = None) -> list[list[str]]:
    """Return a header and a row per trial, the best first.

    Args:
        results: the results.
        most: the maximum number of rows; their values have at most four digits.
    """
    keys = [*results.trials[0].values] if results.trials else []
    rows = [["trial", *short_keys(keys), results.figure_name, "epoch", "status", "folder"]]
    for trial in results.trials[:most]:
        values = [trial.values.get(key, "") for key in keys]
        shown = values if most is None else [brief(value) for value in values]
        figure = "" if trial.figure is None else f"{trial.figure:.5g}"
        epoch = str(trial.epoch or "")
        rows.append([str(trial.number), *shown, figure, epoch, trial.status, trial.folder])
    return rows
