"""``tinynet new FOLDER``."""

from __future__ import annotations

import argparse
from importlib import resources
from pathlib import Path

from tinynet.invocation import command, shown
from tinynet.train.checkpoint.writing import make_folder, write_text
from tinynet.train.config.problems import UsageError

NAME = "new"
HELP = "write a project to start from"
DESCRIPTION = """\
Write a project to start from into a new folder: a config, a model, a data set and a metric of your
own, and a README. It trains as it is.
"""
FILES = ("config.toml", "data.py", "model.py", "metric.py", "README.md")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="a new folder, or an empty one")


def run_command(arguments: argparse.Namespace) -> int:
    """Write the files, and print the command that trains."""
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
        write_text(folder / name, template.read_text(encoding="utf-8"))
