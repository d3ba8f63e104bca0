"""Options that several commands have, and the grammar of what follows them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tinynet.train.config.sections import RunSection, settings
from tinynet.train.running.training import Result

Commands = Any
"""What ``ArgumentParser.add_subparsers`` returns; argparse has no public name for it."""


def add_config(parser: argparse.ArgumentParser) -> None:
    """CONFIG and ``--set``."""
    parser.add_argument("config", metavar="CONFIG", help="the TOML file")
    add_set(parser)


def add_set(parser: argparse.ArgumentParser) -> None:
    """``--set``."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="put a value in place of the file's, such as optimizer.lr=3e-4; may be repeated, "
        "and more KEY=VALUE may follow; keys of [run] may stand alone: seed=1",
    )


def add_out(parser: argparse.ArgumentParser) -> None:
    """``--out``."""
    parser.add_argument(
        "--out", metavar="DIR", help="the folder for the folders of runs (default: runs)"
    )


def add_trained(parser: argparse.ArgumentParser) -> None:
    """RUN and ``--best``."""
    parser.add_argument("run", metavar="RUN", help="a run folder, or a checkpoint in one")
    parser.add_argument(
        "--best", action="store_true", help="the weights of the best measurement, not the last"
    )


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON, for programs")


def full_keys(assignments: Sequence[str]) -> list[str]:
    """Assignments with the section before keys of ``[run]`` that stand alone.

    Example:
        >>> full_keys(["seed=1", "optimizer.lr=0.1", "x"])
        ['run.seed=1', 'optimizer.lr=0.1', 'x']
    """
    own = settings(RunSection)
    return [f"run.{a}" if "=" in a and a.partition("=")[0] in own else a for a in assignments]


def exit_code(result: Result) -> int:
    """0, or 128 + the number of the signal that stopped the run."""
    return 0 if isinstance(result.stopped_by, str | None) else 128 + result.stopped_by
