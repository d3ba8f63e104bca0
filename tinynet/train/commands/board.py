"""``tinynet board [DIR]``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import util
from pathlib import Path

from tinynet.train.commands.options import Commands
from tinynet.train.problems import UsageError


def add(commands: Commands) -> None:
    """Tell argparse what the command takes."""
    parser = commands.add_parser(
        "board",
        help="look at runs in TensorBoard",
        description="Start TensorBoard on a folder of runs, and print the address to open.",
    )
    parser.add_argument("folder", metavar="DIR", nargs="?", default="runs", help="default: runs")
    parser.add_argument("--port", type=int, default=6006, help="default: 6006; 0 takes a free one")
    parser.set_defaults(run_command=run)


def run(arguments: argparse.Namespace) -> int:
    """TensorBoard's own exit code."""
    if not Path(arguments.folder).is_dir():
        raise UsageError(f"there is no folder {arguments.folder}")
    if util.find_spec("tensorboard") is None:
        raise UsageError("TensorBoard is not installed: pip install tensorboard")
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", arguments.folder]
    return subprocess.call([*command, "--port", str(arguments.port)])
