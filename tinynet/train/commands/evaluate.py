"""``tinynet eval RUN``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import add_json, add_trained
from tinynet.train.metrics.criterion import SETS
from tinynet.train.run.runner import evaluate_run

NAME = "eval"
HELP = "evaluate the model of a run again"
DESCRIPTION = """\
Load the checkpoint of a run and evaluate its model on the test set of its config, or on its
validation or training set.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_trained(parser)
    parser.add_argument(
        "--set", choices=[*SETS], default="test", help="the data set (default: test)"
    )
    add_json(parser, "the metrics")


def run_command(arguments: argparse.Namespace) -> int:
    """Evaluate and print the figures."""
    own = {"best": arguments.best, "on": arguments.set, "json": arguments.json}
    evaluate_run(arguments.run, **own)
    return 0
