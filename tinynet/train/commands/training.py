"""``tinynet new``, ``train`` and ``eval``: write a project, train its model, measure it again."""

from __future__ import annotations

import argparse
import json
import os
import re
from importlib import resources
from pathlib import Path

from tinynet.base.invocation import command, shown
from tinynet.base.invocation.commands import quoted
from tinynet.train.base.files import make_folder, write_text
from tinynet.train.base.problems import UsageError
from tinynet.train.commands.options import (
    CONFIG,
    OUT,
    SET,
    TRAINED,
    argument,
    declare,
    exit_code,
    full_keys,
    json_of,
    run_place,
)
from tinynet.train.metrics.criterion import SETS
from tinynet.train.run.processes import supervisors
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
