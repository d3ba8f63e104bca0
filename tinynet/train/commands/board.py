"""``tinynet board [DIR]``."""

from __future__ import annotations

import argparse

from tinynet.board import launch
from tinynet.train.base.problems import UsageError
from tinynet.train.commands.options import argument, declare, run_place


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


@declare(
    "board",
    "view runs in TensorBoard",
    argument(
        "folder",
        metavar="DIR",
        nargs="?",
        default="runs",
        type=run_place,
        help="default: runs; `latest` is the last run in it",
    ),
    argument(
        "--port", type=_port, help="0 picks a free port; default: 6006, or the next free port"
    ),
    argument("--host", help="the address to listen on; default: this machine only"),
)
def run_command(arguments: argparse.Namespace) -> int:
    """Start TensorBoard on a folder of runs and print the address to open."""
    try:
        return launch(arguments.folder, port=arguments.port, host=arguments.host)
    except (FileNotFoundError, ImportError) as error:  # no such folder, no TensorBoard
        raise UsageError(str(error)) from None
