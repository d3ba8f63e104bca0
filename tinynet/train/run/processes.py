"""The processes of a run: signals, the process that started it, and the ranks of ``mpirun``."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from tinynet import distributed
from tinynet.base.invocation import command
from tinynet.core.printing import quantity
from tinynet.distributed.process_group import world
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.config.sections import Config
from tinynet.train.loop.callback import Moment
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


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def resumable(*words: object) -> Iterator[None]:
    """Add the command that resumes the work to a KeyboardInterrupt raised inside.

    Args:
        words: the words of the command, such as ``"resume"`` and the folder.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        text = "the steps after the last checkpoint are lost; to resume:"
        stop.add_note(f"{text}\n  {command(*words)}")
        raise


def signal_name(code: int) -> str:
    """Return the name of the signal that ended a program; "" if it has ended by itself.

    Args:
        code: its exit code, as `subprocess` has it.

    Example:
        >>> signal_name(-9), signal_name(143), signal_name(1)
        ('SIGKILL', 'SIGTERM', '')
    """
    number = -code if code < 0 else code - 128
    if code >= 0 and number not in _SIGNALS:  # tinynet's own exit codes
        return ""
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


class StopRequest:
    """Catches the first Ctrl-C and SIGTERM, each, and sets `signal`; others act as usual.

    A run that has got Ctrl-C from the terminal gets SIGTERM from its search, too; it still saves.
    Outside the main thread, where Python allows no signal handlers, it does nothing.

    Example:
        >>> with StopRequest() as stop:
        ...     stop.signal is None
        True
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in _SIGNALS}
            # An ignored signal stays ignored, as under nohup or in a shell's background job.
            self._previous = {n: h for n, h in handlers.items() if h is not signal.SIG_IGN}
            for number in self._previous:
                signal.signal(number, self._record)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number in [*self._previous]:
            self._restore_handler(number)

    def _record(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number
        self._restore_handler(number)

    def _restore_handler(self, number: int) -> None:
        handler = self._previous.pop(number)
        # None: a handler that was not set from Python, so Python cannot set it again.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


VARIABLE = "TINYNET_SUPERVISED"

_BLOCK = 4096


def supervisors() -> tuple[Supervised, ...]:
    """Return the callback for the process that started this one, if it supervises its runs."""
    if os.environ.pop(VARIABLE, None) is None:  # not for processes that this one starts
        return ()
    reads, writes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return (Supervised(reads, writes),)


class Supervised:
    """A callback that reports each evaluation, and waits for the answer.

    If the other process dies, the run stops as after SIGTERM, with a checkpoint.

    Args:
        reads: the file descriptor of the answers.
        writes: the file descriptor of the reports.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self._writes = writes
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._is_alone = self._is_over = False
        threading.Thread(target=self._listen, args=[reads], daemon=True).start()

    def on_evaluation_end(self, at: Moment) -> None:
        """Report the figures; stop the run if the answer is a reason."""
        if self._is_alone:
            return
        try:
            os.write(self._writes, _line({"epoch": at.epoch, "figures": dict(at.figures)}))
        except OSError:  # the other process has died
            return
        reason = self._answers.get()
        if reason:
            at.stop(reason)

    def on_run_end(self, at: Moment) -> None:
        """Stop listening: the run has nothing left to stop."""
        self._is_over = True

    def _listen(self, reads: int) -> None:
        for line in _lines(reads):
            self._answers.put(json.loads(line))
        self._is_alone = True
        self._answers.put("")
        if not self._is_over:
            signal.raise_signal(signal.SIGTERM)


def _line(content: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(content)}\n".encode()


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield lines from a pipe, without a lock that would disturb the end of the process."""
    rest = b""
    while block := os.read(descriptor, _BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
