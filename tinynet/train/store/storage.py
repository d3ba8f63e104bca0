"""Writing a run's files during training: checkpoints, the best weights, rows of figures.

A full disk does not end a run: a single warning gives the reason, and unwritten data waits in
memory until a later attempt succeeds. A step that produced NaN is stored, too.
"""

from __future__ import annotations

import copy
import json
import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from tinynet.base.invocation import command, shown
from tinynet.core.printing import quantity
from tinynet.optim import Optimizer
from tinynet.train.assemble.build import Parts
from tinynet.train.base.checkpoint_file import CheckpointError, read_checkpoint, write_checkpoint
from tinynet.train.base.files import (
    append_lines,
    changed_checksums,
    holds,
    keep_as,
    make_folder,
    read_text,
    remove,
    row_of,
    row_with_checksum,
    sha256,
    size_of,
    write_bytes,
    write_lines,
    write_text,
)
from tinynet.train.base.problems import TrainError, UsageError, in_users_code
from tinynet.train.base.run_folder import RunFolder, write_record
from tinynet.train.base.run_folder import StorageWarning as StorageWarning
from tinynet.train.config.sections import RunSection
from tinynet.train.incidents.guard import PostMortem, Report
from tinynet.train.metrics.criterion import is_test
from tinynet.train.step import seeds
from tinynet.train.step.task import NonFiniteError

_PAUSE = 10.0  # seconds between two attempts to write to a full disk
_NAMED = 10  # epochs to name in a message


