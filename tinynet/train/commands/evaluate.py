"""``tinynet eval RUN``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import Commands, add_json, add_trained
from tinynet.train.running.runner import evaluate_run

_DESCRIPTION = """\
Load the checkpoint of a run and measure its model on the test set of its config.
"""


def add(commands: Commands) -> None:
    """Tell argparse what the command takes."""
    parser = commands.add_parser(
        "eval", help="measure the model of a run again", description=_DESCRIPTION
    )
    add_trained(parser)
    add_json(parser, "the figures")
    parser.set_defaults(run_command=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    evaluate_run(arguments.run, best=arguments.best, json=arguments.json)
    return 0
