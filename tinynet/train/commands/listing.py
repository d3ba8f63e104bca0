"""``tinynet list [SECTION]``."""

from __future__ import annotations

import argparse

from tinynet.train.commands.options import Commands
from tinynet.train.problems import UsageError, did_you_mean, one_of
from tinynet.train.reference import KINDS, list_types


def add(commands: Commands) -> None:
    """Tell argparse what the command takes."""
    parser = commands.add_parser(
        "list",
        help="list what a type can be",
        description="List the types that a section can name, with what they take; "
        "without a section, those of all. "
        "Beside them, any type may be ./file.py:Name or package.module:Name.",
    )
    parser.add_argument("section", metavar="SECTION", nargs="?", help=f"{one_of(_kinds())}")
    parser.set_defaults(run_command=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    chosen = arguments.section
    if chosen is not None and chosen not in _kinds():
        hint = did_you_mean(chosen, _kinds())
        raise UsageError(
            f"there is no list of {chosen!r}{hint or '.'} There are: {one_of(_kinds())}"
        )
    for kind in [chosen] if chosen else _kinds():
        if not chosen:
            print(f"\n==== {kind} ====\n")
        print(list_types(kind))
    return 0


def _kinds() -> list[str]:
    return [*KINDS, "metrics"]
