"""Several runs side by side: what differs between their configs, and which is the best."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tinynet.train.html_report.run_data import RunData
from tinynet.train.html_report.sections.config import sections_of
from tinynet.train.metrics.registry import higher_is_better

_NOT_COMPARED = ("run.name", "run.out")


@dataclass(frozen=True)
class Comparison:
    """Several runs, and where the page about them will be."""

    runs: Sequence[RunData]
    page: Path

    @functools.cached_property
    def values(self) -> dict[str, list[str]]:
        """The keys of the configs that differ between the runs, with the value of each run."""
        configs = [_values(run) for run in self.runs]
        keys = dict.fromkeys(key for config in configs for key in config)
        found = {key: [config.get(key, "") for config in configs] for key in keys}
        differ = {key: values for key, values in found.items() if len({*values}) > 1}
        return {key: values for key, values in differ.items() if key not in _NOT_COMPARED}

    @functools.cached_property
    def labels(self) -> dict[str, str]:
        """Short names of these keys: their last parts, where these are unambiguous."""
        last = [key.rpartition(".")[2] for key in self.values]
        return {
            key: short if last.count(short) == 1 else key
            for key, short in zip(self.values, last, strict=True)
        }

    @functools.cached_property
    def figures(self) -> list[str]:
        """The names of the test figures, that which decides first."""
        names = dict.fromkeys(name for run in self.runs for name in run.test_figures)
        others = [name for name in names if not name.startswith("loss")]
        monitored = {_values(self.runs[0]).get("evaluation.monitor", "").strip("\"'")}
        return sorted(
            names, key=lambda n: (n not in monitored, n not in others[:1], n.startswith("loss"))
        )

    @functools.cached_property
    def order(self) -> list[int]:
        """The numbers of the runs, the best first; those without the figure last."""

        def rank(number: int) -> tuple[bool, float]:
            figure = self.runs[number].test_figures.get(self.figures[0]) if self.figures else None
            if figure is None:
                return True, math.inf
            return False, -figure if higher_is_better(self.figures[0]) else figure

        return sorted(range(len(self.runs)), key=rank)

    def link(self, run: RunData) -> str:
        """Return the address of a run's report, relative to this page; empty if it has none."""
        if not run.folder.report.is_file():
            return ""
        return quote(Path(os.path.relpath(run.folder.report, self.page.parent)).as_posix())


def _values(run: RunData) -> dict[str, str]:
    """Return the values of a config, as TOML texts by dotted key."""
    sections = sections_of(run.config).items()
    return {f"{name}.{key}": value for name, rows in sections for key, value, _ in rows}
