"""``tinynet check``, ``profile`` and ``graph``: try out a config, without a run."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import warnings
from collections.abc import Mapping
from pathlib import Path

from tinynet import board
from tinynet.base.invocation import command
from tinynet.board.graphs.costs import Total
from tinynet.board.graphs.graph import duration, size
from tinynet.board.graphs.recording import Graphs
from tinynet.board.graphs.timing import BETWEEN, StepTime
from tinynet.core.printing import quantity
from tinynet.train.assemble.build import computing
from tinynet.train.assemble.trial import compiled_trial, trial
from tinynet.train.base.files import write_text
from tinynet.train.base.problems import TrainError, UsageError, did_you_mean, one_of
from tinynet.train.base.run_folder import new_folder
from tinynet.train.base.terminal import aligned
from tinynet.train.commands.options import CONFIG, SET, argument, declare, full_keys, json_of
from tinynet.train.config.resolve import load_config
from tinynet.train.diagnose.dry_run import Checkup, Profile, examine, profile
from tinynet.train.observe.progress import as_json
from tinynet.train.observe.summary import counted, forward_cost, module_table, size_text
from tinynet.train.run.runner import prepare

# ---- check ----


@declare(
    "check",
    "try out a config without writing anything",
    CONFIG,
    SET,
    json_of("the findings"),
)
def check_command(arguments: argparse.Namespace) -> int:
    """Build everything that a config describes and run a few steps on a copy of the model.

    Print a table of its modules (shape of the output, parameters, multiply-adds and memory of a
    batch), the memory of training, and an estimate of its time. Nothing is written.
    """
    config = load_config(arguments.config, full_keys(arguments.set))
    found = examine(prepare(config))
    print(as_json(dataclasses.asdict(found)) if arguments.json else _checkup_text(found))
    return 0


def _checkup_text(found: Checkup) -> str:
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


# ---- profile ----


@declare(
    "profile",
    "show which modules and lines a step spends its time in",
    CONFIG,
    SET,
    argument(
        "--steps", type=int, default=9, at_least=1, metavar="N", help="number of steps (default: 9)"
    ),
    argument(
        "--top", type=int, default=12, at_least=1, metavar="N", help="rows per table (default: 12)"
    ),
    json_of("the findings"),
)
def profile_command(arguments: argparse.Namespace) -> int:
    """Take some training steps on a copy of the model, and print where the time and the memory of a
    typical one go: the slowest modules, and the slowest source lines.

    The time of an operation is its median over warm steps. Nothing is written.
    """
    config = load_config(arguments.config, full_keys(arguments.set))
    with computing(config.run):
        found = profile(prepare(config), arguments.steps)
    print(as_json(_content(found)) if arguments.json else _profile_text(found, arguments.top))
    return 0


def _profile_text(found: Profile, top: int) -> str:
    """Format a profile for people.

    Args:
        found: the profile.
        top: the maximum number of rows per table.
    """
    step = found.step
    waiting = ", with waiting for a processor" if step.waited else ""
    lines = [
        f"step: {duration(step.sum)}, of which its operations take {duration(step.operations)} "
        f"({step.medians})",
        f"a whole step by the clock: {duration(step.whole)}{waiting}",
        f"loading a batch: {duration(1e9 * found.batch_seconds)}",
    ]
    modules = {_module(name, found.classes): total for name, total in found.modules.items()}
    for title, rows in (("module", modules), ("line", found.lines)):
        lines += ["", *_table(title, rows, step, top)]
    return "\n".join(lines)


def _module(name: str, classes: Mapping[str, str]) -> str:
    kind = classes.get(name, name)
    return name if kind == name else f"{name or '(the model)'} ({kind})"


def _table(title: str, rows: Mapping[str, Total], step: StepTime, top: int) -> list[str]:
    cells: list[tuple[str, ...]] = [
        (
            _share(total.time, step.sum),
            duration(total.forward),
            duration(total.backward),
            duration(total.update),
            size(total.memory),
            name,
        )
        for name, total in [*rows.items()][:top]
    ]
    if left := [*rows.values()][top:]:
        cells.append((_share(sum(t.time for t in left), step.sum), *[""] * 4, f"{len(left)} more"))
    python = f"({BETWEEN}: {duration(step.between)})"
    cells.append((_share(step.between, step.sum), *[""] * 4, python))
    header = ("time", "forward", "backward", "update", "memory", title)
    return aligned([header, *cells])


def _share(part: float, whole: float) -> str:
    return f"{100 * part / max(whole, 1):.1f} %"


def _content(found: Profile) -> dict[str, object]:
    return {
        "step_seconds": found.step.sum / 1e9,
        "operations_seconds": found.step.operations / 1e9,
        "between_seconds": found.step.between / 1e9,
        "whole_step_seconds": found.step.whole / 1e9,
        "steps": found.step.steps,
        "batch_seconds": found.batch_seconds,
        "modules": [
            {"module": name, "type": found.classes.get(name, ""), **dataclasses.asdict(total)}
            for name, total in found.modules.items()
        ],
        "lines": [{"line": name, **dataclasses.asdict(t)} for name, t in found.lines.items()],
    }


# ---- graph ----


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
def graph_command(arguments: argparse.Namespace) -> int:
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
