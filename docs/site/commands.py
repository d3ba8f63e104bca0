"""The reference of the command line, from the parsers themselves."""

import argparse
import re

from docs.site.text import cell, fenced, plain, table
from tinynet.train.cli import build_parser


def part() -> str:
    """All commands."""
    whole = build_parser()
    (subparsers,) = (a for a in whole._actions if isinstance(a, argparse._SubParsersAction))
    commands = [command(name, of) for name, of in subparsers.choices.items()]
    epilog = re.sub(r"\n(?=exit codes)", "\n", whole.epilog or "")
    return "\n\n".join([*commands, "## Examples and exit codes", fenced(epilog, "text")])


def command(name: str, of: argparse.ArgumentParser) -> str:
    """One command: how it is called, what it does, what it takes."""
    of.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=76)
    usage = re.sub(r"\x1b\[[\d;]*m", "", of.format_usage()).removeprefix("usage: ")
    rows = [row(action) for action in of._actions if action.help != argparse.SUPPRESS]
    parts = [f"## {name}", fenced(usage, "text"), plain(of.description or "").strip()]
    return "\n\n".join([*parts, table(["argument", "meaning"], rows)])


def row(action: argparse.Action) -> list[str]:
    """One argument."""
    value = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    names = [f"`{name} {value}`".replace(" `", "`") for name in action.option_strings]
    says = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return [", ".join(names) or f"`{value}`", cell(says)]
