"""``tinynet train CONFIG``."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinynet.train.commands.options import (
    CONFIG,
    OUT,
    SET,
    argument,
    declare,
    exit_code,
    full_keys,
    json_of,
    run_place,
)
from tinynet.train.run.processes import supervisors
from tinynet.train.run.runner import run


@declare(
    "train",
    "train the model of a config file",
    CONFIG,
    SET,
    OUT,
    argument(
        "--init-from",
        metavar="RUN",
        type=run_place,
        help="start from the weights of a run (`latest` is the last one); everything else starts "
        "from scratch",
    ),
    json_of("one object per epoch and one at the end"),
    argument("--quiet", action="store_true", help="print nothing but errors"),
    trains=True,
    shares_work=lambda arguments: True,
)
def run_command(arguments: argparse.Namespace) -> int:
    """Train the model that a TOML file describes.

    A progress bar shows how far it is; if the output is not a terminal, there is one line per
    epoch. The results go to a new folder, runs/<config name>/<date and time>: the full config,
    checkpoints, the metrics of each epoch, and curves and graphs for TensorBoard.
    """
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
