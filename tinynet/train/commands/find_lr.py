"""``tinynet find-lr CONFIG``."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

from tinynet.base.invocation import command, shown
from tinynet.train.base.problems import UsageError
from tinynet.train.base.terminal import aligned, line_columns
from tinynet.train.base.writing import write_text
from tinynet.train.commands.options import CONFIG, SET, argument, declare, full_keys, json_of
from tinynet.train.config.resolve import load_config
from tinynet.train.observe.progress import as_json
from tinynet.train.show import plots
from tinynet.train.show.writing import missing
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
def run_command(arguments: argparse.Namespace) -> int:
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
        print(*text_of(test, train), sep="\n")
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


def text_of(test: RangeTest, train: str) -> list[str]:
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
