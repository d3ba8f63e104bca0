"""Sweeps and searches: runs of one config with other values, each in its folder.

A sweep runs all combinations of some values; a search asks Optuna for them. The folder holds
``sweep.json`` or ``search.json`` (what to try), a folder and a log per run, and ``results.csv``;
that of a search also ``study.sqlite3`` (the trials). Resuming skips finished runs and resumes the
others from their last checkpoints.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tinynet.train.assemble.stopping import PRUNED, Best
from tinynet.train.assemble.trial import rehearsal
from tinynet.train.base.files import locked, read_json, read_rows, write_json
from tinynet.train.base.problems import Origin, Problems, UsageError
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.base.terminal import brief
from tinynet.train.config.resolve import load_config
from tinynet.train.config.sections import Config
from tinynet.train.metrics.criterion import Criterion, criterion_of, figures_on
from tinynet.train.run.runner import prepare
from tinynet.train.study.run_group import (
    Outcome,
    Places,
    RunGroup,
    Watch,
    check_all,
    open_study,
    outcome_of,
    record_study,
    run_points,
    unwatched,
)
from tinynet.train.study.study import (
    MOST,
    Dimension,
    Plan,
    Point,
    Study,
    TrialRecord,
    axis,
    dimension,
    grid_of,
    points,
    probes,
    short_keys,
    space_of,
)

# ---- sweeps -------------------------------------------------------------------------------------

SWEEP = "sweep"


@dataclass(frozen=True)
class Sweep:
    """A sweep: its config, its axes, and its folder."""

    folder: Path
    config: str
    axes: tuple[Dimension, ...]

    @property
    def points(self) -> list[Point]:
        """All combinations of the values."""
        return points(self.axes)

    @property
    def runs(self) -> RunGroup:
        """Its runs."""
        return RunGroup(self.folder, self.config)

    def criterion(self, figures: Sequence[str]) -> Criterion:
        """Return what decides between its runs, given the names of their figures."""
        section = load_config(self.config, self.points[0].assignments).evaluation
        return criterion_of(figures, section.metrics, section.monitor)


# ---- its folder ----


def new_sweep(config: str, axes: Sequence[Dimension], folder: Path) -> Sweep:
    """Record the config and the values to try in a new folder."""
    sweep = Sweep(folder, str(Path(config).absolute()), tuple(axes))
    record_study(SWEEP, sweep.runs, sweep.axes)
    return sweep


def open_sweep(folder: Path) -> Sweep:
    """Open the sweep of a folder.

    Raises:
        UsageError: if there is none, or its config has changed.
    """
    runs, axes, _ = open_study(SWEEP, folder, axis, "runs")
    return Sweep(folder, runs.config, axes)


# ---- running ----


def run_all(
    sweep: Sweep,
    places: Places,
    report: Callable[[int, Outcome, float], object],
    watch: Watch = unwatched,
) -> tuple[list[Outcome], int | None]:
    """Run all unfinished points.

    Args:
        sweep: the sweep.
        places: where they run.
        report: called after each run with the number of completed runs, its outcome and seconds.
        watch: called again and again with the runs that are training.

    Returns:
        The outcomes of all points, and the signal that stopped the sweep early, if one did.
    """
    outcomes = {point.number: outcome_of(sweep.runs, point) for point in sweep.points}
    pending = [o.point for o in outcomes.values() if o.status != "finished"]
    done = len(outcomes) - len(pending)

    def ended(outcome: Outcome, seconds: float) -> None:
        nonlocal done
        outcomes[outcome.point.number] = outcome
        done += 1
        report(done, outcome, seconds)

    where = places.jobs, ended
    stopped_by = run_points(sweep.runs, iter(pending), *where, start=places.start, watch=watch)
    return list(outcomes.values()), stopped_by


# ---- the table ----


def sweep_table(sweep: Sweep, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return a header and a row per run, the best first; tests are of the last weights."""
    figures = list(dict.fromkeys(name for o in outcomes for name in o.metrics))
    criterion = sweep.criterion(figures)
    tested = [criterion.figure] if any(o.tests for o in outcomes) else []
    ordered = sorted(outcomes, key=lambda o: criterion.place(o.metrics.get(criterion.figure)))
    keys = [one.key for one in sweep.axes if len(one.values) > 1]
    named = [*_named(outcomes, figures), *(f"test {name}" for name in tested)]
    rows = [[*short_keys(keys), *named, "status", "folder"]]
    for outcome in ordered:
        shown = [_figure(outcome.metrics.get(name)) for name in reversed(figures)]
        shown += [_figure(outcome.tests.get(name)) for name in tested]
        folder = Path(outcome.folder).name if outcome.folder else ""
        where = f"{outcome.point.name}/{folder}" if folder else ""
        values = [outcome.point.values[key] for key in keys]
        rows.append([*values, *shown, outcome.status, where])
    return rows