class Storage:
    """Writes the files of a run folder.

    Args:
        folder: the folder.
        keep_checkpoints: the number of checkpoints to keep, including the newest.
        newest: the step of the newest checkpoint, when resuming.
    """

    def __init__(self, folder: RunFolder, keep_checkpoints: int, newest: int | None = None) -> None:
        self.folder = folder
        self.keep_checkpoints = keep_checkpoints
        self._newest = newest
        self._rows: list[str] = []
        self._constant: dict[str, bytes] = {}
        self._record: dict[str, Any] = {}
        self.written: list[str] = []
        """The rows of ``metrics.jsonl`` on the disk."""

        self._best: dict[str, Any] | None = None
        self._failed_at: float | None = None

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt to write failed."""
        return self._failed_at is not None

    @property
    def retry_is_due(self) -> bool:
        """Whether the last attempt failed, long enough ago to try again."""
        return self._failed_at is not None and time.monotonic() - self._failed_at > _PAUSE

    def write_constant_files(self, files: Mapping[str, bytes], record: dict[str, Any]) -> None:
        """Write the files that do not change during the run, and ``run.json``.

        Args:
            files: their contents by name.
            record: the content of ``run.json``, which gets their checksums.

        Raises:
            TrainError: if one cannot be written.
        """
        self._constant, self._record = {**files}, record
        checksums = {name: sha256(data) for name, data in files.items()}
        if changes := changed_checksums(record, checksums):
            write_record(self.folder, record | {"replacing": changes})
        for name, data in files.items():
            if not holds(path := self.folder.path / name, data):
                _put(path, data)
        record.pop("replacing", None)
        record["files"] = record.get("files", {}) | checksums
        write_record(self.folder, record)

    def _rewrite_missing(self) -> None:
        """Rewrite constant files that were removed during the run."""
        missing = [name for name in self._constant if not (self.folder.path / name).exists()]
        if not missing:
            return
        for name in missing:
            _put(self.folder.path / name, self._constant[name])
        text = f"{', '.join(missing)} were removed from {self.folder.path} during training, and"
        warnings.warn(f"{text} were written again", StorageWarning, stacklevel=5)

    def add_row(self, line: str) -> None:
        """Add a line to ``metrics.jsonl``, to be written with the next checkpoint."""
        self._rows.append(line)

    def set_best(self, content: dict[str, Any]) -> None:
        """Write the best weights so far."""
        self._best = content
        if not self._attempt(self._write_best):
            self._best = copy.deepcopy(content)  # training changes the weights

    def best_weights(self) -> Mapping[str, Any] | None:
        """Return the best weights so far; None, with a warning, if they cannot be read."""
        if self._best is not None:  # the disk is full
            return dict(self._best["model"])
        try:
            return dict(read_checkpoint(self.folder.best)["model"])
        except (CheckpointError, OSError) as error:
            text = f"the best weights cannot be tested: {error}"
            warnings.warn(text, StorageWarning, stacklevel=3)
            return None

    def commit(
        self, content: dict[str, Any], events: Mapping[str, int], seconds: float = 0.0
    ) -> bool:
        """Write a checkpoint, and everything that is still unwritten.

        Args:
            content: the content of the checkpoint.
            events: the positions in the event files of TensorBoard. ``run.json`` stores them, so
                that the checkpoints of equal runs are equal.
            seconds: the time of training so far; ``run.json`` stores it, too.

        Returns:
            Whether everything is on the disk; if not, a warning was given.

        Raises:
            CheckpointError: if the content can only be pickled.
        """
        writers = (self._rewrite_missing, self._write_rows, self._write_best)
        return self._attempt(
            *writers,
            lambda: self._write_positions(content["step"], events=events, seconds=seconds),
            lambda: self._write(content),
        )

    def finish(self, record: dict[str, Any]) -> TrainError | None:
        """Write the remaining figures, and how the run ended into ``run.json``.

        There is no later occasion, so a failure is followed by another attempt at once.

        Returns:
            The error of the second attempt, if that fails, too.
        """
        for _ in range(2):
            try:
                self._write_rows()
                epochs = [row for line in self.written if not is_test(row := row_of(line) or {})]
                write_record(self.folder, record | {"epochs": len(epochs)})
            except TrainError as error:
                problem = error
            else:
                return None
        again = command("resume", self.folder.path)
        text = f"the end of the run is not recorded: {problem}. `{again}` records it"
        return TrainError(text)

    def _attempt(self, *writers: Callable[[], object]) -> bool:
        try:
            for write in writers:
                write()
        except (TrainError, OSError) as error:
            reason = error if isinstance(error, OSError) else error.__cause__
            if not isinstance(reason, OSError):
                raise
            if self._failed_at is None:
                text = f"{error}. Training continues, and will try again to write"
                warnings.warn(text, StorageWarning, stacklevel=4)
            self._failed_at = time.monotonic()
            return False
        if self._failed_at is not None and len(writers) > 1:
            self._failed_at = None
            text = f"{self.folder.path} can be written again; everything is saved"
            warnings.warn(text, StorageWarning, stacklevel=4)
        return True

    def _write_rows(self) -> None:
        """Write the figures: at the end of their file, or all if it is not as it was left."""
        path, rows = self.folder.metrics, self.written + self._rows
        if size_of(path) == sum(len(row.encode()) + 1 for row in self.written):
            append_lines(path, self._rows)
        else:
            write_lines(path, rows)
            if not self.is_failing:
                text = f"{path} was changed or removed during training, and was written again"
                warnings.warn(text, StorageWarning, stacklevel=5)
        self.written, self._rows = rows, []

    def _write_positions(self, step: int, **positions: Any) -> None:
        """Write the positions of a checkpoint beside the positions of all that still exist."""
        kept = {str(one) for one in (self._newest, *self.folder.older_checkpoints())}
        for key, position in positions.items():
            known = self._record.get(key, {})
            earlier = {one: value for one, value in known.items() if one in kept}
            self._record[key] = {**earlier, str(step): position}
        write_record(self.folder, self._record)

    def _write_best(self) -> None:
        if self._best is not None:
            write_checkpoint(self.folder.best, self._best)
            self._best = None

    def _write(self, content: dict[str, Any]) -> None:
        step: int = content["step"]
        if self._newest is not None and self._newest != step:
            keep_as(self.folder.checkpoint, self.folder.older(self._newest))
        write_checkpoint(self.folder.checkpoint, content)
        self._newest = step
        for path in [*self.folder.older_checkpoints().values()][self.keep_checkpoints - 1 :]:
            remove(path)


def _put(path: Path, data: bytes) -> None:
    make_folder(path.parent)
    write_bytes(path, data)


# ---- reading ----


def newest_checkpoint(folder: RunFolder) -> tuple[Path, dict[str, Any]] | None:
    """Return the newest undamaged checkpoint, or None if there is none. Warn of damaged ones.

    Raises:
        CheckpointError: if all are damaged or unreadable.
    """
    damaged: list[CheckpointError] = []
    for path in folder.checkpoints():
        try:
            content = read_checkpoint(path)
        except CheckpointError as error:
            damaged.append(error)
            continue
        problems = [str(error) for error in damaged]
        if not folder.checkpoint.exists():
            problems.append(f"{folder.checkpoint} is missing")
        if problems:
            text = f"{'; '.join(problems)}. {path.name}, of step {content['step']}, is used instead"
            warnings.warn(text, StorageWarning, stacklevel=2)
        return path, content
    if damaged:
        raise CheckpointError("; ".join(str(error) for error in damaged)) from damaged[0]
    return None


# ---- resuming ----


def cut_rows(
    path: Path,
    step: int,
    epochs: int | None = None,
    *,
    complete: bool = False,
) -> list[str]:
    """Remove the rows of ``metrics.jsonl`` from a step on, and the rows at the end of a run.

    Args:
        path: the file.
        step: the first step whose rows are removed.
        epochs: the expected number of rows, one per epoch; if some are missing, warn, and keep the
            old file beside the new one. None if it is unknown.
        complete: whether to keep the rows at the end: of the test set, and of an epoch
            which a limit of the run left incomplete.

    Returns:
        The remaining lines, with checksums.
    """
    try:
        text = read_text(path)
    except FileNotFoundError:
        text = ""
    rows = [row for line in text.splitlines() if (row := row_of(line))]
    rows = [row for row in rows if isinstance(row.get("step"), int) and row["step"] < step]
    lost = {*range(1, (epochs or 0) + 1)} - {row.get("epoch") for row in rows if not is_test(row)}
    if lost:
        if text:
            write_text(path.with_suffix(".damaged"), text)
        listed = ", ".join(map(str, sorted(lost)[:_NAMED])) + ", ..." * (len(lost) > _NAMED)
        message = f"{path} is damaged: it has no good row for epoch {listed} any more"
        warnings.warn(message, StorageWarning, stacklevel=3)
    most = math.inf if epochs is None else epochs
    kept = [row for row in rows if complete or not (is_test(row) or row.get("epoch", 0) > most)]
    lines = [row_with_checksum(json.dumps(row, ensure_ascii=False)) for row in kept]
    if text and text != "".join(f"{line}\n" for line in lines):
        write_lines(path, lines)
    return lines


OPTIONAL = "callbacks", "compiled"
"""The keys of what few runs have: others' checkpoints do not have them."""


