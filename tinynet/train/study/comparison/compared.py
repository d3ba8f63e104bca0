"""Several runs side by side: what differs between their configs, and which is the best."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tinynet.train.base.terminal import brief, distinct
from tinynet.train.config.document import dotted
from tinynet.train.config.values import DEFAULT, Value
from tinynet.train.metrics.criterion import Criterion, criterion_of, recorded_criterion
from tinynet.train.show.page import Html, element
from tinynet.train.show.run_data import RunData, finite
from tinynet.train.study.search import Results
from tinynet.train.study.space import short_keys

_NOT_COMPARED = ("run.name", "run.out")


@dataclass(frozen=True)
class Comparison:
    """Several runs, and where the page about them will be."""

    runs: Sequence[RunData]
    page: Path
    search: Results | None = None
    """The results of the search that made the runs; its figures are those of the best evaluations.
    """

    @functools.cached_property
    def values(self) -> dict[str, list[str]]:
        """The keys of the configs that differ between the runs, with the value of each run.

        A key with only defaults differs because of another, such as the type of an optimizer.
        """
        configs = [_values(run) for run in self.runs]
        chosen = [[k for k, value in c.items() if value.origin != DEFAULT] for c in configs]
        keys = dict.fromkeys(itertools.chain(*chosen))
        left_out = Value("", DEFAULT)
        found = {key: [config.get(key, left_out).text for config in configs] for key in keys}
        differ = {key: values for key, values in found.items() if len({*values}) > 1}
        return {key: values for key, values in differ.items() if key not in _NOT_COMPARED}

    @functools.cached_property
    def shown(self) -> dict[str, list[str]]:
        """These values in a few characters each."""
        return {key: distinct(values) for key, values in self.values.items()}

    def value(self, key: str, number: int) -> Html:
        """Return the value of a run for a table; a long one opens when it is clicked."""
        whole, short = brief(self.values[key][number]), self.shown[key][number]
        if short == whole:
            return element("code", whole)
        return element("details", element("summary", element("code", short)), whole)

    @functools.cached_property
    def labels(self) -> dict[str, str]:
        """Short names of these keys: their last parts, where these are unambiguous."""
        return dict(zip(self.values, short_keys([*self.values]), strict=True))

    @functools.cached_property
    def _names(self) -> list[str]:
        """The names of the figures that select; losses last."""
        names = dict.fromkeys(name for n in range(len(self.runs)) for name in self.figures_of(n))
        return sorted(names, key=lambda name: name.startswith("loss"))

    @functools.cached_property
    def criterion(self) -> Criterion:
        """What decides between the runs: what decided between the evaluations of each."""
        if self.search is not None:
            return self.search.criterion
        for criterion in (recorded_criterion(run.record) for run in self.runs):
            if criterion is not None and criterion.figure in self._names:
                return criterion
        chosen = self.runs[0].config.get(("evaluation", "monitor"))
        monitor = chosen.value if chosen and chosen.value in self._names else ""
        return criterion_of(self._names, monitor=monitor)

    @functools.cached_property
    def figures(self) -> list[str]:
        """The names of the figures, that which decides first."""
        return sorted(self._names, key=lambda name: name != self.criterion.figure)

    def figures_of(self, number: int) -> dict[str, float]:
        """Return the figures of a run on the set that selects: of the last evaluation, or in a
        search of the best."""
        run = self.runs[number]
        best = run.record.get("best") if self.search else None
        if not best or not best.get("epoch"):
            return run.figures_on(run.selection)
        return finite({k: v for k, v in best.items() if k != "epoch"})

    def tests_of(self, number: int) -> dict[str, float]:
        """Return the figures of the test set, if the run selected on another: with the last
        weights, or in a search with the best."""
        run = self.runs[number]
        if run.selection == "test":
            return {}
        return run.best_test if self.search else run.figures_on("test")

    @functools.cached_property
    def selection(self) -> str:
        """The set on which the runs are compared; both names if they differ."""
        return " or ".join(sorted({run.selection for run in self.runs}, reverse=True))

    @functools.cached_property
    def order(self) -> list[int]:
        """The numbers of the runs, the best first; those without the figure last."""
        if self.search is not None:
            places = {trial.folder: place for place, trial in enumerate(self.search.trials)}
            names = [run.name for run in self.runs]
            return sorted(range(len(names)), key=lambda n: places.get(names[n], len(places)))

        def place(number: int) -> tuple[bool, float]:
            return self.criterion.place(self.figures_of(number).get(self.criterion.figure))

        return sorted(range(len(self.runs)), key=place)

    def link(self, run: RunData) -> str:
        """Return the address of a run's report, relative to this page; empty if it has none."""
        if not run.folder.report.is_file():
            return ""
        return quote(Path(os.path.relpath(run.folder.report, self.page.parent)).as_posix())


def _values(run: RunData) -> dict[str, Value]:
    """Return the values of a config by dotted key."""
    return {dotted(path): value for path, value in run.config.items()}
