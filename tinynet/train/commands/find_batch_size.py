"""``tinynet find-batch-size CONFIG``."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from tinynet.base.invocation import command
from tinynet.board.graphs.formats import duration, size
from tinynet.train.commands.options import CONFIG, SET, argument, declare, full_keys, json_of
from tinynet.train.observe.progress import as_json
from tinynet.train.study.batch_size import SHARE, BatchSizeSearch, Try, find_batch_size
from tinynet.train.study.learning_rate import merged

_WIDTHS = (10, 10, 16)


@declare(
    "find-batch-size",
    "find the largest batch size that fits into the memory",
    CONFIG,
    SET,
    argument(
        "--memory",
        metavar="SIZE",
        help="the memory of the whole process, such as 2GB or 512MiB (default: 90 %% of what the "
        "machine or its container has available now)",
    ),
    json_of("the findings"),
)
def run_command(arguments: argparse.Namespace) -> int:
    """Try batch sizes, each for a few training steps in a process of its own, and print their peak
    memory and their time per example; then the largest size that fits, and the command that
    trains with it.

    The size is doubled until it does not fit or is the whole training set; then the interval is
    halved until it is a sixteenth of the size. Nothing is written.
    """
    given = full_keys(arguments.set)
    table = None if arguments.json else _Table()
    each = table.print_row if table else None
    found = find_batch_size(arguments.config, given, memory=arguments.memory, each=each)
    training = merged(given, found.settings)
    words = [Path(arguments.config), "--set", *training]
    if arguments.json:
        train = command("train", *words) if found.suggestion else None
        print(as_json({**dataclasses.asdict(found), "command": train}))
    else:
        print(*_conclusion(found, words), sep="\n")
    return int(found.suggestion is None)


class _Table:
    """A table whose rows are printed one by one, because each takes its time."""

    def __init__(self) -> None:
        self._has_header = False

    def print_row(self, done: Try) -> None:
        """Print a try."""
        if not self._has_header:
            self._has_header = True
            print(_row("batch size", "memory", "time per example"), flush=True)
        memory = "" if done.peak_bytes is None else size(done.peak_bytes)
        seconds = done.example_seconds
        time = "" if seconds is None else duration(1e9 * seconds)
        print(_row(f"{done.batch_size:,}", memory, time, fits=done.fits), flush=True)


def _row(*cells: str, fits: bool = True) -> str:
    text = "  ".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True))
    return text if fits else f"{text}  does not fit"


def _conclusion(found: BatchSizeSearch, words: Sequence[object]) -> list[str]:
    """Return the lines below the table."""
    whose = f"{100 * SHARE:.0f} % of what is available" if found.available else "as given"
    lines = ["", f"memory: {size(found.memory)}, {whose}"]
    if found.before_bytes is not None:
        lines.append(f"before the first step: {size(found.before_bytes)}")
    if found.suggestion is None:
        return [*lines, "Not even a batch of one example fits."]
    whole = ", the whole training set" if found.suggestion == found.examples else ""
    return [
        *lines,
        f"suggested batch size: {found.suggestion:,}, the largest that fits{whole}",
        "to train with it:",
        f"  {command('train', *words)}",
        "a learning rate belongs to its batch size; to find one:",
        f"  {command('find-lr', *words)}",
    ]
