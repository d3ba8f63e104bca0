"""A run in its trackers: what they get about it, and its ids there, which it keeps."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinynet.train.base.checkpoint_file import has_valid_checksum, with_checksum
from tinynet.train.base.problems import TrainError
from tinynet.train.base.reading import read_json
from tinynet.train.base.run_folder import RunFolder, StorageWarning
from tinynet.train.base.writing import write_json
from tinynet.train.config.values import as_tree, read_values
from tinynet.train.store.provenance import version
from tinynet.train.trackers.tracking import TrackedRun, Tracking


def track(
    trackers: Mapping[str, Any],
    folder: RunFolder,
    config: str,
    record: Mapping[str, Any],
    first_step: int,
) -> Tracking:
    """Begin a run in its trackers.

    Args:
        trackers: the trackers by name.
        folder: the run folder, which keeps the ids of the run in its trackers.
        config: the resolved config.
        record: the content of ``run.json``.
        first_step: the number of the first step.
    """
    if not trackers:
        return Tracking()
    ids, lock = _ids(folder), threading.Lock()

    def keep(name: str, identity: str) -> None:
        with lock:
            ids[name] = identity
            write_json(folder.trackers, with_checksum({"ids": ids}))

    run = _described(folder.path.absolute(), config, record, first_step)
    return Tracking(trackers, run, dict(ids), keep)


def _described(path: Path, config: str, record: Mapping[str, Any], first_step: int) -> TrackedRun:
    """Return what trackers get about a run, from its folder OUT/NAME/[GROUP/POINT/]RUN."""
    latest = record.get("resumed", [record])[-1]
    about = {"tinynet.version": version(), "run_folder": str(path)}
    if latest.get("git"):
        about["git.commit"] = latest["git"]["commit"]
        about["git.dirty"] = str(latest["git"]["dirty"]).lower()
    name, group, top = path.name, "", path.parent
    for kind in ("sweep", "search"):
        if (top.parent / f"{kind}.json").is_file():
            name, group, top = top.name, top.parent.name, top.parent.parent
            about[kind] = group
    values = as_tree(read_values(config))
    return TrackedRun(name, top.name, group, top.parent, values, about, "", first_step)


def _ids(folder: RunFolder) -> dict[str, str]:
    """Return the ids of the run in its trackers, by their names; {} without trackers."""
    try:
        content = read_json(folder.trackers)
    except FileNotFoundError:
        return {}
    except TrainError as error:
        problem = str(error)
    else:
        if has_valid_checksum(content):
            return dict(content["ids"])
        problem = f"{folder.trackers} was changed or damaged since the run wrote it"
    text = f"{problem}: the run begins anew in its trackers"
    warnings.warn(text, StorageWarning, stacklevel=4)
    return {}
