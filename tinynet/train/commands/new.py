"""``tinynet new FOLDER``."""

from __future__ import annotations

import argparse
import json
import os
import re
from importlib import resources
from pathlib import Path

from tinynet.base.invocation import command, shown
from tinynet.base.invocation.quoting import quoted
from tinynet.train.base.problems import UsageError
from tinynet.train.base.writing import make_folder, write_text
from tinynet.train.commands.options import argument, declare

FILES = ("config.toml", "data.py", "model.py", "metric.py", "README.md")


@declare(
    "new",
    "write a project to start from",
    argument("folder", metavar="FOLDER", type=Path, help="a new folder, or an empty one"),
)
def run_command(arguments: argparse.Namespace) -> int:
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
