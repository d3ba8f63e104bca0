"""``tinynet cross-validate CONFIG --folds K``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tinynet.train.base.problems import UsageError
from tinynet.train.commands import sweep
from tinynet.train.commands.options import argument, declare, full_keys
from tinynet.train.study.run_group import Outcome
from tinynet.train.study.space import Dimension
from tinynet.train.study.sweep import means_over

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
    *sweep.running("cross-validation"),
    trains=True,
    shares_work=sweep.on_mpi,
)
def run_command(arguments: argparse.Namespace) -> int:
    """Cut the training set into folds, and train a config once for each: with that fold as the
    validation set and the others as the training set.

    Folds have the same share of each class; data.test_split makes them of whole groups, or trains
    on what lies before each in time. The test set is not measured. The metrics of each fold, and
    their mean and standard deviation, are printed as tables; report.html in the folder has them,
    too. With several values of keys (--set optimizer.lr=0.1,0.01), each combination has its mean.
    """
    if arguments.resume is not None and arguments.folds is not None:
        raise UsageError("--resume FOLDER cannot be combined with --folds")
    kind = sweep.Kind("cross-validate", _axes, _means, "cross-validation_")
    return sweep.run_sweep(arguments, kind)


def _axes(arguments: argparse.Namespace) -> list[Dimension]:
    folds = 5 if arguments.folds is None else arguments.folds
    if folds < 2:
        raise UsageError(f"--folds must be at least 2, got {folds}")
    own = [f"data.folds={folds}", f"{FOLD}=1..{folds}"]
    return sweep.parsed_axes([*full_keys(arguments.set), *own])


def _means(ran: sweep.Sweep, outcomes: Sequence[Outcome]) -> list[list[str]]:
    return means_over(FOLD, ran, outcomes)
