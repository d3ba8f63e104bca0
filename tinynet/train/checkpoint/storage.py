"""Writing a run's files during training: checkpoints, the best weights, rows of figures.

A full disk does not end a run: a single warning gives the reason, and unwritten data waits in
memory until a later attempt succeeds.
"""

from __future__ import annotations

import contextlib
import copy
import os
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tinynet.train.checkpoint.checksums import changed_checksums, sha256
from tinynet.train.checkpoint.files import CheckpointError, read_checkpoint, write_checkpoint
from tinynet.train.checkpoint.run_folder import RunFolder, append_lines, write_bytes, write_text
from tinynet.train.checkpoint.run_folder import StorageWarning as StorageWarning
from tinynet.train.checkpoint.run_record import write_record
from tinynet.train.config.problems import TrainError

_PAUSE = 10.0  # seconds between two attempts to write to a full disk


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
            path = self.folder.path / name
            if not path.is_file() or path.read_bytes() != data:
                _put(path, data)
        record.pop("replacing", None)
        record["files"] = record.get("files", {}) | checksums
        write_record(self.folder, record)

    def _rewrite_missing(self) -> None:
        """Rewrite constant files that were removed during the run."""
        missing = [name for name in self._constant if not (self.folder.path / name).exists()]
        if not missing:
            return
        rows = [] if self.folder.metrics.exists() else self.written
        for name in missing:
            _put(self.folder.path / name, self._constant[name])
        if not self.folder.record.exists():
            write_record(self.folder, self._record)
        if rows:
            write_text(self.folder.metrics, "".join(f"{row}\n" for row in rows))
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

    def commit(self, content: dict[str, Any], events: Mapping[str, int]) -> bool:
        """Write a checkpoint, and everything that is still unwritten.

        Args:
            content: the content of the checkpoint.
            events: the positions in the event files of TensorBoard. ``run.json`` stores them, so
                that the checkpoints of equal runs are equal.

        Returns:
            Whether everything is on the disk; if not, a warning was given.

        Raises:
            CheckpointError: if the content can only be pickled.
        """
        earlier = [*self._record.get("events", {}).items()][-self.keep_checkpoints :]
        self._record["events"] = {**dict(earlier), str(content["step"]): {**events}}
        writers = (self._rewrite_missing, self._write_rows, self._write_best)
        return self._attempt(
            *writers,
            lambda: write_record(self.folder, self._record),
            lambda: self._write(content),
        )

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
        append_lines(self.folder.metrics, self._rows)
        self.written += self._rows
        self._rows = []

    def _write_best(self) -> None:
        if self._best is not None:
            write_checkpoint(self.folder.best, self._best)
            self._best = None

    def _write(self, content: dict[str, Any]) -> None:
        step: int = content["step"]
        if self._newest is not None and self._newest != step:
            _link(self.folder.checkpoint, self.folder.older(self._newest))
        write_checkpoint(self.folder.checkpoint, content)
        self._newest = step
        older = [path for path in self.folder.checkpoints() if path != self.folder.checkpoint]
        for path in older[self.keep_checkpoints - 1 :]:
            path.unlink(missing_ok=True)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data)


def _link(path: Path, name: Path) -> None:
    """Add a second name to a file, which keeps it when the first name is replaced."""
    try:
        os.link(path, name)
    except (FileExistsError, FileNotFoundError):  # from an earlier attempt; or the file was removed
        pass
    except OSError:  # a file system without hard links
        os.replace(path, name)


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


def remove_leftovers(folder: RunFolder) -> None:
    """Remove temporary files of a killed process; the caller must hold the folder's lock."""
    for path in folder.path.rglob(".*.tmp"):
        with contextlib.suppress(OSError):  # the next start will retry
            path.unlink()
