"""The folder of a run. It is never overwritten, and its files are never half-written."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinynet.atomic_write import write_atomically
from tinynet.invocation import command
from tinynet.train.checkpoint.checksums import row_of, sealed_row
from tinynet.train.config.problems import TrainError, UsageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


_NAMED = 10  # epochs to name in a message


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

    def checkpoints(self) -> list[Path]:
        """Return the existing checkpoints, newest first."""
        older = {
            int(found[1]): path
            for path in self.path.glob("checkpoint-*.npz")
            if (found := re.fullmatch(r"checkpoint-(\d+)\.npz", path.name))
        }
        newest = [self.checkpoint] if self.checkpoint.exists() else []
        return newest + [older[step] for step in sorted(older, reverse=True)]

    @property
    def best(self) -> Path:
        """The best weights on the test set, if they are tracked."""
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


def no_run(path: Path, missing: str) -> UsageError:
    """Return the error for a folder that is no run folder; it counts the runs in it."""
    count = sum(1 for _ in runs_in(path))
    found = f"; `{command('explain', path)}` lists the {count} in it" if count else ""
    return UsageError(f"{path} is not the folder of a run: it has no {missing}{found}")


def write_text(path: Path, text: str) -> None:
    """Replace a text file.

    Raises:
        TrainError: if it cannot be written; the old file stays unchanged.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file; raises the error of `write_text`."""
    try:
        write_atomically(path, lambda file: file.write(data))
    except OSError as error:
        raise TrainError(f"{path} cannot be written ({error.strerror})") from error


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Replace a JSON file; raises the error of `write_text`."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n")


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Append lines to a text file, all or none, and synchronize it with the disk.

    Raises:
        TrainError: if they cannot be written; the file stays unchanged.
    """
    if not lines:
        return
    try:
        with open(path, "ab") as file:
            end = file.tell()
            try:
                file.write("".join(f"{line}\n" for line in lines).encode())
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    os.truncate(path, end)
                raise
    except OSError as error:
        raise TrainError(f"{path} cannot be written ({error.strerror})") from error


def cut_rows(path: Path, step: int, epochs: int = 0, *, sealed: bool = False) -> list[str]:
    """Remove the rows of ``metrics.jsonl`` from a step on.

    Args:
        path: the file.
        step: the first step whose rows are removed.
        epochs: the expected number of rows, one per epoch; if some are missing, warn, and keep the
            old file beside the new one.
        sealed: whether each row must have a checksum.

    Returns:
        The remaining lines, with checksums.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        text = ""
    rows = [row for line in text.splitlines() if (row := row_of(line, must=sealed))]
    rows = [row for row in rows if isinstance(row.get("step"), int) and row["step"] < step]
    lost = {*range(1, epochs + 1)} - {row.get("epoch") for row in rows}
    if lost:
        if text:
            write_text(path.with_suffix(".damaged"), text)
        listed = ", ".join(map(str, sorted(lost)[:_NAMED])) + ", ..." * (len(lost) > _NAMED)
        message = f"{path} is damaged: it has no good row for epoch {listed} any more"
        warnings.warn(message, StorageWarning, stacklevel=3)
    lines = [sealed_row(json.dumps(row, ensure_ascii=False)) for row in rows]
    if text:
        write_text(path, "".join(f"{line}\n" for line in lines))
    return lines


# ---- one process at a time ----


@contextlib.contextmanager
def locked(folder: RunFolder) -> Iterator[None]:
    """Lock the folder against training in other processes; the lock ends with the process.

    Raises:
        UsageError: if another process holds the lock.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder.path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(f"another process is training in {folder.path}") from None
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(handle)
