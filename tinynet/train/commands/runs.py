"""``tinynet resume``, ``report`` and ``board``: what can be done with runs that exist."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from tinynet.base.invocation import shown
from tinynet.board import launch
from tinynet.train.assemble.build import computing
from tinynet.train.base.checkpoint_file import CheckpointError
from tinynet.train.base.files import write_text
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder, no_run, runs_in
from tinynet.train.commands.options import (
    RUN,
    SET,
    argument,
    declare,
    exit_code,
    full_keys,
    json_of,
    run_place,
)
from tinynet.train.run.processes import supervisors
from tinynet.train.run.resuming import resume
from tinynet.train.run.runner import load_run
from tinynet.train.show import plots
from tinynet.train.show.run_data import read_run
from tinynet.train.show.writing import missing, report_of
from tinynet.train.study.comparison import comparison_of
from tinynet.train.study.search import read_results


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

    The result is exactly as if the run had never stopped. To extend a complete run, use --set
    run.epochs=N. Other values may be changed, too; the changes are printed.
    """
    given = full_keys(arguments.set)
    say = {"quiet": arguments.quiet, "json": arguments.json}
    callbacks = supervisors()
    result = resume(arguments.run, given, force=arguments.force, callbacks=callbacks, **say)
    return exit_code(result)


@declare(
    "report",
    "write the report of a run, or compare several",
    argument(
        "runs",
        metavar="RUN",
        nargs="+",
        type=run_place,
        help="run folders, or folders of runs; `latest` is the last run in runs",
    ),
    argument(
        "--save",
        metavar="FILE",
        help="the page to write (default: report.html in the folder, or in the folder of all runs)",
    ),
)
def report_command(arguments: argparse.Namespace) -> int:
    """Write report.html into the folder of a run: curves, confusion matrix, examples, weights,
    graph, time and memory, config, environment and warnings, in one file for any browser.

    A run writes it when it ends; this command writes it again, also for a run that is still
    training or was killed. Of several runs, or of a folder with runs such as a sweep or search,
    write a page that compares them.
    """
    if not plots.is_available():
        raise UsageError(missing())
    given = [Path(run) for run in arguments.runs]
    folders = [*_run_folders(given)]
    is_one = folders == given and len(given) == 1
    path = Path(arguments.save) if arguments.save else _common(given) / RunFolder(Path()).report
    search = read_results(given[0]) if len(given) == 1 else None
    text = _report(RunFolder(given[0])) if is_one else comparison_of(folders, path, search)
    write_text(path, text)
    print(f"report: {shown(path)}")
    return 0


def _run_folders(given: Iterable[Path]) -> Iterable[Path]:
    """Yield the given runs, and those in other folders."""
    for path in given:
        found = [path] if RunFolder(path).record.is_file() else [*runs_in(path)]
        if not found:
            raise no_run(path, RunFolder(path).record.name)
        yield from found


def _common(given: Sequence[Path]) -> Path:
    """Return the folder that holds all the given ones; a single one itself."""
    return given[0] if len(given) == 1 else Path(os.path.commonpath([p.absolute() for p in given]))


def _report(folder: RunFolder) -> str:
    run = read_run(folder.path)  # refuses what is not a run
    if not folder.checkpoints():
        return report_of(folder, None, "It has no checkpoint yet." if run.rows else "")
    try:
        parts = load_run(folder.path).parts
    except CheckpointError:
        raise
    except TrainError as error:  # its data or its source files are gone
        return report_of(folder, None, str(error))
    with computing(parts.config.run):
        return report_of(folder, parts)


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
def board_command(arguments: argparse.Namespace) -> int:
    """Start TensorBoard on a folder of runs and print the address to open."""
    try:
        return launch(arguments.folder, port=arguments.port, host=arguments.host)
    except (FileNotFoundError, ImportError) as error:  # no such folder, no TensorBoard
        raise UsageError(str(error)) from None
