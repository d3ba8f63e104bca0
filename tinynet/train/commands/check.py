"""``tinynet check CONFIG``."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import math

from tinynet.train.build.dry_run import Checkup, ModuleRow, examine
from tinynet.train.commands.options import add_config, add_json, full_keys
from tinynet.train.config.resolve import load_config
from tinynet.train.report.progress import as_json
from tinynet.train.report.table import aligned
from tinynet.train.running.runner import prepare

NAME = "check"
HELP = "try out a config without writing anything"
DESCRIPTION = """\
Build everything that a config describes and run a few steps on a copy of the model. Print a table
of its modules (shape of the output, parameters, multiply-adds and memory of a batch), the memory of
training, and an estimate of its time. Nothing is written.
"""
_MOST_ROWS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_config(parser)
    add_json(parser, "the findings")


def run_command(arguments: argparse.Namespace) -> int:
    """Print the findings."""
    config = load_config(arguments.config, full_keys(arguments.set))
    found = examine(prepare(config))
    print(as_json(dataclasses.asdict(found)) if arguments.json else text_of(found))
    return 0


def text_of(found: Checkup) -> str:
    """Format the findings for people."""
    rows = [_cells(row) for row in found.modules]
    left = len(rows) - _MOST_ROWS
    header = ("module", "type", "output", "parameters", "multiply-adds", "memory")
    table = aligned([header, *rows[:_MOST_ROWS]])
    lines = [
        f"data: {found.train_examples:,} examples for training, {found.validation_examples:,} for "
        f"validation, {found.test_examples:,} for testing",
        f"epoch: {found.batches:,} batches and {found.steps:,} steps",
        _extent(found),
        f"batch: inputs {found.inputs}, targets {found.targets}",
        "",
        *table,
        *([f"... and {left} more"] if left > 0 else []),
        "",
        f"parameters: {found.parameters:,} ({found.trainable:,} trainable)",
        f"forward pass of a batch: {sum(row.multiply_adds for row in found.modules):,} "
        f"multiply-adds, {_size(sum(row.memory for row in found.modules))} of results",
        f"memory: weights {_size(found.weight_bytes)}, gradients {_size(found.gradient_bytes)}, "
        f"optimizer {_size(found.optimizer_bytes)}, "
        f"forward and backward up to {_size(found.peak_bytes)} per batch",
        f"loss on the first batch: {found.loss:.4g}",
        f"time: {1000 * found.step_seconds:.3g} ms per step, {found.epochs} epochs in about "
        f"{_time(found.total_seconds)}",
        *(f"note: {note}" for note in found.notes),
        "no problems found; nothing was written",
    ]
    return "\n".join(lines)


def _cells(row: ModuleRow) -> tuple[str, ...]:
    """Return the cells of a module: empty ones where it has or computes nothing itself."""
    name = row.name or "(the model)"
    multiply_adds = f"{row.multiply_adds:,}" if row.multiply_adds else ""
    memory = _size(row.memory) if row.memory else ""
    return name, row.kind, row.output, f"{row.parameters:,}" * row.owns, multiply_adds, memory


def _extent(found: Checkup) -> str:
    """Say how much of the data was checked."""
    counts = {
        "training": found.train_examples,
        "validation": found.validation_examples,
        "test": found.test_examples,
    }
    seen = [
        f"all of the {name} set" if n == counts[name] else f"{n:,} examples of the {name} set"
        for name, n in found.looked_at.items()
    ]
    what = " and ".join(seen)
    return f"checked {what}: no problems" if seen else "the examples were not checked"


def _size(count: int) -> str:
    """Format a number of bytes for people.

    Example:
        >>> _size(999), _size(1_500), _size(2_000_000_000)
        ('999 B', '1.5 kB', '2 GB')
    """
    power = min(int(math.log(max(count, 1), 1000)), 4)
    return f"{count / 1000**power:.3g} {['B', 'kB', 'MB', 'GB', 'TB'][power]}"


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s"
    return str(datetime.timedelta(seconds=round(min(seconds, 1e12))))
