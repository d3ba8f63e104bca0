"""``tinynet board [DIR]``."""

from __future__ import annotations

import argparse

from tinynet.board import launch
from tinynet.train.base.problems import UsageError
from tinynet.train.commands.options import run_place

NAME = "board"
HELP = "view runs in TensorBoard"
DESCRIPTION = "Start TensorBoard on a folder of runs and print the address to open."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    what = "default: runs; `latest` is the last run in it"
    parser.add_argument(
        "folder", metavar="DIR", nargs="?", default="runs", type=run_place, help=what
    )
    parser.add_argument(
        "--port", type=_port, help="0 picks a free port; default: 6006, or the next free port"
    )
    parser.add_argument("--host", help="the address to listen on; default: this machine only")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def run_command(arguments: argparse.Namespace) -> int:
    """Start TensorBoard; return its exit code."""
    try:
        return launch(arguments.folder, port=arguments.port, host=arguments.host)
    except (FileNotFoundError, ImportError) as error:  # no such folder, no TensorBoard
        raise UsageError(str(error)) from None
