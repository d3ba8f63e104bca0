"""The errors between a config file and a trained model, and helpers for their messages."""

from __future__ import annotations

import contextlib
import os
import sysconfig
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tinynet.core.callsite import OUTSIDE
from tinynet.core.explanations.arguments import nearest
from tinynet.core.printing import quantity

_PACKAGE = str(Path(__file__).absolute().parents[2]) + os.sep


class TrainError(Exception):
    """A run cannot start or continue; the message suffices without a traceback."""

    exit_code = 1


class UsageError(TrainError):
    """A mistake in the config or the arguments: exit code 2."""

    exit_code = 2


@dataclass(frozen=True)
class Origin:
    """The origin of a value in a config.

    Example:
        >>> print(Origin("file", "digits.toml", 12))
        digits.toml:12
        >>> print(Origin("command line"))
        command line
    """

    kind: str
    """``"default"``, ``"file"``, ``"command line"`` or ``"overrides"``."""

    file: str = ""
    """The file, as the user named it; empty for the other kinds."""

    line: int = 0
    """The line in the file, from 1; 0 for the file as a whole."""

    def __str__(self) -> str:
        if self.kind != "file":
            return self.kind
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Problem:
    """A mistake in a config: its origin, its path, and a description.

    Example:
        >>> print(Problem(Origin("file", "digits.toml", 12), "optimizer.lr", "must be a number"))
        digits.toml:12: optimizer.lr: must be a number
    """

    origin: Origin
    """The origin of the value."""

    path: str
    """The path of the value: ``"optimizer.lr"``; empty for the file as a whole."""

    text: str
    """What is wrong, and what is expected."""

    def __str__(self) -> str:
        subject = f"{self.path}: " if self.path else ""
        return f"{self.origin}: {subject}{self.text}"


class ConfigError(UsageError):
    """All mistakes in a config with file and line, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems, key=_by_place)
        tail = quantity(len(self.problems), "mistake")
        super().__init__("\n".join([*map(str, self.problems), f"{tail}; nothing was written."]))


class Problems:
    """Collects the problems of a config, to report all of them at once.

    Example:
        >>> problems = Problems()
        >>> problems.add(Origin("file", "digits.toml", 3), "run.seed", "must be an integer")
        >>> problems.raise_if_any()
        Traceback (most recent call last):
        ...
        tinynet.train.base.problems.ConfigError: digits.toml:3: run.seed: must be an integer
        1 mistake; nothing was written.
    """

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def __len__(self) -> int:
        return len(self._problems)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems)

    def add(self, origin: Origin, path: str, text: str) -> None:
        """Add a problem."""
        self._problems.append(Problem(origin, path, text))

    def raise_if_any(self) -> None:
        """Raise a `ConfigError` with all problems, if there are any."""
        if self._problems:
            raise ConfigError(self._problems)


def _by_place(problem: Problem) -> tuple[bool, str, int]:
    """Sort files by line, before the command line."""
    origin = problem.origin
    return origin.kind != "file", origin.file, origin.line


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'lr'?"`` for the nearest known word, or ``""``.

    Example:
        >>> did_you_mean("momentun", ["lr", "momentum"])
        "; did you mean 'momentum'?"
        >>> did_you_mean("zzz", ["lr"])
        ''
    """
    near = nearest(word, known)
    return "" if near is None else f"; did you mean {near!r}?"


def sentence(text: str) -> str:
    """Add a full stop, unless the text ends with a punctuation mark.

    Example:
        >>> sentence("must be a number"), sentence("did you mean 'lr'?")
        ('must be a number.', "did you mean 'lr'?")
    """
    return text if text.endswith((".", "?")) else f"{text}."


def of_section(name: str, keys: Iterable[str]) -> str:
    """List the keys of a section, for a message."""
    return f"[{name}] has: {one_of(keys)}"


def one_of(words: Iterable[str]) -> str:
    """Join words as a list for a message.

    Example:
        >>> one_of(["SGD", "Adam"])
        'SGD, Adam'
        >>> one_of([])
        'nothing'
    """
    return ", ".join(words) or "nothing"


def few_of(words: Sequence[str], rest: str, most: int = 12) -> str:
    """Join words as a list; of many, only the first ones and the command that lists the rest.

    Example:
        >>> few_of(["SGD", "Adam", "RMSprop"], "tinynet list optimizer", most=2)
        'SGD, Adam and 1 more (tinynet list optimizer)'
    """
    if len(words) <= most:
        return one_of(words)
    return f"{one_of(words[:most])} and {len(words) - most} more ({rest})"


def in_users_code(error: BaseException) -> str:
    """Return the traceback of an error, indented, with only the frames of the user's code."""
    frames = [frame for frame in _frames(error) if not _is_ours(frame.filename)]
    # Without causes: their frames would have to be filtered, too.
    origin = getattr(error, "worker_origin", None)
    last = origin.last if origin else traceback.format_exception_only(error)
    lines = "".join([*traceback.StackSummary.from_list(frames).format(), *last]).splitlines()
    return "\n".join(f"  {line}" for line in lines)


@contextlib.contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings as one line inside; with the place only if it is in a user's file."""
    usual = warnings.formatwarning

    def shown(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        line: str | None = None,
    ) -> str:
        if _is_ours(filename):
            return f"warning: {message}\n"
        return usual(message, category, filename, lineno, line)

    warnings.formatwarning = shown
    try:
        yield
    finally:
        warnings.formatwarning = usual


def has_users_frames(error: BaseException) -> bool:
    """Return whether the error's traceback has frames outside tinynet."""
    return any(not _is_ours(frame.filename) for frame in _frames(error))


def is_from_users_file(error: BaseException) -> bool:
    """Return whether the error's traceback has frames in the user's own files."""
    installed = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib"))
    names = (frame.filename for frame in _frames(error))
    return any(not _is_ours(name) and not name.startswith(installed) for name in names)


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of an error's traceback, or those in the worker of a loader."""
    origin = getattr(error, "worker_origin", None)
    if origin is None:
        return [*traceback.extract_tb(error.__traceback__)]
    return [traceback.FrameSummary(*frame[:3], line=frame[3]) for frame in origin.frames]


def _is_ours(filename: str) -> bool:
    ours = (_PACKAGE, "<tinynet", "<frozen ", "<string>")
    return filename.startswith(ours) or OUTSIDE.get(filename) is False
