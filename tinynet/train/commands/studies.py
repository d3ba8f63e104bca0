"""``tinynet sweep``, ``cross-validate`` and ``search``: several runs of one config."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinynet.base.invocation import command, shown
from tinynet.core.printing import quantity
from tinynet.train.base.files import locked
from tinynet.train.base.problems import UsageError
from tinynet.train.base.run_folder import RunFolder, new_folder, runs_in
from tinynet.train.base.terminal import aligned, write_csv
from tinynet.train.commands.options import (
    OPTIONAL_CONFIG,
    SET,
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
from tinynet.train.observe.progress import as_json, figure_text
from tinynet.train.run.processes import resumable
from tinynet.train.show.writing import attempt
from tinynet.train.study.comparison import comparison_of
from tinynet.train.study.run_group import Outcome, Places, check_all, places_of
from tinynet.train.study.search import (
    TRIALS,
    Results,
    Search,
    Sweep,
    checked_space,
    extended,
    means_over,
    new_plan,
    new_search,
    new_sweep,
    open_search,
    open_sweep,
    over_seeds,
    results_of,
    run_all,
    run_search,
    search_table,
    sweep_table,
    write_results,
)
from tinynet.train.study.study import PRUNERS, SAMPLERS, Dimension, axis, probes, require_optuna
from tinynet.train.study.study import points as all_points
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
    sweep = (
        _resumed_sweep(arguments) if arguments.resume is not None else _new_sweep(arguments, kind)
    )
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
    pages = _report_sweep(sweep)
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


def _new_sweep(arguments: argparse.Namespace, kind: Kind) -> Sweep:
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


def _report_sweep(sweep: Sweep) -> list[str]:
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


def _resumed_sweep(arguments: argparse.Namespace) -> Sweep:
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


# ---- search -------------------------------------------------------------------------------------

_MOST = 10  # trials in the table
_CHOICES = ("out", "sampler", "pruner", "metric", "seed")  # not with --resume


_PLAN = (  # what a search keeps when it is resumed
    argument(
        "--trials",
        type=int,
        at_least=1,
        metavar="N",
        help=f"the number of trials (default: {TRIALS}; of a grid, all its points)",
    ),
    argument(
        "--sampler",
        choices=SAMPLERS,
        help="how to choose values: by the results so far (tpe, the default), at random, or all "
        "points of a grid in random order",
    ),
    argument(
        "--pruner",
        choices=PRUNERS,
        help="when to prune a trial: if it is worse than the median of the others (the default), "
        "by successive halving of groups (hyperband), or never (none)",
    ),
    argument(
        "--metric",
        metavar="NAME",
        help="the validation metric to compare by (default: evaluation.monitor, or the first "
        "metric)",
    ),
    argument("--seed", type=int, metavar="N", help="the seed of the sampler (default: 0)"),
)


@declare(
    "search",
    "search for good values of some keys",
    OPTIONAL_CONFIG,
    argument(
        "--space",
        action="extend",
        nargs="+",
        default=[],
        metavar="KEY=VALUES",
        help="the values of a key, such as 'optimizer.lr=log(1e-4,1e-1)'; takes several, and may "
        "be repeated",
    ),
    SET,
    argument("--out", metavar="DIR", help="the folder for the search (default: run.out)"),
    *_PLAN,
    jobs("trials"),
    argument(
        "--resume",
        metavar="SEARCH",
        help="resume the search of a folder; --trials N changes the number of its trials",
    ),
    json_of("one object per trial"),
    trains=True,
)
def search_command(arguments: argparse.Namespace) -> int:
    """Search for the values of some keys with the best validation metric, with Optuna (pip install
    optuna).

    A trial is a run with values that depend on the results of earlier trials; it is pruned if
    others were better after as many epochs. The values of a key are log(LOW,HIGH), float(LOW,HIGH),
    int(LOW,HIGH) or logint(LOW,HIGH), or a list as in a sweep (SGD,Adam or 0..4); a third number in
    float() and int() is the step. A shell needs quotes around the parentheses. All listed values
    and bounds are checked before the first trial starts. The best trials are printed as a table;
    results.csv and report.html in the search folder have all of them.
    """
    require_optuna()
    search = _resumed_search(arguments) if arguments.resume is not None else _new_search(arguments)
    resume = "search", "--resume", search.folder
    with locked(search.folder), resumable(*resume):
        if arguments.resume is not None and arguments.trials is not None:
            search = extended(search, arguments.trials)
        study = search.study(arguments.jobs)
        progress = _Progress(search, arguments.json)
        with contextlib.closing(progress.watch):
            own = search, study, arguments.jobs, progress.ended, progress.watch
            stopped_by = run_search(*own)
        results = results_of(search, study, is_complete=stopped_by is None)
    path = write_csv(search.folder / "results.csv", search_table(results))
    write_results(search.folder, results)
    if stopped_by is None:
        pages = _report_search(search, results)
        if not arguments.json:
            _print_results(search, results, [f"table: {shown(path)}", *pages])
    left = search.plan.trials - sum(results.count(s) for s in ("finished", "pruned", "failed"))
    if left > 0 and not arguments.json:
        print(f"{left} of {search.plan.trials} trials are not finished; to resume:")
        print(f"  {command(*resume)}")
    return 128 + stopped_by if stopped_by else int(left > 0 or results.best is None)


def _new_search(arguments: argparse.Namespace) -> Search:
    config = arguments.config
    if config is None:
        raise UsageError("CONFIG is missing (or --resume SEARCH)")
    if not arguments.space:
        raise UsageError(
            "nothing to search: use --space KEY=VALUES, such as 'optimizer.lr=log(1e-4,1e-1)'"
        )
    settings = full_keys(arguments.set)
    if arguments.metric is not None:
        settings.append(f"evaluation.monitor={arguments.metric}")
    sampler = arguments.sampler or SAMPLERS[0]
    space = checked_space(config, full_keys(arguments.space), settings, sampler)
    given = {name: getattr(arguments, name) for name in ("sampler", "pruner", "seed", "trials")}
    given = {name: value for name, value in given.items() if value is not None}
    plan = new_plan(config, space, settings, **given)
    first = load_config(config, [*settings, *probes(space)[0].assignments], out=arguments.out)
    folder = new_folder(Path(first.run.out) / Path(config).stem, "search_")
    search = new_search(config, settings, plan, folder)
    if not arguments.json:
        better = "highest" if plan.higher_is_better else "lowest"
        trials = quantity(plan.trials, "trial")
        text = f"{trials} for the {better} {plan.selected_on} {plan.metric}"
        print(f"{text} ({plan.sampler}, pruner {plan.pruner}) in {folder}", flush=True)
    return search


def _resumed_search(arguments: argparse.Namespace) -> Search:
    given = [f"--{name}" for name in _CHOICES if getattr(arguments, name) is not None]
    given += ["CONFIG"] * (arguments.config is not None)
    given += [f"--{name}" for name in ("space", "set") if getattr(arguments, name)]
    if given:
        raise UsageError(f"--resume SEARCH cannot be combined with {', '.join(given)}")
    return open_search(Path(arguments.resume))


class _Progress:
    """Prints a line per trial, and shows those that are training."""

    def __init__(self, search: Search, json: bool) -> None:
        self._plan, self._json = search.plan, json
        self.watch = Watch(search.runs, search.plan.trials, wanted=not json)

    def ended(self, outcome: Outcome, seconds: float) -> None:
        """Print a trial that has ended, unless the search is being stopped."""
        self.watch.done += 1
        if self._json:
            print(as_json({"trial": outcome.point.number, **as_dict(outcome)}), flush=True)
        elif outcome.status != "interrupted" or outcome.message:
            self.watch.print(self._line(outcome, seconds))

    def _line(self, outcome: Outcome, seconds: float) -> str:
        point, metric = outcome.point, self._plan.metric
        number = f"[trial {point.number:>{len(str(self._plan.trials - 1))}}]"
        if outcome.status in ("failed", "interrupted"):
            return f"{number} {values_of(point)}: {outcome.status.upper()}, {outcome.message}"
        figure = outcome.best.get(metric)
        text = "" if figure is None else f"{metric} {figure_text(metric, figure)}"
        if outcome.status == "pruned":
            text = f"pruned, {text}"
        else:
            text += f" after epoch {outcome.best['epoch']}"
        return ended_line(number, point, [text], f"{seconds:.1f} s")


def _report_search(search: Search, results: Results) -> list[str]:
    """Write the page that compares the runs, unless the config says not to; return lines on it."""
    settings = [*search.runs.settings, *probes(search.plan.space)[0].assignments]
    if not load_config(search.runs.config, settings).run.report:
        return []
    return write_comparison(search.folder, results)


def _print_results(search: Search, results: Results, files: Sequence[str]) -> None:
    print("", *aligned(search_table(results, _MOST)), sep="\n")
    counts = [(results.count(status), status) for status in ("finished", "pruned", "failed")]
    print("", ", ".join(f"{count} {status}" for count, status in counts if count), sep="\n")
    if (best := results.best) is not None and best.figure is not None:
        figure = f"{results.figure_name} {figure_text(results.metric, best.figure)}"
        print(f"best: trial {best.number}, {figure} after epoch {best.epoch}")
        settings = [*search.runs.settings, *(f"{k}={v}" for k, v in best.values.items())]
        config = Path(search.runs.config)
        print(f"  evaluate it:    {command('eval', search.folder / best.folder, '--best')}")
        print(f"  train it again: {command('train', config, '--set', *settings)}")
        if results.selected_on == "test":
            print(SELECTED_ON_TEST)
    print(*files, sep="\n")
    print(f"view it: {command('board', search.folder)}")
