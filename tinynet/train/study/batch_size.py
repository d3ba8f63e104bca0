"""The largest batch size whose training fits into a given memory (`tinynet find-batch-size`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tinynet.core.printing import quantity
from tinynet.train.base.memory import available, parse_size, peak, resident
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.config.resolve import load_config
from tinynet.train.run.processes import signal_name

SHARE = 0.9
"""How much of the available memory to use if none is given."""

_PROGRAM = ("-m", "tinynet.train.study.one_try")
_PAUSE = 0.02  # seconds between two looks at the memory of a try
_PRECISION = 16


@dataclass(frozen=True)
class Try:
    """A batch size that was tried."""

    batch_size: int
    fits: bool

    peak_bytes: int | None
    """The peak memory of its process; None if it was stopped, or an allocation failed."""

    example_seconds: float | None
    """The time of a training step per example."""


@dataclass(frozen=True)
class BatchSizeSearch:
    """The result of `find_batch_size`.

    Example:
        >>> from tinynet.train import find_batch_size
        >>> found = find_batch_size("configs/spiral.toml", {"data.batch_size": 10**4}, memory="2GB")
        >>> found.memory, found.suggestion == found.examples, len(found.tries)
        (2000000000, True, 1)
    """

    memory: int
    """The memory to fit into, in bytes."""

    available: bool
    """Whether this is `SHARE` of what was available, rather than given."""

    examples: int | None
    """The number of examples of the training set; None if nothing fits."""

    before_bytes: int | None
    """The memory before the first step: the program, the data, the weights."""

    tries: list[Try]
    """The tries, in their order."""

    suggestion: int | None
    """The largest batch size that fits; None if even a single example does not."""

    settings: list[str]
    """The settings that train with it: ``["data.batch_size=512"]``."""


def find_batch_size(
    config_path: str | Path,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    memory: str | int | None = None,
    each: Callable[[Try], object] | None = None,
) -> BatchSizeSearch:
    """Find the largest batch size whose training fits into a given memory.

    Each try takes a few training steps in a process of its own, whose peak memory counts: the
    program, the data, the weights, the state of the optimizer, and the step. The size is doubled,
    starting from the config's, until it no longer fits or is the whole training set; then
    the interval is halved until it is a sixteenth of the size. Nothing is written.

    Args:
        config_path: the TOML file.
        overrides: ``["model.dropout=0.1"]`` or ``{"model.dropout": 0.1}``; override the file.
        memory: ``"2GB"``, ``"512MiB"``, or a number of bytes; defaults to 90 % of what is available
            now. That is the kernel's estimate (MemAvailable), or what a container's limit leaves.
        each: called after each try.

    Raises:
        ConfigError: if the config has mistakes; lists all of them.
        UsageError: if the memory is not a size, or cannot be determined.
        TrainError: if the training fails with another error than a lack of memory.

    Example:
        >>> found = find_batch_size("configs/digits_mlp.toml", {"data.batch_size": 2000})
        >>> found.suggestion == found.examples, found.settings
        (True, ['data.batch_size=1290'])
    """
    limit = _limit(memory)
    given: Any = dict(overrides) if isinstance(overrides, Mapping) else _listed(overrides)
    config = load_config(config_path, given)  # reports mistakes without a process
    search = _Search(str(config_path), given, limit, each)
    found = largest(search.try_size, config.data.batch_size, lambda: search.examples)
    return BatchSizeSearch(
        limit,
        memory is None,
        search.examples,
        search.before,
        search.tries,
        found,
        [f"data.batch_size={found}"] if found else [],
    )


def _listed(overrides: Iterable[str]) -> list[str]:
    return [overrides] if isinstance(overrides, str) else [*overrides]


def _limit(memory: str | int | None) -> int:
    """Return the memory to fit into, in bytes."""
    if peak() is None:
        raise UsageError("this system does not report the peak memory of a process")
    if memory is None:
        found = available()
        if found is None:
            raise UsageError(
                "this system does not report the available memory: give the one to use"
            )
        return int(SHARE * found)
    try:
        limit = parse_size(memory) if isinstance(memory, str) else int(memory)
    except ValueError as error:
        raise UsageError(f"the memory {error}") from None
    if limit < 1:
        raise UsageError(f"the memory must be at least a byte, got {limit}")
    return limit


def largest(fits: Callable[[int], bool], start: int, most: Callable[[], int | None]) -> int | None:
    """Return the largest size that fits, up to a sixteenth of it; None if not even 1 does.

    Args:
        fits: whether a size fits; if one does, smaller ones are taken to fit, too.
        start: the first size to try.
        most: the largest size, known once a size has fitted.

    Example:
        >>> tried = []
        >>> largest(lambda size: tried.append(size) or size <= 100, 16, lambda: 1000), tried
        (100, [16, 32, 64, 128, 96, 112, 104, 100])
    """
    low, high, size = 0, 0, start
    while True:
        if fits(size):
            low = min(size, most() or size)
        else:
            high = size
        if high and high - low <= max(1, low // _PRECISION):
            return low or None
        if not high and low == most():
            return low
        size = (low + high) // 2 if high else min(2 * low, most() or 2 * low)


class _Search:
    """The tries of a search."""

    def __init__(
        self, config: str, overrides: Any, limit: int, each: Callable[[Try], object] | None
    ) -> None:
        self.request = {"config": config, "overrides": overrides}
        self.limit = limit
        self.each = each
        self.tries: list[Try] = []
        self.examples: int | None = None
        self.before: int | None = None

    def try_size(self, size: int) -> bool:
        """Return whether a batch size fits."""
        found = _answer({**self.request, "batch_size": size}, self.limit)
        if "error" in found:
            raise (UsageError if found["exit_code"] == 2 else TrainError)(found["error"])
        if found["fits"]:
            self.examples, self.before = found["examples"], found["before"]
            size = min(size, found["examples"])
        used = found.get("peak")
        done = Try(size, bool(used and used <= self.limit), used, found.get("seconds"))
        self.tries.append(done)
        if self.each is not None:
            self.each(done)
        return done.fits


def _answer(request: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Run a try in its process, and end it as soon as it uses more than the limit.

    Raises:
        TrainError: if it ends in any other way than with an answer.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        with _started(request, output, messages) as process:
            try:
                while process.poll() is None:
                    if (resident(process.pid) or 0) > limit:
                        return {"fits": False}
                    time.sleep(_PAUSE)
            finally:
                process.kill()
        lines = _lines(output)
        if process.returncode == 0 and lines:
            found: dict[str, Any] = json.loads(lines[-1])
            return found
        if process.returncode == -getattr(signal, "SIGKILL", 9):  # by the system, out of memory
            return {"fits": False}
        tried = f"a try with {quantity(request['batch_size'], 'example')}"
        if killed_by := signal_name(process.returncode):
            raise TrainError(f"{tried} was killed by {killed_by}")
        text = "\n".join(f"  {line}" for line in _lines(messages)[-20:])
        raise TrainError(f"{tried} failed\n{text}")


def _started(
    request: Mapping[str, Any], output: IO[bytes], messages: IO[bytes]
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, *_PROGRAM, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=messages,
    )
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(request, default=str).encode())
        process.stdin.close()
    except BrokenPipeError:  # it has ended; its messages say why
        pass
    return process


def _lines(file: IO[bytes]) -> list[str]:
    file.seek(0)
    return file.read().decode("utf-8", "replace").splitlines()
