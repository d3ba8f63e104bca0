"""The folder of a run: made once, never overwritten, its files never half-written."""

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


_NAMED = 10  # epochs in a message


class StorageWarning(RuntimeWarning):
    """A run goes on, but something of it cannot be written at present, or is damaged.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():  # a program that would rather stop
        ...     warnings.simplefilter("error", StorageWarning)
        ...     # train, or read a run back
    """


@dataclass(frozen=True)
class RunFolder:
    """Where the files of a run are."""

    path: Path

    @property
    def config(self) -> Path:
        """The resolved config; it can be trained again."""
        return self.path / "config.toml"

    @property
    def checkpoint(self) -> Path:
        """The latest state of everything."""
        return self.path / "checkpoint.npz"

    def older(self, step: int) -> Path:
        """The name that the checkpoint of a step has once there is a newer one."""
        return self.path / f"checkpoint-{step}.npz"

    def checkpoints(self) -> list[Path]:
        """All checkpoints that there are, the newest first."""
        older = {
            int(found[1]): path
            for path in self.path.glob("checkpoint-*.npz")
            if (found := re.fullmatch(r"checkpoint-(\d+)\.npz", path.name))
        }
        newest = [self.checkpoint] if self.checkpoint.exists() else []
        return newest + [older[step] for step in sorted(older, reverse=True)]

    @property
    def best(self) -> Path:
        """The weights that were best on the test set, where that is watched."""
        return self.path / "best.npz"

    @property
    def diff(self) -> Path:
        """What was not committed in the git repository of the config, as ``git diff`` says it."""
        return self.path / "changes.diff"

    @property
    def post_mortems(self) -> Path:
        """The steps that came to NaN or infinity, a folder each; there only if there are any."""
        return self.path / "post_mortem"

    @property
    def record(self) -> Path:
        """What was run, where, and how it ended."""
        return self.path / "run.json"

    @property
    def tokenizer(self) -> Path:
        """What makes text of the tokens of the data set, if that is a text."""
        return self.path / "tokenizer.json"

    @property
    def vocabulary(self) -> Path:
        """The words of the data set, if it has some, in the order of their numbers."""
        return self.path / "vocabulary.json"

    @property
    def metrics(self) -> Path:
        """One JSON object per epoch."""
        return self.path / "metrics.jsonl"


def new_run_folder(out: str | Path, name: str) -> RunFolder:
    """A folder that did not exist before: ``out/name/<date and time>``.

    Raises:
        TrainError: it cannot be made.
    """
    return RunFolder(new_folder(Path(out) / name))


def new_folder(parent: Path, prefix: str = "") -> Path:
    """A folder that did not exist before: ``parent/<prefix><date and time>``.

    Raises:
        TrainError: it cannot be made.
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
    raise AssertionError("unreachable: counting does not end")


def runs_in(path: Path, levels: int = 4) -> Iterator[Path]:
    """The folders of runs in a folder, as far down as sweeps have them: NAME/SWEEP/POINT/RUN."""
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
    """What is wrong with a folder that is not that of a run, and how to find the runs in it."""
    count = sum(1 for _ in runs_in(path))
    found = f"; `{command('explain', path)}` lists the {count} in it" if count else ""
    return UsageError(f"{path} is not the folder of a run: it has no {missing}{found}")


def write_text(path: Path, text: str) -> None:
    """Replace a text file.

    Raises:
        TrainError: it cannot be written; the old one is as it was.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file; the error is that of `write_text`."""
    try:
        write_atomically(path, lambda file: file.write(data))
    except OSError as error:
        raise TrainError(f"{path} cannot be written ({error.strerror})") from error


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Replace a JSON file; the error is that of `write_text`."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n")


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Add lines to a text file, all or none; they are on the disk afterwards.

    Raises:
        TrainError: they cannot be written; the file is as it was.
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
    """Leave only the rows of ``metrics.jsonl`` that were written before a step was done.

    Args:
        path: the file.
        step: the step.
        epochs: how many rows there must be, one for each epoch; those that are lost are warned of,
            and the file as it was is kept beside the new one.
        sealed: whether each row must have a checksum.

    Returns:
        The lines that are left, each with its checksum.
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
        said = f"{path} is damaged: it has no good row for epoch {listed} any more"
        warnings.warn(said, StorageWarning, stacklevel=3)
    lines = [sealed_row(json.dumps(row, ensure_ascii=False)) for row in rows]
    if text:
        write_text(path, "".join(f"{line}\n" for line in lines))
    return lines


# ---- one process at a time ----


@contextlib.contextmanager
def locked(folder: RunFolder) -> Iterator[None]:
    """While inside, no other process trains in the folder; the lock ends with the process.

    Raises:
        UsageError: one does already.
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
