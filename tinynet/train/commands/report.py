"""``tinynet report RUN [RUN ...]``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from tinynet.base.invocation import shown
from tinynet.train.assemble.build import computing
from tinynet.train.base.checkpoint_file import CheckpointError
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder, no_run, runs_in
from tinynet.train.base.writing import write_text
from tinynet.train.commands.options import argument, declare, run_place
from tinynet.train.run.runner import load_run
from tinynet.train.show import plots
from tinynet.train.show.run_data import read_run
from tinynet.train.show.writing import missing, report_of
from tinynet.train.study.comparison import comparison_of
from tinynet.train.study.search import read_results


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
def run_command(arguments: argparse.Namespace) -> int:
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
