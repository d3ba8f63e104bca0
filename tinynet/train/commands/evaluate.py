"""``tinynet eval RUN``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import add_json, add_trained
from tinynet.train.running.runner import evaluate_run

NAME = "eval"
HELP = "evaluate the model of a run again"
DESCRIPTION = """\
Load the checkpoint of a run and evaluate its model on the test set of its config.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_trained(parser)
    add_json(parser, "the metrics")


def run_command(arguments: argparse.Namespace) -> int:
    """Evaluate and print the figures."""
    evaluate_run(arguments.run, best=arguments.best, json=arguments.json)
    return 0
