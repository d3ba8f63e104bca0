"""What a run depends on besides its config: the command, versions, the git commit, the vocabulary.

The records of a new and of a resumed run begin with the first three.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from tinynet.base.invocation import typed
from tinynet.data import FormatError, Tokenizer
from tinynet.kernels import native as native_kernels
from tinynet.kernels import onednn, threads
from tinynet.kernels.native import compiler
from tinynet.train.base.files import read_bytes, write_text
from tinynet.train.base.memory import peak
from tinynet.train.base.problems import UsageError
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.config.sections import Config
from tinynet.train.loop.splits import dataset_attribute

# ---- spending -----------------------------------------------------------------------------------
# What a run has cost: its time, the processors' time, and memory.


class Spending:
    """The cost of a run since this object was made, added to that before the run was resumed."""

    def __init__(self) -> None:
        self._seconds, self._cpu = time.monotonic(), _cpu_seconds()

    def added_to(self, before: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return ``seconds``, ``cpu_seconds`` (worker processes that have ended included), and
        ``peak_bytes`` of this process, if it is known.

        Args:
            before: what this returned before the run was resumed.
        """
        before = before or {}
        found: dict[str, Any] = {
            "seconds": round(before.get("seconds", 0) + time.monotonic() - self._seconds, 3),
            "cpu_seconds": round(before.get("cpu_seconds", 0) + _cpu_seconds() - self._cpu, 3),
        }
        largest = max(peak() or 0, before.get("peak_bytes", 0))
        return found | ({"peak_bytes": largest} if largest else {})


def _cpu_seconds() -> float:
    return sum(os.times()[:4])


# ---- provenance ---------------------------------------------------------------------------------


_TIMEOUT = 10.0  # seconds, for git in a huge repository

_MOST = 100  # untracked files to record


