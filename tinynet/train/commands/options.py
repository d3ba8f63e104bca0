"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tinynet.train.config.sections import RunSection, settings
from tinynet.train.prediction.language import Writing
from tinynet.train.running.result import Result


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add CONFIG and ``--set``."""
    parser.add_argument("config", metavar="CONFIG", help="the TOML file")
    add_set(parser)


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add ``--set``."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a value of the file, such as optimizer.lr=3e-4; may be repeated or take "
        "several KEY=VALUE; keys of [run] need no section: seed=1",
    )


def add_out(parser: argparse.ArgumentParser) -> None:
    """Add ``--out``."""
    parser.add_argument(
        "--out", metavar="DIR", help="the folder that holds the run folders (default: runs)"
    )


def add_trained(parser: argparse.ArgumentParser) -> None:
    """Add RUN and ``--best``."""
    parser.add_argument("run", metavar="RUN", help="a run folder, or a checkpoint in one")
    parser.add_argument(
        "--best", action="store_true", help="use the best weights instead of the last"
    )


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def add_writing(parser: argparse.ArgumentParser) -> None:
    """Add the options of a text that a language model writes."""
    writing = parser.add_argument_group("for language models")
    writing.add_argument("--prompt", metavar="TEXT", help="the text to continue")
    writing.add_argument(
        "--length",
        type=int,
        default=300,
        metavar="N",
        help="number of tokens to generate (default: 300)",
    )
    writing.add_argument(
        "--temperature",
        type=float,
        default=0.8,
        metavar="T",
        help="values below 1 favor likely tokens; 0 always picks the likeliest (default: 0.8)",
    )
    writing.add_argument("--top-k", type=int, metavar="K", help="sample from the K likeliest only")
    parser.add_argument("--seed", type=int, default=0, help="the seed for sampling (default: 0)")


def writing_of(arguments: argparse.Namespace) -> Writing:
    """Return the options that `add_writing` declared."""
    given = arguments.length, arguments.temperature, arguments.top_k, arguments.seed
    return Writing(*given)


def full_keys(assignments: Sequence[str]) -> list[str]:
    """Put the section before keys of ``[run]`` that were given without it.

    Example:
        >>> full_keys(["seed=1", "optimizer.lr=0.1", "x"])
        ['run.seed=1', 'optimizer.lr=0.1', 'x']
    """
    own = settings(RunSection)
    return [f"run.{a}" if "=" in a and a.partition("=")[0] in own else a for a in assignments]


def exit_code(result: Result) -> int:
    """Return 0, or 128 + the number of the signal that stopped the run."""
    return 0 if isinstance(result.stopped_by, str | None) else 128 + result.stopped_by
