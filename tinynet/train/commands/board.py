"""``tinynet board [DIR]``."""

from __future__ import annotations

import argparse

from tinynet.board import launch
from tinynet.train.commands.options import Commands
from tinynet.train.config.problems import UsageError


def add(commands: Commands) -> None:
    """Tell argparse what the command takes."""
    parser = commands.add_parser(
        "board",
        help="look at runs in TensorBoard",
        description="Start TensorBoard on a folder of runs, and print the address to open.",
    )
    parser.add_argument("folder", metavar="DIR", nargs="?", default="runs", help="default: runs")
    parser.add_argument(
        "--port", type=_port, help="0 takes a free one; default: 6006, or the next one that is free"
    )
    parser.add_argument("--host", help="the address it listens at; default: only this machine")
    parser.set_defaults(run_command=run)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 0 to 65535")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """TensorBoard's own exit code."""
    try:
        return launch(arguments.folder, port=arguments.port, host=arguments.host)
    except (FileNotFoundError, ImportError) as error:  # no such folder, no TensorBoard
        raise UsageError(str(error)) from None
