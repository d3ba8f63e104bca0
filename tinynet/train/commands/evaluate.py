"""``tinynet eval RUN``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import Commands, add_json, add_trained
from tinynet.train.running.runner import evaluate_run

_DESCRIPTION = """\
Load the checkpoint of a run and evaluate its model on the test set of its config.
"""


def add_parser(commands: Commands) -> None:
    """Declare the arguments of the command."""
    parser = commands.add_parser(
        "eval", help="evaluate the model of a run again", description=_DESCRIPTION
    )
    add_trained(parser)
    add_json(parser, "the figures")
    parser.set_defaults(run_command=run_command)


def run_command(arguments: argparse.Namespace) -> int:
    """Evaluate and print the figures."""
    evaluate_run(arguments.run, best=arguments.best, json=arguments.json)
    return 0
