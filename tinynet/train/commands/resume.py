"""``tinynet resume RUN``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import Commands, add_json, add_set, exit_code, full_keys
from tinynet.train.running.resuming import resume

_DESCRIPTION = """\
Go on with a run that was stopped (Ctrl-C, SIGTERM) or killed, in its folder: it ends exactly as if
it had never stopped. A run that is complete goes on with --set run.epochs=N. Other values can be
changed, too; what is another than before is printed.
"""


def add(commands: Commands) -> None:
    """Tell argparse what the command takes."""
    parser = commands.add_parser(
        "resume", help="go on with a run that was stopped or killed", description=_DESCRIPTION
    )
    parser.add_argument("run", metavar="RUN", help="a run folder")
    add_set(parser)
    add_json(parser, "one object per epoch and one at the end")
    parser.add_argument(
        "--force",
        action="store_true",
        help="go on although source files or the data have changed since the run began",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(run_command=run, works=True)


def run(arguments: argparse.Namespace) -> int:
    """Go on; 128 + the number of a signal that ended it early."""
    given = full_keys(arguments.set)
    say = {"quiet": arguments.quiet, "json": arguments.json}
    return exit_code(resume(arguments.run, given, force=arguments.force, **say))