def surroundings() -> dict[str, Any]:
    """Return the command line, its folder and time, the versions, and the platform."""
    return {
        "command": sys.argv,
        "typed": typed(),
        "working_directory": os.getcwd(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {
            "tinynet": version(),
            "numpy": np.__version__,
            "python": platform.python_version(),
            **(
                {"llvm": compiler.version(), "oneDNN": onednn.library.version()}
                if native_kernels.on
                else {}
            ),
        },
        "platform": platform.platform(),
        "threads": threads.get_count(),
        "processors": threads.processors.usable(),
    }


def repository(folder: Path) -> dict[str, Any] | None:
    """Return the state of the git repository around a folder.

    Returns:
        ``{"commit": ..., "dirty": ..., "untracked": [...]}``: dirty means that tracked files have
        changed. None if there is no repository, no commit or no git.
    """
    status = _git(folder, "status", "--porcelain=v2", "--branch", "-z")
    if status is None:
        return None
    lines = status.split("\0")
    commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid ")), None)
    if commit is None or commit == "(initial)":
        return None
    untracked = [line[2:] for line in lines if line.startswith("? ")]
    dirty = any(line.startswith(("1 ", "2 ", "u ")) for line in lines)
    return {"commit": commit, "dirty": dirty, "untracked": untracked[:_MOST]}


def uncommitted(folder: Path) -> str:
    """Return the changes to tracked files since the commit, as a patch."""
    return _git(folder, "diff", "HEAD") or ""


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


@functools.cache
def version() -> str:
    """Return the installed version of tinynet, or ``"unknown"``."""
    try:
        return metadata.version("tinynet-numpy")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "unknown"


def new_record(config: Config, folder: RunFolder) -> dict[str, Any]:
    """Return the record of a new run, and write its uncommitted changes to ``changes.diff``.

    Raises:
        TrainError: if the changes cannot be written.
    """
    provenance = {**surroundings(), **_repository_state(config, folder.diff)}
    return {**provenance, "seed": config.run.seed, "status": "running", "process": os.getpid()}


def resumed_record(
    config: Config,
    folder: RunFolder,
    step: int,
    changed: Mapping[str, Sequence[Any]],
    record: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the record of a resumed run, with an entry for its step, time and versions.

    Args:
        config: the config of the resumed run.
        folder: the run folder.
        step: the step at which the run resumes.
        changed: the changed values of the config, as (before, after).
        record: the content of ``run.json`` so far; empty if it cannot be read.

    Raises:
        TrainError: if the uncommitted changes cannot be written.
    """
    record = record if "status" in record else {**new_record(config, folder), **record}
    times = record.get("resumed", [])
    diff = folder.diff.with_stem(f"{folder.diff.stem}-{len(times) + 1}")
    entry = {
        **surroundings(),
        **_repository_state(config, diff),
        "step": step,
        "changed": dict(changed),
    }
    own = {"status": "running", "process": os.getpid(), "resumed": [*times, entry]}
    of_the_end = {"error", "epochs", "test", "test_best"}
    return {key: value for key, value in record.items() if key not in of_the_end} | own


def _repository_state(config: Config, diff: Path) -> dict[str, Any]:
    place = Path(config.file).parent
    git = repository(place)
    if git is not None and git["dirty"]:
        write_text(diff, uncommitted(place))
    return {"git": git}


def vocabulary_files(train_set: Any, folder: RunFolder) -> dict[str, bytes]:
    """Return the tokenizer and vocabulary of a data set as files: name -> content."""
    tokenizer, words = dataset_attribute(train_set, "tokenizer"), _words(train_set)
    files = {}
    if isinstance(tokenizer, Tokenizer):
        files[folder.tokenizer.name] = tokenizer.to_bytes()
    if words is not None:
        text = json.dumps(words, ensure_ascii=False, indent=0) + "\n"
        files[folder.vocabulary.name] = text.encode("utf-8", "backslashreplace")
    return files


def check_vocabulary(train_set: Any, folder: RunFolder, damaged: Collection[str] = ()) -> None:
    """Check that the tokens and words of a text are those that the model was trained on.

    Args:
        train_set: the training set, which may be a text.
        folder: the run folder.
        damaged: the names of damaged files in it, which are not compared.

    Raises:
        UsageError: if its tokenizer or its vocabulary differs from that in the folder.
    """
    if folder.tokenizer.name not in damaged:
        _check_tokenizer(train_set, folder)
    if folder.vocabulary.name not in damaged:
        _check_words(_words(train_set), folder)


def _words(train_set: Any) -> list[str] | None:
    """Return the vocabulary of a data set, in the order of the indices; None if it has none."""
    words = dataset_attribute(train_set, "vocabulary")
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        return None
    return [*words]


def _check_words(words: list[str] | None, folder: RunFolder) -> None:
    try:
        stored = json.loads(read_bytes(folder.vocabulary))
    except (FileNotFoundError, ValueError):  # nothing to compare with
        return
    if words is not None and words != stored:
        raise UsageError(
            "the text has changed since the run began: its words are not those that the model has "
            f"learned ({folder.vocabulary}), so the same numbers would mean other words. Restore "
            "the former text, or start a new run"
        )


def _check_tokenizer(train_set: Any, folder: RunFolder) -> None:
    tokenizer = dataset_attribute(train_set, "tokenizer")
    if not isinstance(tokenizer, Tokenizer):
        return
    try:
        stored = Tokenizer.load(folder.tokenizer)
    except (OSError, FormatError):  # nothing to compare with
        return
    if not stored.is_same(tokenizer):
        raise UsageError(
            f"the text has changed since the run began: its tokens ({tokenizer.vocab_size}) are "
            f"not those that the model has learned ({stored.vocab_size}, in {folder.tokenizer}), "
            "so the same numbers would mean other characters. Restore the former text, or start a "
            f"new run; one with data.tokenizer = {str(folder.tokenizer)!r} has the former tokens"
        )


def stored_tokenizer(folder: RunFolder, damaged: Mapping[str, str]) -> Tokenizer:
    """Return the tokenizer in a run folder.

    Args:
        folder: the run folder.
        damaged: the damaged files in it, with their problems.

    Raises:
        UsageError: if the run did not train on a text, or the file is damaged.
    """
    file = folder.tokenizer
    if file.name in damaged:
        raise UsageError(damaged[file.name])
    try:
        tokenizer: Tokenizer = Tokenizer.load(file)
    except FileNotFoundError:
        raise UsageError(f"{folder.path} has no {file.name}: its data set is not a text") from None
    except (OSError, FormatError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    return tokenizer


def stored_vocabulary(folder: RunFolder, damaged: Mapping[str, str]) -> list[str]:
    """Return the vocabulary in a run folder; arguments and errors as for `stored_tokenizer`."""
    file = folder.vocabulary
    if file.name in damaged:
        raise UsageError(damaged[file.name])
    try:
        words: list[str] = json.loads(read_bytes(file))
    except FileNotFoundError:
        raise UsageError(f"{folder.path} has no {file.name}: its data set has no words") from None
    except ValueError as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    return words
