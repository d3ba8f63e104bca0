"""``tinynet train CONFIG``."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinynet.train.commands.options import (
    add_config,
    add_json,
    add_out,
    add_set,
    exit_code,
    full_keys,
    run_place,
)
from tinynet.train.run.runner import run
from tinynet.train.run.supervised import supervisors

NAME = "train"
HELP = "train the model of a config file"
DESCRIPTION = """\
Train the model that a TOML file describes. A progress bar shows how far it is; if the output is not
a terminal, there is one line per epoch. The results go to a new folder,
runs/<config name>/<date and time>: the full config, checkpoints, the metrics of each epoch, and
curves and graphs for TensorBoard.
"""
TRAINS = True


def shares_work(arguments: argparse.Namespace) -> bool:
    """Return True: all processes of mpirun take part."""
    return True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_config(parser)
    add_set(parser)
    add_out(parser)
    parser.add_argument(
        "--init-from",
        metavar="RUN",
        type=run_place,
        help="start from the weights of a run (`latest` is the last one); everything else starts "
        "from scratch",
    )
    add_json(parser, "one object per epoch and one at the end")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run_command(arguments: argparse.Namespace) -> int:
    """Train; return 0, or 128 + the number of the signal that stopped the run."""
    given = full_keys(arguments.set)
    if arguments.init_from is not None:
        given.append(f"run.init_from={Path(arguments.init_from).absolute()}")
    result = run(
        arguments.config,
        given,
        out=arguments.out,
        quiet=arguments.quiet,
        json=arguments.json,
        callbacks=supervisors(),
    )
    return exit_code(result)
