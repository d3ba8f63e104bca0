"""The commands of one run: ``new``, ``train``, ``resume``, ``eval``, ``test-run``."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import tempfile
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from tinynet.base.invocation import command, shown
from tinynet.base.invocation.quoting import quoted
from tinynet.train.base.problems import ConfigError, TrainError, UsageError, in_users_code
from tinynet.train.base.writing import make_folder, write_text
from tinynet.train.commands.inference import predict_command
from tinynet.train.commands.options import (
    CONFIG,
    OUT,
    RUN,
    SET,
    TRAINED,
    Command,
    argument,
    declare,
    exit_code,
    full_keys,
    json_of,
    run_place,
)
from tinynet.train.commands.reports import report_command
from tinynet.train.config.resolve import load_config
from tinynet.train.config.sections import Config
from tinynet.train.metrics.criterion import SETS
from tinynet.train.run.processes import supervisors
from tinynet.train.run.resuming import resume
from tinynet.train.run.runner import evaluate_run, run

FILES = ("config.toml", "data.py", "model.py", "metric.py", "README.md")


@declare(
    "new",
    "write a project to start from",
    argument("folder", metavar="FOLDER", type=Path, help="a new folder, or an empty one"),
)
def new_command(arguments: argparse.Namespace) -> int:
    """Write a project to start from into a new folder: a config, a model, a data set and a metric
    of your own, and a README.

    It trains as it is.
    """
    folder: Path = arguments.folder
    write_project(folder)
    print(f"wrote {', '.join(FILES[:-1])} and {FILES[-1]} to {shown(folder)}")
    print(f"train it: {command('train', folder / FILES[0])}")
    return 0


def write_project(folder: Path) -> None:
    """Write the files of a new project.

    Raises:
        UsageError: if the folder has files, or is a file.
        TrainError: if it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise UsageError(f"{shown(folder)} {what}: name a new folder; nothing was written")
    make_folder(folder)
    for name in FILES:
        template = resources.files("tinynet.train") / "project" / name
        text = template.read_text(encoding="utf-8")
        text = text.replace('name = "project"', f"name = {json.dumps(folder.resolve().name)}")
        text = re.sub("(?<=   |..`)tinynet ", lambda _: f"{_inside(folder)} ", text)
        write_text(folder / name, text)


def _inside(folder: Path) -> str:
    """Return what starts tinynet, as typed in a folder: ``python3 ../run.py``."""

    def moved(word: str) -> str:
        is_here = not os.path.isabs(word) and Path(word).is_file()
        return quoted(os.path.relpath(word, folder)) if is_here else word

    return " ".join(map(moved, command().split(" ")))


@declare(
    "train",
    "train the model of a config file",
    CONFIG,
    SET,
    OUT,
    argument(
        "--init-from",
        metavar="RUN",
        type=run_place,
        help="start from the weights of a run (`latest` is the last one); everything else starts "
        "from scratch",
    ),
    json_of("one object per epoch and one at the end"),
    argument("--quiet", action="store_true", help="print nothing but errors"),
    trains=True,
    shares_work=lambda arguments: True,
)
def train_command(arguments: argparse.Namespace) -> int:
    """Train the model that a TOML file describes.

    A progress bar shows how far it is; if the output is not a terminal, there is one line per
    epoch. The results go to a new folder, runs/<config name>/<date and time>: the full config,
    checkpoints, the metrics of each epoch, and curves and graphs for TensorBoard.
    """
    given = full_keys(arguments.set)
    if arguments.init_from is not None:
        given.append(f"run.init_from={Path(arguments.init_from).absolute()}")
    result = run(
        arguments.config,
        given,
        out=arguments.out,
        quiet=arguments.quiet,
        json=arguments.json,
        callbacks=supervisors(),
    )
    return exit_code(result)


@declare(
    "resume",
    "resume a run that was stopped or killed",
    RUN,
    SET,
    json_of("one object per epoch and one at the end"),
    argument(
        "--force",
        action="store_true",
        help="resume even if source files or the data have changed since the run began",
    ),
    argument("--quiet", action="store_true", help="print nothing but errors"),
    trains=True,
    shares_work=lambda arguments: True,
)
def resume_command(arguments: argparse.Namespace) -> int:
    """Resume a run that was stopped (Ctrl-C, SIGTERM) or killed, in its folder.

    The result is exactly that of a run that was never stopped. To extend a complete run, use --set
    run.epochs=N. Other values may be changed, too; the changes are printed.
    """
    given = full_keys(arguments.set)
    say = {"quiet": arguments.quiet, "json": arguments.json}
    callbacks = supervisors()
    result = resume(arguments.run, given, force=arguments.force, callbacks=callbacks, **say)
    return exit_code(result)


@declare(
    "eval",
    "evaluate the model of a run again",
    *TRAINED,
    argument("--set", choices=[*SETS], default="test", help="the data set (default: test)"),
    json_of("the metrics"),
)
def eval_command(arguments: argparse.Namespace) -> int:
    """Load the checkpoint of a run and evaluate its model on the test set of its config, or on its
    validation or training set.
    """
    own = {"best": arguments.best, "on": arguments.set, "json": arguments.json}
    evaluate_run(arguments.run, **own)
    return 0


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
