"""``tinynet show CONFIG``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import Commands, add_config, full_keys
from tinynet.train.config.rendering import to_toml
from tinynet.train.config.resolve import load_config

_DESCRIPTION = """\
Check a config and print it in full: every value, also those that were left out, and where each came
from: a line of the file or of one of its bases, the command line, or the defaults.
"""


def add(commands: Commands) -> None:
    """Tell argparse what the command takes."""
    parser = commands.add_parser(
        "show",
        help="print a config in full, with the origin of each value",
        description=_DESCRIPTION,
    )
    add_config(parser)
    parser.set_defaults(run_command=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the resolved config, which is a config itself."""
    print(to_toml(load_config(arguments.config, full_keys(arguments.set))), end="")
    return 0
