"""All combinations of some values: a run of one config for each.

The folder of a sweep holds ``sweep.json`` (the values to try), a folder and a log per run, and
``results.csv``. Resuming a sweep skips finished runs and resumes the others from their last
checkpoints.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tinynet.train.config.resolve import load_config
from tinynet.train.metrics.criterion import Criterion, criterion_of
from tinynet.train.study.run_group import (
    Outcome,
    Places,
    RunGroup,
    Watch,
    open_study,
    outcome_of,
    record_study,
    run_points,
    unwatched,
)
from tinynet.train.study.space import Dimension, Point, axis, points, short_keys

KIND = "sweep"


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
    record_study(KIND, sweep.runs, sweep.axes)
    return sweep


def open_sweep(folder: Path) -> Sweep:
    """Open the sweep of a folder.

    Raises:
        UsageError: if there is none, or its config has changed.
    """
    runs, axes, _ = open_study(KIND, folder, axis, "runs")
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