def over_seeds(sweep: Sweep, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return the table of means and standard deviations over the seeds; [] if not applicable."""
    several = [one.key for one in sweep.axes if len(one.values) > 1]
    return means_over("run.seed", sweep, outcomes) if {"run.seed"} < {*several} else []


def means_over(key: str, sweep: Sweep, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return the table of means and standard deviations over the values of a key, the best first.

    Args:
        key: the key of one of the axes.
        sweep: the sweep.
        outcomes: its runs; only finished ones count.
    """
    others = [one.key for one in sweep.axes if one.key != key and len(one.values) > 1]
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status == "finished":
            place = tuple(outcome.point.values[other] for other in others)
            groups.setdefault(place, []).append(outcome)
    figures = list(dict.fromkeys(name for o in outcomes for name in o.metrics))
    criterion = sweep.criterion(figures)
    means = {
        place: {f: statistics.fmean(o.metrics[f] for o in group) for f in figures}
        for place, group in groups.items()
    }
    rows = [[*short_keys(others), *_named(outcomes, figures), "runs"]]
    for place in sorted(
        groups, key=lambda place: criterion.place(means[place].get(criterion.figure))
    ):
        spread = {f: _spread([o.metrics[f] for o in groups[place]]) for f in figures}
        shown = [f"{_figure(means[place][f])} ± {spread[f]}" for f in reversed(figures)]
        rows.append([*place, *shown, str(len(groups[place]))])
    return rows if groups else []


def _named(outcomes: Sequence[Outcome], figures: Sequence[str]) -> list[str]:
    """Return the figures for a header, with the set that selects."""
    sets = " or ".join(sorted({o.selected_on for o in outcomes if o.metrics}, reverse=True))
    return [f"{sets} {name}" for name in reversed(figures)]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.stdev(values):.2g}" if len(values) > 1 else "?"


# ---- searches -----------------------------------------------------------------------------------

TRIALS = 20
SEARCH, STUDY = "search", "study.sqlite3"
_PLANNED = [field.name for field in dataclasses.fields(Plan) if field.name != "space"]

_PAUSE = 0.1  # seconds between two looks at the run of a killed search


@dataclass(frozen=True)
class Search:
    """A search: its runs, and how it chooses their values."""

    runs: RunGroup
    plan: Plan

    @property
    def folder(self) -> Path:
        """Its folder."""
        return self.runs.folder

    def study(self, jobs: int = 1) -> Study:
        """Open the study of its trials."""
        return Study(self.folder / STUDY, self.plan, jobs)


# ---- a new one ----


def checked_space(
    config: str, assignments: Sequence[str], settings: Sequence[str], sampler: str
) -> list[Dimension]:
    """Return the space of a search, and try its listed values and bounds.

    Args:
        config: the config file.
        assignments: the values of each key.
        settings: assignments that all trials have in common.
        sampler: the name of the sampler.

    Raises:
        ConfigError: if there are mistakes; lists each mistake once.
        UsageError: if parts do not fit together; names the values.
    """
    problems = Problems()
    fixed = [setting.partition("=")[0].strip() for setting in settings]
    space = space_of(assignments, fixed, problems)
    if sampler == "grid":
        _check_grid(space, problems)
    check_all(config, probes(space), settings, problems)
    return space


def _check_grid(space: Sequence[Dimension], problems: Problems) -> None:
    origin, grids = Origin("command line"), [grid_of(one) for one in space]
    for one, grid in zip(space, grids, strict=True):
        if grid is None:
            text = f"{one.text} is not a grid: list the values, or use float(LOW,HIGH,STEP)"
            problems.add(origin, one.key, text)
    count = math.prod(len(grid) for grid in grids if grid is not None)
    if count > MOST:
        problems.add(
            origin, "", f"the grid has {count:,} points, and at most {MOST:,} are possible"
        )


def new_plan(
    config: str, space: Sequence[Dimension], settings: Sequence[str], **choices: Any
) -> Plan:
    """Return the plan of a search.

    Args:
        config: the config file.
        space: the values of each key.
        settings: assignments that all trials have in common.
        choices: ``sampler``, ``pruner``, ``seed``, ``trials`` where they are not the defaults.
    """
    configs = [load_config(config, [*settings, *p.assignments]) for p in probes(space)]
    criterion, selection = _criterion(configs[0])
    if choices.get("sampler") == "grid":
        size = _size(space)
        choices["trials"] = min(choices.get("trials", size), size)
    own: dict[str, Any] = {
        "epochs": max(max(one.run.epochs, 1) for one in configs),
        "eval_every": min(one.run.eval_every for one in configs),
    }
    own |= {"metric": criterion.figure, "higher_is_better": criterion.higher_is_better}
    own["selected_on"] = selection
    return Plan(tuple(space), **({"trials": TRIALS} | choices | own))


