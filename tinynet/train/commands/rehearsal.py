"""``tinynet test-run CONFIG``."""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
import time
from collections.abc import Callable
from typing import Any

from tinynet.train.base.problems import ConfigError, TrainError, in_users_code
from tinynet.train.commands.options import CONFIG, SET, Command, argument, declare, full_keys
from tinynet.train.commands.predict import predict_command
from tinynet.train.commands.runs import report_command
from tinynet.train.commands.training import eval_command
from tinynet.train.config.resolve import load_config
from tinynet.train.config.sections import Config
from tinynet.train.run.resuming import resume
from tinynet.train.run.runner import run


@declare(
    "test-run",
    "try everything that a run does, with one batch",
    CONFIG,
    SET,
    argument(
        "--batches",
        type=int,
        default=1,
        at_least=1,
        metavar="N",
        help="the number of batches (default: 1)",
    ),
    trains=True,
)
def test_run_command(arguments: argparse.Namespace) -> int:
    """Do everything that a run does, each with one batch: train, evaluate, write a checkpoint and
    the report, resume, evaluate again, predict.

    Print a line per step; a line names what fails, and the exit code is 1. It all happens in a
    temporary folder, without trackers.
    """
    given = full_keys(arguments.set)
    config = load_config(arguments.config, given)
    with tempfile.TemporaryDirectory(prefix="tinynet-test-run-") as folder:
        given += _short(config, arguments.batches, folder)
        return _steps(arguments.config, given)


def _short(config: Config, batches: int, folder: str) -> list[str]:
    """Return the overrides for one epoch of a number of steps, in a temporary folder."""
    part = "limit" if config.run.overfit_batches is None else "overfit"
    return [
        "run.epochs=1",
        f"run.{part}_batches={batches * config.optimizer.accumulate}",
        f"evaluation.limit_batches={batches}",
        f"run.out={folder}",
        "run.name=test-run",
        "run.trackers=[]",
        "run.report=true",
        *(["run.max_steps=1000000000"] if config.run.max_steps else []),
        *(["run.max_time=999d"] if config.run.max_time else []),
    ]


def _steps(path: str, given: list[str]) -> int:
    """Take the steps of a test run; return the exit code."""
    folder = _attempt("train and evaluate", lambda: run(path, given, quiet=True).folder)
    if folder is None:
        return 1
    steps: dict[str, Callable[[], Any]] = {
        "resume from the checkpoint": lambda: resume(folder, {"run.epochs": 2}, quiet=True),
        "evaluate the checkpoint": lambda: _first_line(eval_command, str(folder)),
        "predict": lambda: _first_line(predict_command, str(folder), "--count", "1"),
        "write the report": lambda: bool(_first_line(report_command, str(folder))),
    }
    failed = [name for name, step in steps.items() if _attempt(name, step) is None]
    print(f"failed: {', '.join(failed)}" if failed else "everything works; nothing was kept")
    return int(bool(failed))


def _attempt(name: str, step: Callable[[], Any]) -> Any:
    """Take a step and print its line; return its result, or None if it failed."""
    began = time.monotonic()
    try:
        result = step()
    except ConfigError:  # all mistakes, with their lines
        raise
    except Exception as error:
        print(f"failed  {name}: {_in_a_line(error)}", flush=True)
        return None
    shown = f": {result}" if isinstance(result, str) else ""
    print(f"ok      {name} ({time.monotonic() - began:.1f} s){shown}", flush=True)
    return result


def _first_line(command: Command, *words: str) -> str:
    """Run a command of this program; return the first line of its output.

    Raises:
        TrainError: if its exit code is not 0.
    """
    parser = command.add_to(argparse.ArgumentParser())
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = command(parser.parse_args(words))
    lines = output.getvalue().splitlines() or [""]
    if code:
        raise TrainError(lines[0])
    return lines[0]


def _in_a_line(error: Exception) -> str:
    """Return an error with its cause and the last place in the user's code, in one line."""
    text = str(error) if isinstance(error, TrainError) else in_users_code(error)
    lines = [line.strip() for line in text.splitlines()] or [type(error).__name__]
    places = [line for line in lines if line.startswith("File ")]
    whole = [line for line in dict.fromkeys((lines[0], lines[-1])) if line not in places]
    return ": ".join(whole) + "".join(f" ({place})" for place in places[-1:])
