"""``tinynet show CONFIG``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import Commands, add_config, full_keys
from tinynet.train.config.rendering import to_toml
from tinynet.train.config.resolve import load_config

_DESCRIPTION = """\
Check a config and print it in full: every value, including defaults, and where each came from: a
line of the file or of one of its bases, the command line, or the defaults.
"""


def add_parser(commands: Commands) -> None:
    """Declare the arguments of the command."""
    parser = commands.add_parser(
        "show",
        help="print a config in full, with the origin of each value",
        description=_DESCRIPTION,
    )
    add_config(parser)
    parser.set_defaults(run_command=run_command)


def run_command(arguments: argparse.Namespace) -> int:
    """Print the resolved config, which is a config itself."""
    print(to_toml(load_config(arguments.config, full_keys(arguments.set))), end="")
    return 0
