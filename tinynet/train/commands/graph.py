"""``tinynet graph CONFIG``."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from tinynet import board
from tinynet.base.invocation import command
from tinynet.board.graphs.collection import Graphs
from tinynet.train.assemble.build import computing
from tinynet.train.assemble.trial import compiled_trial, trial
from tinynet.train.base.problems import TrainError, UsageError, did_you_mean, one_of
from tinynet.train.base.run_folder import new_folder
from tinynet.train.base.writing import write_text
from tinynet.train.commands.options import CONFIG, SET, argument, declare, full_keys
from tinynet.train.config.resolve import load_config
from tinynet.train.run.runner import prepare

TENSORBOARD = "tensorboard"
FORMATS = ("text", "dot", "svg", "pbtxt", TENSORBOARD)
GRAPHS = "step, forward, backward, optimizer, or what the method names (generator)"


@declare(
    "graph",
    "print the graph of one training step",
    CONFIG,
    SET,
    argument("--format", choices=FORMATS, help="default: the extension of --save, else text"),
    argument(
        "--part",
        metavar="PART",
        help=f"{GRAPHS}; default: forward; tensorboard: all of them; with --compiled: program",
    ),
    argument(
        "--compiled", action="store_true", help="the program of the captured step (run.compile)"
    ),
    argument(
        "--save",
        metavar="PATH",
        help="write to a new file instead of printing; for TensorBoard, to a new folder "
        "(default: one next to the runs of the config)",
    ),
)
def run_command(arguments: argparse.Namespace) -> int:
    """Record one training step of a copy of the model and print its graph: the operations, their
    modules, shapes and times.

    With --format tensorboard, write all graphs to a new folder for TensorBoard. (A training run
    writes them to its own folder anyway.) With --compiled, capture the step with tinynet.compile
    and print its program. Times are medians over warm steps.
    """
    form = arguments.format or _form_of(arguments.save)
    if arguments.save is not None and Path(arguments.save).exists():
        raise UsageError(f"{arguments.save} already exists")
    if form == TENSORBOARD and arguments.part is not None:
        raise UsageError(f"--format {TENSORBOARD} writes all parts: leave out --part")
    config = load_config(arguments.config, full_keys(arguments.set))
    with computing(config.run):
        parts = prepare(config)
        recording = compiled_trial(parts) if arguments.compiled else trial(parts, None)
    if recording is None:  # it has warned of the reason
        raise TrainError("there is no graph of this step")
    if form == TENSORBOARD:
        run_section = parts.config.run
        folder = arguments.save or new_folder(Path(run_section.out, run_section.name), "graph_")
        _write_events(recording, Path(folder))
        return 0
    part = arguments.part or (next(iter(recording.graphs)) if arguments.compiled else "forward")
    if part not in recording.graphs:  # such as an optimizer without operations
        hint = did_you_mean(part, recording.graphs) or ";"
        raise UsageError(f"nothing ran in {part}{hint} available: {one_of(recording.graphs)}")
    text = getattr(recording, form)(part)
    if arguments.save is None:
        print(text)
    else:
        write_text(Path(arguments.save), text)
    return 0


def _form_of(path: str | None) -> str:
    """Return the format that a file extension names."""
    ending = Path(path or "").suffix.removeprefix(".")
    return ending if ending in FORMATS else "text"


def _write_events(recording: Graphs, folder: Path) -> None:
    """Write the graphs for TensorBoard; print where they are and how to view them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", board.BoardWarning)
        with board.SummaryWriter(folder) as writer:
            recording.write(writer)
    if caught:  # training would continue, but this command has nothing else to do
        raise TrainError(str(caught[0].message).partition(". ")[0])
    names = [*recording.graphs, *(["modules"] if recording.conceptual else [])]
    print(f"graphs: {', '.join(names)}; in {folder}")
    print(f"view them: {command('board', folder)}, then the tab Graphs")
