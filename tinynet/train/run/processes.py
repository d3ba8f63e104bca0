"""A run in several processes: each trains on its share, and rank 0 writes the run folder.

The other ranks do the same, but print nothing, and write to a folder that is removed at the end.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tinynet import distributed
from tinynet.core.printing import quantity
from tinynet.distributed.process_group import world
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.config.sections import Config
from tinynet.train.step.ranks import Ranks
from tinynet.train.step.task import RankError


@contextlib.contextmanager
def agreeing(ranks: Ranks | None) -> Iterator[None]:
    """Prepare a run: if a rank fails, the first one that did raises its error, the others exit."""
    if ranks is None:
        yield
        return
    problem: Exception | None = None
    try:
        yield
    except Exception as error:
        problem = error
    codes = ranks.in_order([problem and getattr(problem, "exit_code", 1)], ranks.size)
    failed = [rank for rank, code in enumerate(codes) if code is not None]
    if not failed:
        return
    distributed.destroy_process_group()
    if ranks.rank != failed[0] or problem is None:
        raise SystemExit(codes[failed[0]])
    raise problem


@contextlib.contextmanager
def ending_together(ranks: Ranks | None, resume: str) -> Iterator[None]:
    """End all processes with one message if this one fails.

    Args:
        ranks: the processes.
        resume: the command that resumes the run. Only rank 0 writes, so only its value is used.
    """
    if ranks is None or ranks.size == 1:
        yield
        return
    watchdog = world.watchdog
    assert watchdog is not None
    advise(ranks, ranks.in_order([resume], ranks.size)[0])
    try:
        yield
    except RankError as error:
        watchdog.give_way(error.exit_code)
    except BaseException as error:
        stopped = isinstance(error, KeyboardInterrupt)
        code = 130 if stopped else getattr(error, "exit_code", 1)
        if not watchdog.claim():
            watchdog.give_way(code)
        expected = isinstance(error, TrainError)
        text = "stopped" if stopped else str(error) if expected else traceback.format_exc().strip()
        lines = [f"rank {ranks.rank} of {ranks.size}: {text}", watchdog.advice]
        print(*lines, sep="\n", file=sys.stderr, flush=True)
        watchdog.abort(code)
    else:
        distributed.barrier(ranks.group)


def advise(ranks: Ranks | None, resume: str) -> None:
    """Let the message about a rank that fails end with the command that resumes the run."""
    if ranks is not None and world.watchdog is not None:
        world.watchdog.advise(f"to resume after the last checkpoint:\n  {resume}")


def with_override(
    overrides: Iterable[str] | Mapping[str, Any], key: str, value: int
) -> list[str] | dict[str, Any]:
    """Return overrides of a config with another one."""
    if isinstance(overrides, Mapping):
        return {**overrides, key: value}
    return [*overrides, f"{key}={value}"]


def sharing(ranks: Ranks, config: Config) -> str:
    """Return a line about the processes and their batches."""
    batches, size = config.optimizer.accumulate, config.data.batch_size
    of_step = f"{quantity(batches, 'batch', 'batches')} of {quantity(size, 'example')}"
    text = f"{ranks.size} processes share the {of_step} of each step"
    idle = ranks.size - batches
    return f"{text}; {idle} of them have nothing to do" if idle > 0 else text


def check_same(ranks: Ranks | None, text: str) -> None:
    """Refuse ranks whose config differs from rank 0's.

    Raises:
        UsageError: if they differ.
    """
    if ranks is None:
        return
    texts = ranks.in_order([text], ranks.size)
    other = next((rank for rank, one in enumerate(texts) if one != texts[0]), None)
    if other is not None:
        raise UsageError(f"the configs of the ranks 0 and {other} differ: start all with one file")


@contextlib.contextmanager
def temporary(ranks: Ranks | None) -> Iterator[Path | None]:
    """Give all ranks but the first a folder that is removed at the end; None to the first."""
    if ranks is None or ranks.is_first:
        yield None
        return
    path = Path(tempfile.mkdtemp(prefix=f"tinynet-rank-{ranks.rank}-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def private_folder(folder: RunFolder, place: Path | None, ranks: Ranks | None) -> RunFolder:
    """Return a copy of a run folder in another place; the folder itself without one."""
    copy = folder
    if place is not None:
        copy = RunFolder(place / folder.path.name)
        shutil.copytree(folder.path, copy.path, symlinks=True)
    if ranks is not None:
        distributed.barrier(ranks.group)  # before rank 0 changes what others copy
    return copy
