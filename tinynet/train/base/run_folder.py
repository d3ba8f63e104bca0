"""The folder of a run, which is never overwritten, and its ``run.json``.

That file records what ran, where, how it ended, and each time that it was resumed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from tinynet.base.invocation import command
from tinynet.train.base.files import (
    DamagedError,
    fitting,
    has_valid_checksum,
    read_json,
    with_checksum,
    write_json,
)
from tinynet.train.base.problems import TrainError, UsageError


class StorageWarning(RuntimeWarning):
    """A run continues, but a file of it is damaged, or cannot be written at present.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():  # stop instead
        ...     warnings.simplefilter("error", StorageWarning)
        ...     # train, or load a run
    """


@dataclass(frozen=True)
class RunFolder:
    """The paths of the files of a run."""

    path: Path

    @property
    def config(self) -> Path:
        """The resolved config, which can be trained again."""
        return self.path / "config.toml"

    @property
    def checkpoint(self) -> Path:
        """The latest checkpoint."""
        return self.path / "checkpoint.npz"

    def older(self, step: int) -> Path:
        """Return the path of the checkpoint of a step once there is a newer one."""
        return self.path / f"checkpoint-{step}.npz"

    def older_checkpoints(self) -> dict[int, Path]:
        """Return the existing checkpoints but the latest by their steps, newest first."""
        older = {
            int(found[1]): path
            for path in self.path.glob("checkpoint-*.npz")
            if (found := re.fullmatch(r"checkpoint-(\d+)\.npz", path.name))
        }
        return {step: older[step] for step in sorted(older, reverse=True)}

    def checkpoints(self) -> list[Path]:
        """Return the existing checkpoints, newest first."""
        newest = [self.checkpoint] if self.checkpoint.exists() else []
        return [*newest, *self.older_checkpoints().values()]

    @property
    def best(self) -> Path:
        """The best weights on the validation set, if they are tracked."""
        return self.path / "best.npz"

    @property
    def diff(self) -> Path:
        """The uncommitted changes in the git repository of the config, from ``git diff``."""
        return self.path / "changes.diff"

    @property
    def post_mortems(self) -> Path:
        """The folder of the steps that produced NaN or infinity, if any."""
        return self.path / "post_mortem"

    @property
    def record(self) -> Path:
        """The record of what ran, where, and how it ended."""
        return self.path / "run.json"

    @property
    def tokenizer(self) -> Path:
        """The tokenizer of the data set, if that is a text."""
        return self.path / "tokenizer.json"

    @property
    def vocabulary(self) -> Path:
        """The vocabulary of the data set, if it has one, in the order of the indices."""
        return self.path / "vocabulary.json"

    @property
    def preprocessing(self) -> Path:
        """What the data set learned from its training part, if that is a table."""
        return self.path / "preprocessing.json"

    @property
    def report(self) -> Path:
        """The report, a page for browsers."""
        return self.path / "report.html"

    @property
    def trackers(self) -> Path:
        """The ids of the run in its trackers, if it has any."""
        return self.path / "trackers.json"

    @property
    def results(self) -> list[Path]:
        """The files that trackers keep."""
        return [self.config, self.best, self.report]

    @property
    def metrics(self) -> Path:
        """The figures: one JSON object per epoch."""
        return self.path / "metrics.jsonl"


def new_run_folder(out: str | Path, name: str) -> RunFolder:
    """Create the new folder ``out/name/<date and time>``.

    Raises:
        TrainError: if it cannot be created.
    """
    return RunFolder(new_folder(Path(out) / name))


def new_folder(parent: Path, prefix: str = "") -> Path:
    """Create the new folder ``parent/<prefix><date and time>``.

    Raises:
        TrainError: if it cannot be created.
    """
    stamp = prefix + time.strftime("%Y-%m-%d_%H-%M-%S")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for count in itertools.count(1):
            path = parent / (stamp if count == 1 else f"{stamp}_{count}")
            with contextlib.suppress(FileExistsError):  # another run of the same second
                path.mkdir()
                return path
    except OSError as error:
        raise TrainError(f"cannot make a run folder in {parent}: {error.strerror}") from None
    raise AssertionError("unreachable: itertools.count is infinite")


def runs_in(path: Path, levels: int = 4) -> Iterator[Path]:
    """Yield the run folders in a folder, down to the depth of sweeps: NAME/SWEEP/POINT/RUN."""
    try:
        with os.scandir(path) as entries:
            below = sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    for place in map(Path, below):
        if RunFolder(place).record.is_file():
            yield place
        elif levels > 1 and not place.name.startswith("."):
            yield from runs_in(place, levels - 1)


def latest_run(folder: str | Path = "runs") -> Path:
    """Return the folder of the run that began last.

    Args:
        folder: the folder that holds the runs, of one config or of all; see ``run.out``.

    Raises:
        UsageError: if there is no run in it.

    Example:
        >>> from tinynet.train import latest_run, run
        >>> few = {"run.epochs": 1, "run.out": str(getfixture("tmp_path"))}
        >>> folder = run("configs/spiral.toml", few, quiet=True).folder
        >>> latest_run(getfixture("tmp_path")) == folder
        True
    """
    found = {path: _began(path) for path in runs_in(Path(folder))}
    if not found:
        raise UsageError(f"there is no run in {folder}; `{command('train', 'CONFIG')}` makes one")
    return max(found, key=lambda path: (found[path], path))


def _began(path: Path) -> int:
    """Return when a run began: its config is written first, and then stays as it is."""
    with contextlib.suppress(OSError):
        return RunFolder(path).config.stat().st_mtime_ns
    return 0


def no_run(path: Path, missing: str) -> UsageError:
    """Return the error for a folder that is not a run folder; it counts the runs in it."""
    count = sum(1 for _ in runs_in(path))
    found = f"; `{command('explain', path)}` lists the {count} in it" if count else ""
    return UsageError(f"{path} is not the folder of a run: it has no {missing}{found}")


def no_weights(folder: RunFolder, path: Path) -> UsageError:
    """Return the error for a folder without a checkpoint, of a run or not."""
    if not folder.config.exists():
        return no_run(folder.path, path.name)
    if folder.checkpoint.exists():
        return UsageError(f"{folder.path} has no {path.name}: no evaluation selected weights yet")
    resume = command("resume", folder.path)
    return UsageError(
        f"{folder.path} has no weights yet: no epoch was completed, and no checkpoint was saved. "
        f"If the run does not go on, this starts it again:\n  {resume}"
    )


_MOST_WARNINGS = 100
_FIGURES = {str: (int, float, str, None)}
_PART = {"shape": (list, None), "dtype": str, "sha256": (str, None), "sketch": (list, None)}
_HASHED = {"examples": int, "looked_at": int, str: _PART}
_SHAPES: dict[str, Any] = {
    "command": [str],
    "typed": str,
    "working_directory": str,
    "versions": {str: str},
    "git": (None, {"commit": str, "dirty": bool}),
    "costs": [{"module": str, "type": str, str: (int, float)}],
    "step_time": {"steps": int, "operations": int, "between": int, "whole": int},
    "sources": {str: str},
    "files": {str: str},
    "replacing": {str: [str]},
    "data": {str: ({"examples": int, "says": str}, _HASHED)},
    "events": {str: {str: int}},
    "seconds": {str: (int, float)},
    "warnings": [str],
    "resumed": [dict],
    "status": str,
    "stopped_by": (int, str, None),
    "selected_on": str,
    "validation": _FIGURES,
    "test": _FIGURES,
    "test_best": _FIGURES,
    "best": _FIGURES,
    "compiled": {str: (int, [str], [int])},
    "error": str,
    "spent": {str: (int, float)},
    "epochs": int,
}
"""The entries of ``run.json`` whose form other code relies on."""


def seconds_of(record: Mapping[str, Any], step: int) -> float:
    """Return the time of training before the checkpoint after a number of steps; 0 if unknown."""
    return float(record.get("seconds", {}).get(str(step), 0.0))


def write_record(folder: RunFolder, record: Mapping[str, Any]) -> None:
    """Replace ``run.json``; raises the error of `write_file`."""
    write_json(folder.record, with_checksum(record))


def parse_record(folder: RunFolder) -> dict[str, Any]:
    """Return the content of ``run.json``; if it is damaged, without what cannot be used.

    Raises:
        FileNotFoundError: if it does not exist.
        TrainError: if it cannot be read; a `DamagedError` if it holds no object.
    """
    record = read_json(folder.record)
    if has_valid_checksum(record):
        return record
    record = fitting(record, _SHAPES)
    if "resumed" in record:
        record["resumed"] = [fitting(entry, _SHAPES) for entry in record["resumed"]]
    return record


def is_damaged(record: Mapping[str, Any]) -> bool:
    """Return whether a record is not as the run wrote it."""
    return not has_valid_checksum(record)


def read_record(folder: RunFolder) -> dict[str, Any]:
    """Return the content of ``run.json``; an empty dict without one. Warn of damage.

    Raises:
        TrainError: if it exists, but cannot be read.
    """
    try:
        record = parse_record(folder)
    except FileNotFoundError:
        return {}
    except DamagedError as error:
        _warn(f"{error}; changes since the run began cannot be detected")
        return {}
    if is_damaged(record):
        _warn(f"{folder.record} was changed or damaged since the run wrote it")
    return record


@contextlib.contextmanager
def recorded_warnings(record: dict[str, Any]) -> Iterator[None]:
    """Add the warnings that are given inside to a record, each once; show them as usual.

    Args:
        record: the content of ``run.json``, which gets them as ``warnings``.
    """
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = f"{category.__name__}: {message}"
        found = record.get("warnings", [])
        if text not in found and len(found) < _MOST_WARNINGS:
            record["warnings"] = [*found, text]
        usual(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = usual


def _warn(text: str) -> None:
    warnings.warn(text, StorageWarning, stacklevel=3)
