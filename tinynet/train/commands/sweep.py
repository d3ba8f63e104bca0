"""``tinynet sweep`` and ``cross-validate``: several runs of one config."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinynet.base.invocation import command, shown
from tinynet.core.printing import quantity
from tinynet.train.base.problems import UsageError
from tinynet.train.base.run_folder import RunFolder, new_folder, runs_in
from tinynet.train.base.terminal import aligned, write_csv
from tinynet.train.commands.options import (
    OPTIONAL_CONFIG,
    Argument,
    argument,
    declare,
    full_keys,
    jobs,
    json_of,
)
from tinynet.train.config.resolve import load_config
from tinynet.train.diagnose.changes import describe_set
from tinynet.train.metrics.criterion import SELECTED_ON_TEST
from tinynet.train.observe.progress import as_json
from tinynet.train.run.processes import resumable
from tinynet.train.show.writing import attempt
from tinynet.train.study.comparison import comparison_of
from tinynet.train.study.run_group import Outcome, Places, check_all, places_of
from tinynet.train.study.search import Results
from tinynet.train.study.space import Dimension, axis
from tinynet.train.study.space import points as all_points
from tinynet.train.study.sweep import (
    Sweep,
    means_over,
    new_sweep,
    open_sweep,
    over_seeds,
    run_all,
    sweep_table,
)
from tinynet.train.study.watching import Watch, ended_line, values_of


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


_NAME = "sweep"


def on_mpi(arguments: argparse.Namespace) -> bool:
    """Return whether all processes of mpirun take part."""
    return bool(arguments.executor == "mpi")


def running(name: str) -> tuple[Argument, ...]:
    """Return where and how the runs of a command run, and how it is resumed."""
    return (
        argument("--out", metavar="DIR", help=f"the folder for the {name} (default: run.out)"),
        jobs("runs"),
        argument(
            "--executor",
            choices=("local", "mpi"),
            default="local",
            help="what does the runs: this machine, or the processes of mpirun -n N, of which the "
            "first hands the runs to the others (default: local)",
        ),
        argument(
            "--resume",
            metavar="FOLDER",
            help=f"resume the unfinished runs of the folder of a {name}",
        ),
        json_of("one object per run"),
    )


@declare(
    "sweep",
    "train a config with several values of some keys",
    OPTIONAL_CONFIG,
    argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=A,B",
        help="the values to try; may be repeated or take several KEY=A,B",
    ),
    *running(_NAME),
    trains=True,
    shares_work=on_mpi,
)
def sweep_command(arguments: argparse.Namespace) -> int:
    """Train a config with all combinations of some values.

    Commas separate values (lr=1e-3,1e-2), and 0..4 means 0, 1, 2, 3, 4. All configs are checked
    before the first run starts. A run that fails does not stop the others. The results are printed
    as a table and written to results.csv in the sweep folder.
    """
    return run_sweep(arguments, Kind(_NAME, _axes_of, over_seeds))


@dataclass(frozen=True)
class Kind:
    """A command that runs a sweep."""

    name: str
    """Its name."""

    axes: Callable[[argparse.Namespace], list[Dimension]]
    """Returns the values to try; raises a `UsageError` for wrong arguments."""

    means: Callable[[Sweep, Sequence[Outcome]], list[list[str]]]
    """Returns a table of means over some of the runs; an empty one is not printed."""

    prefix: str = "sweep_"
    """The beginning of the name of its folder."""


def run_sweep(arguments: argparse.Namespace, kind: Kind) -> int:
    """Run a new sweep or resume one. The arguments are ``config`` and those of `running`."""
    with places_of(arguments.executor, arguments.jobs) as places:
        return 0 if places is None else _run(arguments, kind, places)


def _run(arguments: argparse.Namespace, kind: Kind, places: Places) -> int:
    sweep = _resumed(arguments) if arguments.resume is not None else _new(arguments, kind)
    count, json = len(sweep.points), arguments.json
    watch = Watch(sweep.runs, count, wanted=not json)

    def report(done: int, outcome: Outcome, seconds: float) -> None:
        watch.done = done
        watch.print(as_json(as_dict(outcome)) if json else _line(done, count, outcome, seconds))

    again = kind.name, "--resume", sweep.folder
    with resumable(*again), contextlib.closing(watch):
        outcomes, stopped_by = run_all(sweep, places, report, watch)
    rows = sweep_table(sweep, outcomes)
    path = write_csv(sweep.folder / "results.csv", rows)
    pages = _report(sweep)
    if not arguments.json:
        for block in filter(None, (rows, kind.means(sweep, outcomes))):
            print("", *aligned(block), sep="\n")
        on_test = any(o.selected_on == "test" and o.metrics for o in outcomes)
        notes = [f"the runs are {SELECTED_ON_TEST}"] if on_test else []
        print("", *notes, f"table: {shown(path)}", *pages, sep="\n")
        print(f"view it: {command('board', sweep.folder)}")
    unfinished = [outcome for outcome in outcomes if outcome.status != "finished"]
    if unfinished and not arguments.json:
        print(f"{len(unfinished)} of {count} runs are not finished; to resume:")
        print(f"  {command(*again)}")
    return 128 + stopped_by if stopped_by else int(bool(unfinished))


def _new(arguments: argparse.Namespace, kind: Kind) -> Sweep:
    if arguments.config is None:
        raise UsageError("CONFIG is missing (or --resume FOLDER)")
    axes = kind.axes(arguments)
    points = all_points(axes)
    check_all(arguments.config, points)
    first = load_config(arguments.config, points[0].assignments, out=arguments.out)
    folder = new_folder(Path(first.run.out) / Path(arguments.config).stem, kind.prefix)
    sweep = new_sweep(arguments.config, axes, folder)
    if not arguments.json:
        print(f"{quantity(len(sweep.points), 'run')} in {folder}", flush=True)
    return sweep


def _axes_of(arguments: argparse.Namespace) -> list[Dimension]:
    if not arguments.set:
        raise UsageError("nothing to sweep: use --set KEY=A,B, such as optimizer.lr=0.1,0.01")
    return parsed_axes(full_keys(arguments.set))


def _report(sweep: Sweep) -> list[str]:
    """Write the page that compares the runs, unless the config says not to; return lines on it."""
    if not load_config(sweep.config, sweep.points[0].assignments).run.report:
        return []
    return write_comparison(sweep.folder)


def parsed_axes(assignments: list[str]) -> list[Dimension]:
    """Return the axes of assignments; raises a `UsageError` if they are wrong."""
    try:
        axes = [axis(assignment) for assignment in assignments]
        all_points(axes)
    except ValueError as error:
        raise UsageError(str(error)) from None
    reserved = {"run.out": "use --out", "run.name": "each run gets its own name"}
    for one in axes:
        if one.key in reserved:
            raise UsageError(f"{one.key} cannot be swept: {reserved[one.key]}")
    return axes


def _resumed(arguments: argparse.Namespace) -> Sweep:
    if arguments.config is not None or arguments.set:
        raise UsageError("--resume FOLDER cannot be combined with CONFIG or --set")
    return open_sweep(Path(arguments.resume))


def _line(done: int, count: int, outcome: Outcome, seconds: float) -> str:
    number = f"[{done:>{len(str(count))}}/{count}]"
    if outcome.status != "finished":
        text = ", ".join(filter(None, (outcome.status.upper(), outcome.message)))
        return f"{number} {values_of(outcome.point)}: {text}"
    metrics = sorted(outcome.metrics.items())
    figures = [describe_set(outcome.selected_on, {name: value}) for name, value in metrics]
    return ended_line(number, outcome.point, figures, f"{seconds:.1f} s")


# ---- cross-validation ----


FOLD = "data.fold"


@declare(
    "cross-validate",
    "train a config once for each fold of its training set",
    argument("config", metavar="CONFIG", nargs="?", help="the TOML file"),
    argument("--folds", type=int, metavar="K", help="the number of folds (default: 5)"),
    argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a value of the file, or try several (KEY=A,B); may be repeated",
    ),
    *running("cross-validation"),
    trains=True,
    shares_work=on_mpi,
)
def cross_validate_command(arguments: argparse.Namespace) -> int:
    """Cut the training set into folds, and train a config once for each: with that fold as the
    validation set and the others as the training set.

    Folds have the same share of each class; data.test_split makes them of whole groups, or trains
    on what lies before each in time. The test set is not measured. The metrics of each fold, and
    their mean and standard deviation, are printed as tables; report.html in the folder has them,
    too. With several values of keys (--set optimizer.lr=0.1,0.01), each combination has its mean.
    """
    if arguments.resume is not None and arguments.folds is not None:
        raise UsageError("--resume FOLDER cannot be combined with --folds")
    kind = Kind("cross-validate", _axes_of_folds, _means_of_folds, "cross-validation_")
    return run_sweep(arguments, kind)


def _axes_of_folds(arguments: argparse.Namespace) -> list[Dimension]:
    folds = 5 if arguments.folds is None else arguments.folds
    if folds < 2:
        raise UsageError(f"--folds must be at least 2, got {folds}")
    own = [f"data.folds={folds}", f"{FOLD}=1..{folds}"]
    return parsed_axes([*full_keys(arguments.set), *own])


def _means_of_folds(ran: Sweep, outcomes: Sequence[Outcome]) -> list[list[str]]:
    return means_over(FOLD, ran, outcomes)
