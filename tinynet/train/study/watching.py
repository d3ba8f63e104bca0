"""Progress inside the runs of a group, read from their folders while they train."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tinynet.train.base.files import read_last_row, size_of
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.base.terminal import (
    Field,
    LiveLine,
    brief,
    fitted,
    is_terminal,
    line_columns,
    width_of,
)
from tinynet.train.config.resolve import load_config
from tinynet.train.metrics.criterion import is_test
from tinynet.train.observe.progress import brief_fields, describe_figures
from tinynet.train.study.run_group import RunGroup
from tinynet.train.study.study import Point, short_keys

_REFRESH = 0.2  # seconds between two updates of the line on a terminal
_REPORT = 30.0  # seconds between two lines elsewhere
_BELOW = 1000  # between the ranks of runs and of their figures


def values_of(point: Point, *, short: bool = False) -> str:
    """Return the values that make a point differ from the others: ``run.seed=1``, or ``seed=1``."""
    names = short_keys(point.varying) if short else point.varying
    named = zip(names, point.varying, strict=True)
    return " ".join(f"{name}={brief(point.values[key])}" for name, key in named)


@dataclass
class _Run:
    """A run that is training: its number of epochs, and its last one so far."""

    epochs: int
    last: dict[str, Any] = field(default_factory=dict)
    size: int = 0
    """That of the file which ends with this epoch."""

    printed: int = 0
    """The epoch of the last line about it."""

    @property
    def epoch(self) -> str:
        """Its epoch, and the number of epochs."""
        return f"epoch {self.last.get('epoch', 0)}/{self.epochs}"

    @property
    def figures(self) -> dict[str, float]:
        """The figures of its last epoch; not the learning rates."""
        return {k: v for k, v in self.last.items() if "/" in k and isinstance(v, int | float)}


def ended_line(number: str, point: Point, figures: Sequence[str], more: str) -> str:
    """Return the line about a run that has ended, as it fits the terminal.

    Args:
        number: its number.
        point: its values.
        figures: its figures, the most important first.
        more: what stands behind them in parentheses.
    """
    width = line_columns(sys.stdout)
    heads = [f"{number} {values_of(point)}: ", f"{number} {values_of(point, short=True)}: "]
    least = width_of(figures[0]) if figures else 0
    fitting = [head for head in heads if width is None or width_of(head) + least <= width]
    fields = map(Field, figures, range(len(figures)))
    line = fitted(fitting[0] if fitting else f"{number} ", fields, width)
    return fitted(line + " ", [Field(f"({more})")], width)


class Watch:
    """Shows the last epoch of each run that is training, and prints lines above.

    On a terminal this is one line at the bottom; elsewhere it is a line per run, now and then.

    Args:
        group: the runs.
        total: the number of runs.
        wanted: whether to show anything; False for JSON.
    """

    def __init__(self, group: RunGroup, total: int, wanted: bool = True) -> None:
        self._group, self._total, self._wanted = group, total, wanted
        self._live = LiveLine(sys.stderr) if wanted and is_terminal(sys.stderr) else None
        self._runs: dict[int, _Run] = {}
        self._looked = self._reported = time.monotonic()
        self.done = 0
        """The number of runs that have ended."""

    def __call__(self, running: Sequence[tuple[Point, float]]) -> None:
        """Show the runs that are training: their points, and the seconds since they began."""
        now = time.monotonic()
        if not self._wanted or now - self._looked < _REFRESH:
            return
        self._looked = now
        if self._live is None and now - self._reported < _REPORT:
            return
        for point, _ in running:
            self._read(point)
        if self._live is not None:
            self._live.draw(self._line(running, self._live.columns))
        else:
            self._reported = now
            self._report(running)

    def print(self, text: str) -> None:
        """Print a line on standard output, above the line on the terminal."""
        self.close()
        print(text, flush=True)

    def close(self) -> None:
        """Remove the line on the terminal."""
        if self._live is not None:
            self._live.clear()

    def _read(self, point: Point) -> None:
        """Read the last epoch of a run, if there is a new one."""
        if point.number not in self._runs:
            settings = [*self._group.settings, *point.assignments]
            epochs = load_config(self._group.config, settings).run.epochs
            self._runs[point.number] = _Run(epochs)
        run = self._runs[point.number]
        for folder in self._group.run_folders(point)[-1:]:
            metrics = RunFolder(folder).metrics
            size = size_of(metrics)
            if size > run.size and "epoch" in (row := read_last_row(metrics, is_test) or {}):
                run.last, run.size = row, size

    def _line(self, running: Sequence[tuple[Point, float]], width: int) -> str:
        fields = []
        for place, (point, seconds) in enumerate(running):
            run, below = self._runs[point.number], _BELOW * (place + 1)
            values = values_of(point, short=True)
            if len(running) > 1:
                fields.append(Field(f"{values} {run.epoch}", place))
            else:
                fields += [Field(values, 1), Field(run.epoch)]
            fields += [Field(text, below + rank) for text, rank in brief_fields(run.figures)]
            fields.append(Field(f"{seconds:.0f} s", below))
        return fitted(f"{self.done}/{self._total} done: ", fields, width)

    def _report(self, running: Sequence[tuple[Point, float]]) -> None:
        for point, seconds in running:
            run = self._runs[point.number]
            if run.last and run.printed != run.last["epoch"]:
                run.printed = run.last["epoch"]
                text = f"{values_of(point)}: {run.epoch}, {describe_figures(run.figures)}"
                print(f"{text} ({seconds:.0f} s)", flush=True)
