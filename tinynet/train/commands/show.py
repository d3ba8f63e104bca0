"""``tinynet show CONFIG``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import add_config, add_set, full_keys
from tinynet.train.config.reference import to_toml
from tinynet.train.config.resolve import load_config

NAME = "show"
HELP = "print a config in full, with the origin of each value"
DESCRIPTION = """\
Check a config and print it in full: every value, including defaults, and where each came from: a
line of the file or of one of its bases, the command line, or the defaults.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_config(parser)
    add_set(parser)


def run_command(arguments: argparse.Namespace) -> int:
    """Print the resolved config, which is a config itself."""
    print(to_toml(load_config(arguments.config, full_keys(arguments.set))), end="")
    return 0
