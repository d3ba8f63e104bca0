"""``tinynet profile CONFIG``."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping

from tinynet.board.graphs.costs import Total
from tinynet.board.graphs.formats import duration, size
from tinynet.board.graphs.timing import BETWEEN, StepTime
from tinynet.train.assemble.build import computing
from tinynet.train.base.terminal import aligned
from tinynet.train.commands.options import CONFIG, SET, argument, declare, full_keys, json_of
from tinynet.train.config.resolve import load_config
from tinynet.train.diagnose.dry_run import Profile, profile
from tinynet.train.observe.progress import as_json
from tinynet.train.run.runner import prepare


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
def run_command(arguments: argparse.Namespace) -> int:
    """Take some training steps on a copy of the model, and print where the time and the memory of a
    typical one go: the slowest modules, and the slowest source lines.

    The time of an operation is its median over warm steps. Nothing is written.
    """
    config = load_config(arguments.config, full_keys(arguments.set))
    with computing(config.run):
        found = profile(prepare(config), arguments.steps)
    print(as_json(_content(found)) if arguments.json else text_of(found, arguments.top))
    return 0


def text_of(found: Profile, top: int) -> str:
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
