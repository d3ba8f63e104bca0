"""``tinynet train CONFIG``."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinynet.train.commands.options import (
    Commands,
    add_config,
    add_json,
    add_out,
    exit_code,
    full_keys,
)
from tinynet.train.running.runner import run as train

_DESCRIPTION = """\
Train the model that a TOML file describes. A bar (or, when the output is not a terminal, a line
per epoch) shows how it goes. Everything that comes of it is in a new folder,
runs/<name of the config>/<date and time>: the config in full, checkpoints, the metrics of each
epoch, and curves and graph for TensorBoard.
"""


def add(commands: Commands) -> None:
    """Tell argparse what the command takes."""
    parser = commands.add_parser(
        "train", help="train what a config file describes", description=_DESCRIPTION
    )
    add_config(parser)
    add_out(parser)
    parser.add_argument(
        "--init-from",
        metavar="RUN",
        help="begin with the weights of a run (only these: nothing else goes on)",
    )
    add_json(parser, "one object per epoch and one at the end")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run_command=run, works=True)


def run(arguments: argparse.Namespace) -> int:
    """Train; 128 + the number of a signal that ended it early."""
    given = full_keys(arguments.set)
    if arguments.init_from is not None:
        given.append(f"run.init_from={Path(arguments.init_from).absolute()}")
    result = train(
        arguments.config, given, out=arguments.out, quiet=arguments.quiet, json=arguments.json
    )
    return exit_code(result)
