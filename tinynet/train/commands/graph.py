"""``tinynet graph CONFIG``."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinynet.train.build import trial
from tinynet.train.commands.options import Commands, add_config, full_keys
from tinynet.train.folder import write_text
from tinynet.train.problems import UsageError
from tinynet.train.recording import recorded
from tinynet.train.resolve import load_config
from tinynet.train.runner import prepare

_DESCRIPTION = """\
Record one step of training with a copy of the model, and print its graph: what ran, in which
module, with shapes and times. For TensorBoard nothing needs to be done: a run has its graphs.
"""
FORMATS = ("text", "dot", "svg", "pbtxt")
GRAPHS = ("step", "forward", "backward", "optimizer")


def add(commands: Commands) -> None:
    """Tell argparse what the command takes."""
    parser = commands.add_parser(
        "graph", help="print the graph of one step of training", description=_DESCRIPTION
    )
    add_config(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument("--part", choices=GRAPHS, default="forward", help="default: forward")
    parser.add_argument("--save", metavar="FILE", help="write it to a new file; do not print it")
    parser.set_defaults(run_command=run)


def run(arguments: argparse.Namespace) -> int:
    """Print or write the graph."""
    if arguments.save is not None and Path(arguments.save).exists():
        raise UsageError(f"{arguments.save} is there already")
    parts = prepare(load_config(arguments.config, full_keys(arguments.set)))
    trial(parts)
    recording = recorded(parts)
    if arguments.part not in recording.graphs:  # an optimizer without operations of its own, say
        raise UsageError(f"nothing ran in {arguments.part}; there is: {[*recording.graphs]}")
    text = getattr(recording, arguments.format)(arguments.part)
    if arguments.save is None:
        print(text)
    else:
        write_text(Path(arguments.save), text)
    return 0
