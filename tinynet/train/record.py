"""``run.json``: what was run, where, and how it ended; also each time that it went on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tinynet.train.config import Config
from tinynet.train.folder import RunFolder, write_text
from tinynet.train.provenance import repository, surroundings, uncommitted


def new_record(config: Config, folder: RunFolder) -> dict[str, Any]:
    """What a run depends on besides its config; what git does not have goes beside it.

    Raises:
        TrainError: it cannot be written.
    """
    place = {**surroundings(), **_git(config, folder.diff)}
    return {**place, "seed": config.run.seed, "status": "running", "process": os.getpid()}


def resumed_record(
    config: Config, folder: RunFolder, step: int, changed: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """The record of a run, and that it goes on: from which step, when, with which versions.

    Args:
        changed: what is no longer as it was, before and now.

    Raises:
        TrainError: it cannot be written.
    """
    record = read_record(folder) or new_record(config, folder)
    times = record.get("resumed", [])
    diff = folder.diff.with_stem(f"{folder.diff.stem}-{len(times) + 1}")
    entry = {**surroundings(), **_git(config, diff), "step": step, "changed": dict(changed)}
    own = {"status": "running", "process": os.getpid(), "resumed": [*times, entry]}
    return {key: value for key, value in record.items() if key != "error"} | own


def read_record(folder: RunFolder) -> dict[str, Any]:
    """What ``run.json`` says; empty if there is none that can be read."""
    try:
        record = json.loads(folder.record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _git(config: Config, diff: Path) -> dict[str, Any]:
    place = Path(config.file).parent
    git = repository(place)
    if git is not None and git["dirty"]:
        write_text(diff, uncommitted(place))
    return {"git": git}