@dataclass(frozen=True)
class StartingPoint:
    """The position at which a run starts or resumes."""

    epoch: int = 0
    step: int = 0
    """The number of completed steps."""

    batch: int = 0
    """The number of completed batches of the epoch."""


class HasState(Protocol):
    """An object whose state a checkpoint holds."""

    def state_dict(self) -> Any: ...

    def load_state_dict(self, state: Any) -> object: ...


class Registry:
    """All that a checkpoint holds besides the position of the run: each object by its key.

    A new stateful part of a run is one entry here. The state of an object that is None or has none,
    such as a loss that is a function, is None.

    Args:
        parts: the objects of a config.
        own: the run's own states: the average of the weights, the best evaluation, the totals, and
            what is compiled.
    """

    def __init__(self, parts: Parts, **own: HasState | None) -> None:
        updaters = parts.updaters.items()
        self._batches = parts.train_batches
        self._entries: dict[str, Any] = {
            "model": parts.model,
            **own,
            "optimizers": _Each({name: updater.optimizer for name, updater in updaters}),
            "schedules": _Each({name: updater.schedule for name, updater in updaters}),
            "method": parts.method,
            "loss": parts.loss,
            "loader": self._batches,
            "callbacks": parts.callbacks,
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the states by their keys, random generators included."""
        states = {key: _state_of(entry) for key, entry in self._entries.items()}
        for key in OPTIONAL:
            if not states[key]:
                del states[key]
        return states | {"generators": seeds.get_states()}

    def load(self, saved: Mapping[str, Any]) -> StartingPoint:
        """Load the states of a checkpoint, and return the position at which training resumes.

        Raises:
            UsageError: if the checkpoint does not fit the objects of the config.
        """
        try:
            for key, entry in self._entries.items():
                _load(entry, saved.get(key) if key in OPTIONAL else saved[key])
            if saved["epoch_is_complete"] and saved["loader"]["order"] is not None:
                for _ in self._batches:  # end the pass, which has no batches left
                    raise ValueError("there are batches left of an epoch that is complete")
        except (RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise UsageError(
                "the checkpoint does not fit the current config of the run. "
                f"{type(error).__name__}: {error}"
            ) from error
        seeds.set_states(saved["generators"])  # last: ending the pass may draw numbers
        done = saved["epoch"] if saved["epoch_is_complete"] else saved["epoch"] - 1
        return StartingPoint(done, saved["step"], saved["batch"])


class _Each:
    """Several objects by name as one, such as the optimizers."""

    def __init__(self, objects: Mapping[str, Any]) -> None:
        self._objects = objects

    def state_dict(self) -> dict[str, Any]:
        return {name: _state_of(one) for name, one in self._objects.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for name, one in self._objects.items():
            _load(one, state[name])
            if isinstance(one, Optimizer):
                one.stepped = True  # schedules warn if they precede the optimizer


def _state_of(entry: Any) -> Any:
    return entry.state_dict() if hasattr(entry, "state_dict") else None


def _load(entry: Any, state: Any) -> None:
    if entry is not None and state is not None:
        entry.load_state_dict(state)


def moment_of(saved: Mapping[str, Any]) -> str:
    """Return in words when a checkpoint was written.

    Example:
        >>> moment_of({"epoch": 2, "step": 90, "epoch_is_complete": True})
        'epoch 2'
        >>> moment_of({"epoch": 1, "step": 23, "epoch_is_complete": False})
        'step 23, within epoch 1'
    """
    epoch = f"epoch {saved['epoch']}"
    return epoch if saved["epoch_is_complete"] else f"step {saved['step']}, within {epoch}"


def weights_of(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights used for evaluation: the moving average, if there is one."""
    average = saved.get("ema")
    weights: dict[str, Any] = average["model"] if average and average["steps"] else saved["model"]
    return weights


class Incidents:
    """Stores each failed step in the run folder, and decides for `fit` whether to skip it.

    Args:
        run: the settings of the run.
        folder: the run folder.
        message: called with a message for each skipped step.

    Attributes:
        skipped: the number of skipped steps.
    """

    def __init__(self, run: RunSection, folder: RunFolder, message: Callable[[str], None]) -> None:
        self.run = run
        self.folder = folder
        self.message = message
        self.skipped = 0

    def __call__(self, error: NonFiniteError) -> bool:
        """Store the post-mortem, and return whether to skip the step."""
        allowed = self.run.non_finite == "skip"
        skips = allowed and self.skipped < self.run.skip_limit
        self.skipped += skips
        error.remarks += self._store(error, skips)
        if allowed and not skips:
            error.remarks.append(
                f"  {'skipped':<8} {quantity(self.skipped, 'step')} before this one, and "
                "run.skip_limit allows no more"
            )
        if skips and isinstance(error.post_mortem, PostMortem):
            text = brief(error.post_mortem.report)
            self.message(f"skipped {text} ({self.skipped} of at most {self.run.skip_limit})")
        return skips

    def _store(self, error: NonFiniteError, skipped: bool) -> list[str]:
        """Write the post-mortem, and return lines for the message."""
        if not isinstance(error.post_mortem, PostMortem):
            return []
        report = replace(error.post_mortem.report, skipped=skipped)
        path = self.folder.post_mortems / f"step_{report.step}"
        try:
            replace(error.post_mortem, report=report).save(path)
        except TrainError as problem:  # a full disk, or a batch that cannot be stored
            return [f"  {'kept':<8} not everything: {problem}"]
        return [f"  {'kept':<8} {shown(path)}", f"  {'':<8} {command('explain', self.folder.path)}"]


def brief(report: Report) -> str:
    """Format a report as ``step 30 (epoch 2, batch 7 of 23): the loss is nan, made by log``."""
    where = f"step {report.step} (epoch {report.epoch}, batch {report.batch} of {report.batches})"
    made = report.suspects[0].brief if report.suspects else "of unknown origin"
    return f"{where}: {report.what}, {made}"


def error_text(error: Exception) -> str:
    """Return the text of an error for the run record."""
    if isinstance(error, NonFiniteError):
        return error.headline
    if isinstance(error, TrainError):
        return str(error)
    return in_users_code(error)
