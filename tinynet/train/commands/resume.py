"""``tinynet resume RUN``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import add_json, add_run, add_set, exit_code, full_keys
from tinynet.train.run.resuming import resume
from tinynet.train.run.supervised import supervisors

NAME = "resume"
HELP = "resume a run that was stopped or killed"
DESCRIPTION = """\
Resume a run that was stopped (Ctrl-C, SIGTERM) or killed, in its folder. The result is exactly that
of a run that was never stopped. To extend a complete run, use --set run.epochs=N. Other values may
be changed, too; the changes are printed.
"""
TRAINS = True


def shares_work(arguments: argparse.Namespace) -> bool:
    """Return True: all processes of mpirun take part."""
    return True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_run(parser)
    add_set(parser)
    add_json(parser, "one object per epoch and one at the end")
    parser.add_argument(
        "--force",
        action="store_true",
        help="resume even if source files or the data have changed since the run began",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run_command(arguments: argparse.Namespace) -> int:
    """Resume; return 0, or 128 + the number of the signal that stopped the run."""
    given = full_keys(arguments.set)
    say = {"quiet": arguments.quiet, "json": arguments.json}
    callbacks = supervisors()
    result = resume(arguments.run, given, force=arguments.force, callbacks=callbacks, **say)
    return exit_code(result)
