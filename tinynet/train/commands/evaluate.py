"""``tinynet eval RUN``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import TRAINED, argument, declare, json_of
from tinynet.train.metrics.criterion import SETS
from tinynet.train.run.runner import evaluate_run


@declare(
    "eval",
    "evaluate the model of a run again",
    *TRAINED,
    argument("--set", choices=[*SETS], default="test", help="the data set (default: test)"),
    json_of("the metrics"),
)
def run_command(arguments: argparse.Namespace) -> int:
    """Load the checkpoint of a run and evaluate its model on the test set of its config, or on its
    validation or training set.
    """
    own = {"best": arguments.best, "on": arguments.set, "json": arguments.json}
    evaluate_run(arguments.run, **own)
    return 0
