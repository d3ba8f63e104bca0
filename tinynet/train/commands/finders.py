"""``tinynet find-lr`` and ``find-batch-size``: two numbers that a config needs."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tinynet.base.invocation import command, shown
from tinynet.board.graphs.graph import duration, size
from tinynet.train.base.files import write_text
from tinynet.train.base.problems import UsageError
from tinynet.train.base.terminal import aligned, line_columns
from tinynet.train.commands.options import CONFIG, SET, argument, declare, full_keys, json_of
from tinynet.train.config.resolve import load_config
from tinynet.train.observe.progress import as_json
from tinynet.train.show import plots
from tinynet.train.show.writing import missing
from tinynet.train.study.batch_size import SHARE, BatchSizeSearch, Try, find_batch_size
from tinynet.train.study.curve import grid, text_plot
from tinynet.train.study.learning_rate import (
    ENDS,
    FLAT,
    HIGHEST,
    LOWEST,
    STEPS,
    RangeTest,
    advice,
    merged,
    mistakes,
    page_of,
    range_test,
    shown_top,
)

# ---- the learning rate ----


@declare(
    "find-lr",
    "find a learning rate by a range test",
    CONFIG,
    SET,
    argument(
        "--min",
        type=float,
        default=LOWEST,
        metavar="LR",
        help="the first learning rate (default: 1e-6)",
    ),
    argument(
        "--max",
        type=float,
        default=HIGHEST,
        metavar="LR",
        help="the last learning rate (default: 10)",
    ),
    argument(
        "--steps", type=int, default=STEPS, metavar="N", help="number of steps (default: 100)"
    ),
    argument(
        "--optimizer",
        metavar="NAME",
        help="of several optimizers, the one whose rate to find; the others keep theirs",
    ),
    argument(
        "--report", metavar="FILE", help="write the curve and the suggestion to a page (.html)"
    ),
    json_of("the curve and the suggestion"),
)
def find_lr_command(arguments: argparse.Namespace) -> int:
    """Train a copy of the model for some steps while the learning rate grows exponentially, until
    the loss diverges.

    Print the curve of the loss over the rate, a suggestion, and the command that trains with it.
    Only --report writes a file.
    """
    path = None if arguments.report is None else Path(arguments.report)
    extent = arguments.min, arguments.max, arguments.steps
    if problems := [*mistakes(*extent), *_mistakes_in_path(path)]:
        raise UsageError("\n".join(problems))
    given = full_keys(arguments.set)
    config = load_config(arguments.config, given)
    test = range_test(config, grid(*extent), arguments.optimizer, bar=not arguments.json)
    training = merged(given, test.settings)
    train = command("train", Path(arguments.config), *(["--set", *training] if training else []))
    if arguments.json:
        content = {**dataclasses.asdict(test), "command": train if test.suggestions else None}
        print(as_json(content))
    else:
        print(*_range_test_text(test, train), sep="\n")
    if path is not None:  # after the result, which a full disk does not take away
        write_text(path, page_of(test, config, train))
        if not arguments.json:
            print(f"report: {shown(path)}")
    return int(test.suggestions is None)


def _mistakes_in_path(path: Path | None) -> Iterator[str]:
    """Yield why a page cannot be written there."""
    if path is None:
        return
    if path.suffix not in (".html", ".htm"):  # never a config, or weights
        yield f"--report {path} must end in .html"
    if not path.absolute().parent.is_dir():
        yield f"--report {path}: there is no folder {path.parent}"
    if not plots.is_available():
        yield missing()


def _range_test_text(test: RangeTest, train: str) -> list[str]:
    """Format a range test for people.

    Args:
        test: the result.
        train: the command that trains with the suggestion.
    """
    found = test.suggestions
    marks = {"S": found.steepest, "M": found.minimum} if found else {}
    columns = line_columns(sys.stdout)
    plot = text_plot(test.rates, test.smoothed, shown_top(test), marks, columns)
    lines = [f"training loss, smoothed, over {test.key}", *plot, "", ENDS[test.ended]]
    if found is None:
        return [*lines, FLAT, *advice(test)]
    rows = [
        ("rule", test.key),
        ("steepest descent (S)", f"{test.suggestion:g}"),
        ("minimum (M) / 10", f"{found.tenth_of_minimum:.2g}"),
        ("in the config", f"{test.configured:g}"),
    ]
    suggested = f"suggested: {test.suggestion:g}, where the loss falls fastest. To train with it:"
    return [*lines, *advice(test), "", *aligned(rows), "", suggested, f"  {train}"]


# ---- the batch size ----


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
def find_batch_size_command(arguments: argparse.Namespace) -> int:
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
