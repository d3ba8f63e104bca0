"""``tinynet search CONFIG --space KEY=VALUES``."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from pathlib import Path

from tinynet.base.invocation import command, shown
from tinynet.core.printing import quantity
from tinynet.train.base.problems import UsageError
from tinynet.train.base.run_folder import new_folder
from tinynet.train.base.terminal import aligned, write_csv
from tinynet.train.base.writing import locked
from tinynet.train.commands.options import (
    OPTIONAL_CONFIG,
    SET,
    argument,
    declare,
    full_keys,
    jobs,
    json_of,
)
from tinynet.train.commands.sweep import as_dict, write_comparison
from tinynet.train.config.resolve import load_config
from tinynet.train.metrics.criterion import SELECTED_ON_TEST
from tinynet.train.observe.progress import as_json, figure_text
from tinynet.train.run.processes import resumable
from tinynet.train.study.run_group import Outcome
from tinynet.train.study.search import (
    TRIALS,
    Results,
    Search,
    checked_space,
    extended,
    new_plan,
    new_search,
    open_search,
    results_of,
    run_search,
    search_table,
    write_results,
)
from tinynet.train.study.space import probes
from tinynet.train.study.study import PRUNERS, SAMPLERS, require_optuna
from tinynet.train.study.watching import Watch, ended_line, values_of

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
    search = _resumed(arguments) if arguments.resume is not None else _new(arguments)
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
        pages = _report(search, results)
        if not arguments.json:
            _print_results(search, results, [f"table: {shown(path)}", *pages])
    left = search.plan.trials - sum(results.count(s) for s in ("finished", "pruned", "failed"))
    if left > 0 and not arguments.json:
        print(f"{left} of {search.plan.trials} trials are not finished; to resume:")
        print(f"  {command(*resume)}")
    return 128 + stopped_by if stopped_by else int(left > 0 or results.best is None)


def _new(arguments: argparse.Namespace) -> Search:
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


def _resumed(arguments: argparse.Namespace) -> Search:
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


def _report(search: Search, results: Results) -> list[str]:
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
