"""What a run left behind: the data that the sections of a report show."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinynet.board.reading import Logged, read_events
from tinynet.train.base.problems import TrainError
from tinynet.train.base.reading import read_rows, read_text
from tinynet.train.base.run_folder import RunFolder, no_run, parse_record
from tinynet.train.config.values import Values, read_values
from tinynet.train.diagnose.changes import run_damage
from tinynet.train.metrics.criterion import SETS, is_test, selection_of
from tinynet.train.show.examination import Examination


@dataclass(frozen=True)
class RunData:
    """Everything that a report shows of a run, which comes from its folder."""

    folder: RunFolder
    """The paths of its files."""

    record: Mapping[str, Any]
    """The content of ``run.json``: status, figures, versions, platform."""

    rows: list[dict[str, Any]]
    """The figures of each epoch, from ``metrics.jsonl``; without the rows of the tests at the end.
    """

    config: Values
    """The values of ``config.toml``, with their origins."""

    damage: Mapping[str, str]
    """The files of the folder that have changed: name -> problem."""

    model: Examination | None = None
    """What the trained model does; None if it cannot be loaded."""

    missing: str = ""
    """Why it cannot be loaded."""

    @functools.cached_property
    def logged(self) -> Logged:
        """The curves, images and texts that the run wrote for TensorBoard."""
        return read_events(self.folder.path)

    @property
    def selection(self) -> str:
        """The set on which the run selected: ``"validation"`` or ``"test"``."""
        return selection_of(self.record)

    def figures_on(self, name: str) -> dict[str, float]:
        """Return the last figures of a data set, with the last weights."""
        found: dict[str, float] = dict(self.record.get(name) or {})
        start = f"{SETS[name]}/"
        for row in self.rows if not found else ():  # it is still running
            found |= {k.removeprefix(start): v for k, v in row.items() if k.startswith(start)}
        return finite(found)

    @property
    def best_test(self) -> dict[str, float]:
        """The figures of the test set with the best weights."""
        key = "best" if self.selection == "test" else "test_best"
        return finite({k: v for k, v in (self.record.get(key) or {}).items() if k != "epoch"})

    @property
    def name(self) -> str:
        """The run's name: CONFIG/RUN, its folder inside the config's folder."""
        path = self.folder.path.absolute()
        return f"{path.parent.name}/{path.name}"


def finite(figures: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures that are finite numbers."""
    return {k: v for k, v in figures.items() if isinstance(v, int | float) and math.isfinite(v)}


def read_run(path: Path, model: Examination | None = None, missing: str = "") -> RunData:
    """Read the folder of a run.

    Args:
        path: the folder.
        model: what the trained model does.
        missing: why that is unknown.

    Raises:
        UsageError: if it is not a run folder.
        TrainError: if a file in it cannot be read.
    """
    folder = RunFolder(path)
    try:
        record = parse_record(folder)
        if "status" not in record:
            raise TrainError(f"{folder.record} is damaged: it has no status")
        config = read_values(read_text(folder.config))
    except FileNotFoundError as error:
        raise no_run(path, Path(error.filename).name) from None
    damage = run_damage(folder, record)
    rows = [row for row in read_rows(folder.metrics) if not is_test(row)]
    return RunData(folder, record, rows, config, damage, model, missing)
