"""``tinynet report RUN [RUN ...]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinynet import numba_kernels
from tinynet.invocation import shown
from tinynet.train.checkpoint.files import CheckpointError
from tinynet.train.checkpoint.run_folder import RunFolder, write_text
from tinynet.train.config.problems import TrainError, UsageError
from tinynet.train.html_report import plots
from tinynet.train.html_report.run_data import read_run
from tinynet.train.html_report.writing import INSTALL, report_of
from tinynet.train.running.runner import load_run

NAME = "report"
HELP = "write the report of a run as a web page"
DESCRIPTION = """\
Write report.html into the folder of a run: curves, confusion matrix, examples, weights, graph, time
and memory, config, environment and warnings, in one file for any browser. A run writes it when it
ends; this command writes it again, also for a run that is still training or was killed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", help="a run folder")
    parser.add_argument(
        "--save", metavar="FILE", help="the page to write (default: report.html in the run folder)"
    )


def run_command(arguments: argparse.Namespace) -> int:
    """Write the report, and print where it is."""
    if not plots.is_available():
        raise UsageError(INSTALL)
    folder = RunFolder(Path(arguments.run))
    text = _report(folder)
    path = folder.report if arguments.save is None else Path(arguments.save)
    write_text(path, text)
    print(f"report: {shown(path)}")
    return 0


def _report(folder: RunFolder) -> str:
    run = read_run(folder.path)  # refuses what is no run
    if not folder.checkpoints():
        return report_of(folder, None, "It has no checkpoint yet." if run.rows else "")
    try:
        parts = load_run(folder.path).parts
    except CheckpointError:
        raise
    except TrainError as error:  # its data or its source files are gone
        return report_of(folder, None, str(error))
    with numba_kernels.used(parts.config.run.numba):
        return report_of(folder, parts)
