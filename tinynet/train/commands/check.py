"""``tinynet check CONFIG``."""

from __future__ import annotations

import argparse
import dataclasses
import datetime

from tinynet.core.printing import quantity
from tinynet.train.commands.options import CONFIG, SET, declare, full_keys, json_of
from tinynet.train.config.resolve import load_config
from tinynet.train.diagnose.dry_run import Checkup, examine
from tinynet.train.observe.progress import as_json
from tinynet.train.observe.summary import counted, forward_cost, module_table, size_text
from tinynet.train.run.runner import prepare


@declare(
    "check",
    "try out a config without writing anything",
    CONFIG,
    SET,
    json_of("the findings"),
)
def run_command(arguments: argparse.Namespace) -> int:
    """Build everything that a config describes and run a few steps on a copy of the model.

    Print a table of its modules (shape of the output, parameters, multiply-adds and memory of a
    batch), the memory of training, and an estimate of its time. Nothing is written.
    """
    config = load_config(arguments.config, full_keys(arguments.set))
    found = examine(prepare(config))
    print(as_json(dataclasses.asdict(found)) if arguments.json else text_of(found))
    return 0


def text_of(found: Checkup) -> str:
    """Format the findings for people."""
    lines = [
        f"data: {quantity(f'{found.train_examples:,}', 'example')} for training, "
        f"{found.validation_examples:,} for validation, {found.test_examples:,} for testing",
        f"epoch: {quantity(f'{found.batches:,}', 'batch', 'batches')} and "
        f"{quantity(f'{found.steps:,}', 'step')}",
        _extent(found),
        f"batch: inputs {found.inputs}, targets {found.targets}",
        "",
        *module_table(found.modules),
        "",
        counted(found.parameters, found.trainable),
        forward_cost(found.modules),
        _memory(found),
        f"loss on the first batch: {found.loss:.4g}",
        f"time: {1000 * found.step_seconds:.3g} ms per step, {_epochs(found)} in about "
        f"{_time(found.total_seconds)}",
        *(f"note: {note}" for note in found.notes),
        "no problems found; nothing was written",
    ]
    return "\n".join(lines)


def _epochs(found: Checkup) -> str:
    if found.epochs is not None:
        return quantity(found.epochs, "epoch")
    return f"{found.total_seconds / max(found.step_seconds, 1e-9):,.0f} steps"


def _memory(found: Checkup) -> str:
    """Say how much memory training takes."""
    sizes = found.weight_bytes, found.gradient_bytes, found.optimizer_bytes, found.peak_bytes
    weights, gradients, optimizer, peak = map(size_text, sizes)
    return (
        f"memory: weights {weights}, gradients {gradients}, optimizer {optimizer}, "
        f"forward and backward up to {peak} per batch"
    )


def _extent(found: Checkup) -> str:
    """Say how much of the data was checked."""
    counts = {
        "training": found.train_examples,
        "validation": found.validation_examples,
        "test": found.test_examples,
    }
    seen = [
        f"all of the {name} set"
        if n == counts[name]
        else f"{quantity(f'{n:,}', 'example')} of the {name} set"
        for name, n in found.looked_at.items()
    ]
    if not seen:
        return "the examples were not checked"
    *others, last = seen
    what = f"{', '.join(others)} and {last}" if others else last
    return f"checked {what}: no problems"


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s"
    return str(datetime.timedelta(seconds=round(min(seconds, 1e12))))
