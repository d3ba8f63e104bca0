"""Declaring a command; the options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinynet.train import prediction
from tinynet.train.base.problems import UsageError
from tinynet.train.base.run_folder import RunFolder, latest_run
from tinynet.train.config.sections import RunSection, settings
from tinynet.train.run.measures import Result

# ---- declaring ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """An argument of a command."""

    names: tuple[str, ...]
    """``("config",)``; ``("--jobs",)``."""

    options: Mapping[str, Any]
    """The keywords of `argparse.ArgumentParser.add_argument`."""

    group: str = ""
    """The heading in the help under which it stands; empty for the usual one."""

    at_least: int | None = None
    """The smallest number that it takes."""

    @property
    def key(self) -> str:
        """Its name among the parsed arguments."""
        return self.names[-1].lstrip("-").replace("-", "_")


def argument(*names: str, group: str = "", at_least: int | None = None, **options: Any) -> Argument:
    """Declare an argument, with the options of `argparse.ArgumentParser.add_argument`."""
    return Argument(names, options, group, at_least)


@dataclass(frozen=True)
class Command:
    """A command of ``tinynet``, which `declare` makes of a function."""

    name: str
    help: str
    """What it does, in a few words."""

    arguments: Sequence[Argument]
    function: Callable[[argparse.Namespace], int]
    """Runs the command and returns the exit code. Its docstring is the description in the help."""

    trains: bool
    """Whether it must finish even if its output is closed."""

    shares_work: Callable[[argparse.Namespace], bool]
    """Returns whether all processes of ``mpirun`` take part, or the first one alone."""

    @property
    def description(self) -> str:
        """The text of its help."""
        return " ".join((self.function.__doc__ or "").split())

    @property
    def takes_values(self) -> bool:
        """Whether ``--set`` takes values of a config, which may also stand without an option."""
        return any(one.key == "set" and "choices" not in one.options for one in self.arguments)

    def add_to(self, parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
        """Add the arguments to a parser, and return it."""
        groups: dict[str, Any] = {"": parser}
        for one in self.arguments:
            if one.group not in groups:
                groups[one.group] = parser.add_argument_group(one.group)
            groups[one.group].add_argument(*one.names, **one.options)
        parser.set_defaults(declared=self)
        return parser

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Run the command, and return the exit code.

        Raises:
            UsageError: if a number is too small.
        """
        for one in self.arguments:
            value = getattr(arguments, one.key)
            if one.at_least is not None and value is not None and value < one.at_least:
                raise UsageError(f"{one.names[-1]} must be at least {one.at_least}, got {value}")
        return self.function(arguments)


def declare(
    name: str,
    help: str,
    *arguments: Argument,
    trains: bool = False,
    shares_work: Callable[[argparse.Namespace], bool] = lambda arguments: False,
) -> Callable[[Callable[[argparse.Namespace], int]], Command]:
    """Declare a function as a command, which gets the parsed arguments; see `Command`."""
    return lambda function: Command(name, help, arguments, function, trains, shares_work)


# ---- shared options -----------------------------------------------------------------------------


LATEST = "latest"
_TEXTS = "for language models"
_CONFIG = f"the TOML file; a run folder stands for its config, `{LATEST}` for that of the last run"


def run_place(text: str) -> str:
    """Return the path that an argument names: ``latest`` is the last run in ``runs``.

    So is ``DIR/latest``, in another folder of runs, such as the folder of one config.
    """
    path = Path(text)
    if path.name != LATEST or path.exists():
        return text
    return str(latest_run(path.parent if len(path.parts) > 1 else "runs"))


def config_place(text: str) -> str:
    """Return the path of a config: the run's, if the argument names a run."""
    folder = RunFolder(Path(run_place(text)))
    return str(folder.config) if folder.record.is_file() else text


def _run(what: str) -> Argument:
    """Return RUN, the folder of a run."""
    what = f"{what}; `{LATEST}` is the last run in runs, DIR/{LATEST} that in another folder"
    return argument("run", metavar="RUN", type=run_place, help=what)


def json_of(what: str) -> Argument:
    """Return ``--json``, which prints something as JSON."""
    return argument("--json", action="store_true", help=f"print {what} as JSON")


CONFIG = argument("config", metavar="CONFIG", type=config_place, help=_CONFIG)
OPTIONAL_CONFIG = argument("config", metavar="CONFIG", nargs="?", type=config_place, help=_CONFIG)
RUN = _run("a run folder")
TRAINED = (
    _run("a run folder, or a checkpoint in one"),
    argument("--best", action="store_true", help="use the best weights instead of the last"),
)
SET = argument(
    "--set",
    action="append",
    default=[],
    metavar="KEY=VALUE",
    help="override a value of the file, such as optimizer.lr=3e-4; may be repeated or take "
    "several KEY=VALUE; keys of [run] need no section: seed=1",
)
OUT = argument("--out", metavar="DIR", help="the folder that holds the run folders (default: runs)")
WRITING = (
    argument("--prompt", metavar="TEXT", group=_TEXTS, help="the text to continue"),
    argument(
        "--length",
        type=int,
        default=300,
        metavar="N",
        group=_TEXTS,
        help="number of tokens to generate (default: 300)",
    ),
    argument(
        "--temperature",
        type=float,
        default=0.8,
        metavar="T",
        group=_TEXTS,
        help="values below 1 favor likely tokens; 0 always picks the likeliest (default: 0.8)",
    ),
    argument(
        "--top-k",
        type=int,
        metavar="K",
        group=_TEXTS,
        help="sample from the K likeliest only",
    ),
    argument("--seed", type=int, default=0, help="the seed for sampling (default: 0)"),
)
"""The options of a text that a language model writes."""


def writing_of(arguments: argparse.Namespace) -> prediction.Writing:
    """Return the options of `WRITING`."""
    given = arguments.length, arguments.temperature, arguments.top_k, arguments.seed
    return prediction.Writing(*given)


def jobs(what: str) -> Argument:
    """Return the option for the number of runs, or trials, at once."""
    text = f"number of {what} at once (default: 1)"
    return argument("--jobs", type=int, default=1, at_least=1, metavar="N", help=text)


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
