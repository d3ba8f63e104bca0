"""``tinynet resume RUN``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import (
    RUN,
    SET,
    argument,
    declare,
    exit_code,
    full_keys,
    json_of,
)
from tinynet.train.run.processes import supervisors
from tinynet.train.run.resuming import resume


@declare(
    "resume",
    "resume a run that was stopped or killed",
    RUN,
    SET,
    json_of("one object per epoch and one at the end"),
    argument(
        "--force",
        action="store_true",
        help="resume even if source files or the data have changed since the run began",
    ),
    argument("--quiet", action="store_true", help="print nothing but errors"),
    trains=True,
    shares_work=lambda arguments: True,
)
def run_command(arguments: argparse.Namespace) -> int:
    """Resume a run that was stopped (Ctrl-C, SIGTERM) or killed, in its folder.

    The result is exactly as if the run had never stopped. To extend a complete run, use --set
    run.epochs=N. Other values may be changed, too; the changes are printed.
    """
    given = full_keys(arguments.set)
    say = {"quiet": arguments.quiet, "json": arguments.json}
    callbacks = supervisors()
    result = resume(arguments.run, given, force=arguments.force, callbacks=callbacks, **say)
    return exit_code(result)
