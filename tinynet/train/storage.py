"""What a run keeps on the disk while it goes on: checkpoints, the best weights, rows of figures.

A disk that is full does not end a run: there is one warning with the reason, what could not be
written waits in memory, and is tried again.
"""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinynet.train import checkpoint
from tinynet.train.checkpoint import CheckpointError
from tinynet.train.folder import RunFolder, append_lines
from tinynet.train.problems import TrainError

_PAUSE = 10.0  # seconds between two attempts to write to a disk that is full


class StorageWarning(RuntimeWarning):
    """A run goes on, but something of it cannot be written at present, or is damaged.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():  # a program that would rather stop
        ...     warnings.simplefilter("error", StorageWarning)
        ...     # train, or read a run back
    """


class Storage:
    """Writes the files of a run folder.

    Args:
        folder: the folder.
        keep: how many checkpoints are kept, the newest included.
        newest: the step of the newest one, when going on.
    """

    def __init__(self, folder: RunFolder, keep: int, newest: int | None = None) -> None:
        self.folder = folder
        self.keep = keep
        self._newest = newest
        self._rows: list[str] = []
        self._best: dict[str, Any] | None = None
        self._failed_at: float | None = None

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt to write failed."""
        return self._failed_at is not None

    @property
    def wants_another_try(self) -> bool:
        """Whether the last attempt failed a while ago."""
        return self._failed_at is not None and time.monotonic() - self._failed_at > _PAUSE

    def add_row(self, line: str) -> None:
        """A line for ``metrics.jsonl``; it is written with the next checkpoint."""
        self._rows.append(line)

    def set_best(self, content: dict[str, Any]) -> None:
        """The best weights so far."""
        self._best = content
        if not self._attempt(self._write_best):
            self._best = copy.deepcopy(content)  # the weights themselves will be others soon

    def save(self, content: dict[str, Any]) -> bool:
        """Write all that waits, and a checkpoint.

        Returns:
            Whether it is on the disk; if not, there was a warning.

        Raises:
            CheckpointError: something in it can only be pickled.
        """
        return self._attempt(self._write_rows, self._write_best, lambda: self._write(content))

    def _attempt(self, *writers: Callable[[], object]) -> bool:
        try:
            for write in writers:
                write()
        except (TrainError, OSError) as error:
            reason = error if isinstance(error, OSError) else error.__cause__
            if not isinstance(reason, OSError):
                raise
            if self._failed_at is None:
                text = f"{error}. Training goes on, and writing is tried again"
                warnings.warn(text, StorageWarning, stacklevel=4)
            self._failed_at = time.monotonic()
            return False
        if self._failed_at is not None and len(writers) > 1:
            self._failed_at = None
            text = f"{self.folder.path} can be written again; all is saved"
            warnings.warn(text, StorageWarning, stacklevel=4)
        return True

    def _write_rows(self) -> None:
        append_lines(self.folder.metrics, self._rows)
        self._rows = []

    def _write_best(self) -> None:
        if self._best is not None:
            checkpoint.save(self.folder.best, self._best)
            self._best = None

    def _write(self, content: dict[str, Any]) -> None:
        step: int = content["step"]
        if self._newest is not None and self._newest != step:
            _also_called(self.folder.checkpoint, self.folder.older(self._newest))
        checkpoint.save(self.folder.checkpoint, content)
        self._newest = step
        older = [path for path in self.folder.checkpoints() if path != self.folder.checkpoint]
        for path in older[self.keep - 1 :]:
            path.unlink(missing_ok=True)


def _also_called(path: Path, name: Path) -> None:
    """Give a file a second name, under which it stays when the first one is replaced."""
    try:
        os.link(path, name)
    except (FileExistsError, FileNotFoundError):  # of an attempt before; or somebody removed it
        pass
    except OSError:  # a file system that knows no second names
        os.replace(path, name)


# ---- reading ----


def newest_checkpoint(folder: RunFolder) -> tuple[Path, dict[str, Any]] | None:
    """The newest checkpoint that is not damaged, with a warning of those that are; None without.

    Raises:
        CheckpointError: all are damaged, or cannot be read.
    """
    damaged: list[CheckpointError] = []
    for path in folder.checkpoints():
        try:
            content = checkpoint.load(path)
        except CheckpointError as error:
            damaged.append(error)
            continue
        if damaged:
            text = "; ".join(str(error) for error in damaged)
            text = f"{text}. {path.name}, of step {content['step']}, is used instead"
            warnings.warn(text, StorageWarning, stacklevel=2)
        return path, content
    if damaged:
        raise CheckpointError("; ".join(str(error) for error in damaged)) from damaged[0]
    return None


def sweep(folder: RunFolder) -> None:
    """Remove what writing left behind that was killed; only for who holds the folder's lock."""
    for path in folder.path.glob(".*.tmp"):
        path.unlink(missing_ok=True)
