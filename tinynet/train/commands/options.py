"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tinynet.train.base.run_folder import RunFolder, latest_run
from tinynet.train.config.sections import RunSection, settings
from tinynet.train.prediction.answers import Writing
from tinynet.train.run.result import Result

LATEST = "latest"


def run_place(text: str) -> str:
    """Return the path that an argument names: ``latest`` is the last run in ``runs``.

    So is ``DIR/latest`` that in another folder of runs, such as that of one config.
    """
    path = Path(text)
    if path.name != LATEST or path.exists():
        return text
    return str(latest_run(path.parent if len(path.parts) > 1 else "runs"))


def config_place(text: str) -> str:
    """Return the path of a config; that of a run if the argument names one."""
    folder = RunFolder(Path(run_place(text)))
    return str(folder.config) if folder.record.is_file() else text


def add_config(parser: argparse.ArgumentParser, nargs: Literal["?"] | None = None) -> None:
    """Add CONFIG, which may be left out with ``nargs="?"``."""
    what = f"the TOML file; a run folder stands for its config, `{LATEST}` for that of the last run"
    parser.add_argument("config", metavar="CONFIG", nargs=nargs, type=config_place, help=what)


def add_run(parser: argparse.ArgumentParser, what: str = "a run folder") -> None:
    """Add RUN."""
    what = f"{what}; `{LATEST}` is the last run in runs, DIR/{LATEST} that in another folder"
    parser.add_argument("run", metavar="RUN", type=run_place, help=what)


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
    add_run(parser, "a run folder, or a checkpoint in one")
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
