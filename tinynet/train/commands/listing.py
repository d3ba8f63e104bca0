"""``tinynet list [SECTION]``."""

from __future__ import annotations

import argparse

from tinynet.base.invocation import command
from tinynet.train.base.problems import UsageError, did_you_mean, one_of
from tinynet.train.base.terminal import aligned
from tinynet.train.commands.options import argument, declare
from tinynet.train.config.reference import KINDS, list_types
from tinynet.train.metrics.registry import METRICS

_SHOWN = 4


def _kinds() -> list[str]:
    return [*KINDS, "metrics"]


@declare(
    "list",
    "list the available types",
    argument("section", metavar="SECTION", nargs="?", help=f"{one_of(_kinds())}"),
)
def run_command(arguments: argparse.Namespace) -> int:
    """List the types that a section accepts, with their arguments; without a section, list the
    sections.

    A type may also be ./file.py:Name or package.module:Name.
    """
    chosen = arguments.section
    if chosen is not None and chosen not in _kinds():
        hint = did_you_mean(chosen, _kinds())
        raise UsageError(
            f"there is no section {chosen!r}{hint or '.'} Sections: {one_of(_kinds())}"
        )
    print(list_types(chosen) if chosen else _overview())
    return 0


def _overview() -> str:
    """Return a table of the sections and their types, and how to list them."""
    rows = [("section", "types", "such as")]
    for kind in _kinds():
        names = sorted(KINDS[kind].names() if kind in KINDS else METRICS)
        more = ["..."] if len(names) > _SHOWN else []
        rows.append((kind, str(len(names)), ", ".join([*names[:_SHOWN], *more])))
    hints = [
        f"list the types of a section: {command('list', 'SECTION')}",
        f"explain a type or a key: {command('explain', 'NAME')}",
    ]
    return "\n".join([*aligned(rows), "", *hints])
