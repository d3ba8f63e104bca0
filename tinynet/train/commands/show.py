"""``tinynet show CONFIG``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import CONFIG, SET, declare, full_keys
from tinynet.train.config.reference import to_toml
from tinynet.train.config.resolve import load_config


@declare(
    "show",
    "print a config in full, with the origin of each value",
    CONFIG,
    SET,
)
def run_command(arguments: argparse.Namespace) -> int:
    """Check a config and print it in full: every value, including defaults, and where each came
    from: a line of the file or of one of its bases, the command line, or the defaults.
    """
    print(to_toml(load_config(arguments.config, full_keys(arguments.set))), end="")
    return 0
