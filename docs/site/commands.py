"""The command-line reference, from the argument parsers."""

import argparse
import re

from docs.site.text import cell, fenced, plain, table
from tinynet.train.cli import build_parser


def part() -> str:
    """Return the reference of all commands."""
    whole = build_parser()
    (subparsers,) = (a for a in whole._actions if isinstance(a, argparse._SubParsersAction))
    commands = [command(name, of) for name, of in subparsers.choices.items()]
    epilog = re.sub(r"\n(?=exit codes)", "\n", whole.epilog or "")
    return "\n\n".join([*commands, "## Examples and exit codes", fenced(epilog, "text")])


def command(name: str, of: argparse.ArgumentParser) -> str:
    """Return usage, description and arguments of a command."""
    of.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=76)
    usage = re.sub(r"\x1b\[[\d;]*m", "", of.format_usage()).removeprefix("usage: ")
    rows = [row(action) for action in of._actions if action.help != argparse.SUPPRESS]
    parts = [f"## {name}", fenced(usage, "text"), plain(of.description or "").strip()]
    return "\n\n".join([*parts, table(["argument", "meaning"], rows)])


def row(action: argparse.Action) -> list[str]:
    """Return the table row of an argument."""
    value = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    names = [f"`{name} {value}`".replace(" `", "`") for name in action.option_strings]
    meaning = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return [", ".join(names) or f"`{value}`", cell(meaning)]