def _size(space: Iterable[Dimension]) -> int:
    """Return the number of points of a grid."""
    return math.prod(len(grid_of(one) or ()) for one in space)


def _criterion(config: Config) -> tuple[Criterion, str]:
    """Return what decides which weights of a run are best, and the name of its data set."""
    parts = prepare(config)
    with rehearsal(parts) as tried:
        figures = tried.figures(parts.sets[parts.selection])
    criterion = Best(config.evaluation, parts.method.compares).criterion(figures)
    if criterion is None:
        listed = ", ".join(figures)
        raise UsageError(f"these runs have no best evaluation: use --metric, with one of {listed}")
    return criterion, parts.selection


def new_search(config: str, settings: Sequence[str], plan: Plan, folder: Path) -> Search:
    """Record what to search in a new folder."""
    runs = RunGroup(folder, str(Path(config).absolute()), tuple(settings))
    return _recorded(Search(runs, plan))


def _recorded(search: Search) -> Search:
    plan = {name: getattr(search.plan, name) for name in _PLANNED}
    record_study(SEARCH, search.runs, search.plan.space, **plan)
    return search


def open_search(folder: Path) -> Search:
    """Open the search of a folder.

    Raises:
        UsageError: if there is none, or its config has changed.
    """
    runs, space, record = open_study(SEARCH, folder, dimension, "trials")
    try:
        return Search(runs, Plan(space, **{name: record[name] for name in _PLANNED}))
    except KeyError as error:
        raise UsageError(f"{folder} is not the folder of a search ({error})") from None


def extended(search: Search, trials: int) -> Search:
    """Record another number of trials; return the search with it."""
    plan = search.plan
    most = trials if plan.sampler != "grid" else min(trials, _size(plan.space))
    return _recorded(replace(search, plan=replace(plan, trials=most)))


# ---- running ----


def run_search(
    search: Search,
    study: Study,
    jobs: int,
    report: Callable[[Outcome, float], object],
    watch: Watch = unwatched,
) -> int | None:
    """Run all trials, at most `jobs` at once.

    Args:
        search: the search.
        study: its study.
        jobs: the maximum number of processes.
        report: called after each trial with its outcome and seconds.
        watch: called again and again with the trials that are training.

    Returns:
        The signal that stopped the search early, if one did.
    """

    def answer(point: Point, said: Mapping[str, Any]) -> str:
        figure = said["figures"].get(search.plan.metric)
        is_worse = figure is not None and study.report(point.number, said["epoch"], figure)
        return PRUNED if is_worse else ""

    def ended(outcome: Outcome, seconds: float) -> None:
        figure = best_figure(outcome, search.plan.metric)
        if outcome.status == "finished" and figure is None:
            text = f"{search.plan.metric} was not measured, or is not finite"
            outcome = replace(outcome, status="failed", message=text)
        if outcome.status != "interrupted":
            study.tell(outcome.point.number, outcome.status, figure, outcome.message)
        report(outcome, seconds)

    def points() -> Iterator[Point]:
        for point in begun:
            _wait_for(search.runs, [point])  # it may have begun while others were waited for
            outcome = outcome_of(search.runs, point)
            if outcome.status in ("finished", "pruned"):  # just before the search was killed
                ended(outcome, 0.0)
            else:
                yield point
        while len(study.trials()) < search.plan.trials:
            yield study.ask()

    begun = study.unfinished()
    _wait_for(search.runs, begun)
    for point in begun:
        _report_again(search, study, point)
    return run_points(search.runs, points(), jobs, ended, answer, watch=watch)


def best_figure(outcome: Outcome, metric: str) -> float | None:
    """Return the best figure of a run; None if it has none, or it is not finite."""
    figure = outcome.best.get(metric)
    return figure if isinstance(figure, int | float) and math.isfinite(figure) else None


def _report_again(search: Search, study: Study, point: Point) -> None:
    """Report the evaluations of a run that its search, which was killed, did not record."""
    for folder in search.runs.run_folders(point)[-1:]:
        for row in read_rows(RunFolder(folder).metrics):
            (name,) = figures_on(search.plan.selected_on, {search.plan.metric: None})
            if name in row:  # JSON has no NaN
                figure = math.nan if row[name] is None else row[name]
                study.report(point.number, row["epoch"], figure)


def _wait_for(runs: RunGroup, points: Sequence[Point]) -> None:
    """Wait for runs of a killed search, which stop once they notice, to save and end."""
    for folder in [folder for point in points for folder in runs.run_folders(point)]:
        while True:
            try:
                with locked(folder):
                    break
            except UsageError:
                time.sleep(_PAUSE)


# ---- results ------------------------------------------------------------------------------------
# The results of a search: its trials with their figures, as tables and as JSON.


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
    """The run folder, relative to the search's; empty if there is none."""

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
    """Return the results in a folder; None if no search has ended there.

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


def search_table(results: Results, most: int | None = None) -> list[list[str]]:
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
