"""``run.json``: what was run, where, and how it ended; also each time that it went on."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tinynet.train.checkpoint.checksums import is_sealed, sealed
from tinynet.train.checkpoint.provenance import repository, surroundings, uncommitted
from tinynet.train.checkpoint.run_folder import RunFolder, StorageWarning, write_json, write_text
from tinynet.train.config.problems import TrainError
from tinynet.train.config.sections import Config


def new_record(config: Config, folder: RunFolder) -> dict[str, Any]:
    """What a run depends on besides its config; what git does not have goes beside it.

    Raises:
        TrainError: it cannot be written.
    """
    place = {**surroundings(), **_git(config, folder.diff)}
    return {**place, "seed": config.run.seed, "status": "running", "process": os.getpid()}


def resumed_record(
    config: Config,
    folder: RunFolder,
    step: int,
    changed: Mapping[str, Sequence[Any]],
    record: Mapping[str, Any],
) -> dict[str, Any]:
    """The record of a run, and that it goes on: from which step, when, with which versions.

    Args:
        changed: what is no longer as it was, before and now.
        record: what ``run.json`` said until now; empty if it cannot be read.

    Raises:
        TrainError: it cannot be written.
    """
    record = record if "status" in record else {**new_record(config, folder), **record}
    times = record.get("resumed", [])
    diff = folder.diff.with_stem(f"{folder.diff.stem}-{len(times) + 1}")
    entry = {**surroundings(), **_git(config, diff), "step": step, "changed": dict(changed)}
    own = {"status": "running", "process": os.getpid(), "resumed": [*times, entry]}
    return {key: value for key, value in record.items() if key != "error"} | own


def write_record(folder: RunFolder, record: Mapping[str, Any]) -> None:
    """Replace ``run.json``; the error is that of `write_text`."""
    write_json(folder.record, sealed(record))


def parse_record(folder: RunFolder) -> dict[str, Any]:
    """What ``run.json`` says.

    Raises:
        FileNotFoundError: there is none.
        TrainError: it cannot be read.
    """
    try:
        record = json.loads(folder.record.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise TrainError(f"{folder.record} cannot be read: {error}") from None
    if not isinstance(record, dict):
        raise TrainError(f"{folder.record} is damaged: it holds no object")
    return record


def read_record(folder: RunFolder) -> dict[str, Any]:
    """What ``run.json`` says; empty if there is none that can be read. Damage is warned of."""
    try:
        record = parse_record(folder)
    except FileNotFoundError:
        return {}
    except TrainError as error:
        _warn(f"{error}; what has changed since the run began cannot be seen")
        return {}
    if "files" in record and not is_sealed(record):  # older versions wrote neither
        _warn(f"{folder.record} was changed or damaged since the run wrote it")
    return record


def _warn(text: str) -> None:
    warnings.warn(text, StorageWarning, stacklevel=3)


def _git(config: Config, diff: Path) -> dict[str, Any]:
    place = Path(config.file).parent
    git = repository(place)
    if git is not None and git["dirty"]:
        write_text(diff, uncommitted(place))
    return {"git": git}
