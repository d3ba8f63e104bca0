"""``run.json``: the record of what ran, where, how it ended, and each time it was resumed."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from tinynet.train.base.checkpoint_file import has_valid_checksum, with_checksum
from tinynet.train.base.reading import DamagedError, fitting, read_json
from tinynet.train.base.run_folder import RunFolder, StorageWarning
from tinynet.train.base.writing import write_json

_MOST_WARNINGS = 100
_FIGURES = {str: (int, float, str, None)}
_PART = {"shape": (list, None), "dtype": str, "sha256": (str, None), "sketch": (list, None)}
_HASHED = {"examples": int, "looked_at": int, str: _PART}
_SHAPES: dict[str, Any] = {
    "command": [str],
    "typed": str,
    "working_directory": str,
    "versions": {str: str},
    "git": (None, {"commit": str, "dirty": bool}),
    "costs": [{"module": str, "type": str, str: (int, float)}],
    "step_time": {"steps": int, "operations": int, "between": int, "whole": int},
    "sources": {str: str},
    "files": {str: str},
    "replacing": {str: [str]},
    "data": {str: ({"examples": int, "says": str}, _HASHED)},
    "events": {str: {str: int}},
    "seconds": {str: (int, float)},
    "warnings": [str],
    "resumed": [dict],
    "status": str,
    "stopped_by": (int, str, None),
    "selected_on": str,
    "validation": _FIGURES,
    "test": _FIGURES,
    "test_best": _FIGURES,
    "best": _FIGURES,
    "compiled": {str: (int, [str], [int])},
    "error": str,
    "spent": {str: (int, float)},
    "epochs": int,
}
"""The entries of ``run.json`` whose form other code relies on."""


def seconds_of(record: Mapping[str, Any], step: int) -> float:
    """Return the time of training before the checkpoint after a number of steps; 0 if unknown."""
    return float(record.get("seconds", {}).get(str(step), 0.0))


def write_record(folder: RunFolder, record: Mapping[str, Any]) -> None:
    """Replace ``run.json``; raises the error of `write_file`."""
    write_json(folder.record, with_checksum(record))


def parse_record(folder: RunFolder) -> dict[str, Any]:
    """Return the content of ``run.json``; if it is damaged, without what cannot be used.

    Raises:
        FileNotFoundError: if it does not exist.
        TrainError: if it cannot be read; a `DamagedError` if it holds no object.
    """
    record = read_json(folder.record)
    if has_valid_checksum(record):
        return record
    record = fitting(record, _SHAPES)
    if "resumed" in record:
        record["resumed"] = [fitting(entry, _SHAPES) for entry in record["resumed"]]
    return record


def is_damaged(record: Mapping[str, Any]) -> bool:
    """Return whether a record is not as the run wrote it."""
    return not has_valid_checksum(record)


def read_record(folder: RunFolder) -> dict[str, Any]:
    """Return the content of ``run.json``; an empty dict without one. Warn of damage.

    Raises:
        TrainError: if it exists, but cannot be read.
    """
    try:
        record = parse_record(folder)
    except FileNotFoundError:
        return {}
    except DamagedError as error:
        _warn(f"{error}; changes since the run began cannot be detected")
        return {}
    if is_damaged(record):
        _warn(f"{folder.record} was changed or damaged since the run wrote it")
    return record


@contextlib.contextmanager
def recorded_warnings(record: dict[str, Any]) -> Iterator[None]:
    """Add the warnings that are given inside to a record, each once; show them as usual.

    Args:
        record: the content of ``run.json``, which gets them as ``warnings``.
    """
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = f"{category.__name__}: {message}"
        found = record.get("warnings", [])
        if text not in found and len(found) < _MOST_WARNINGS:
            record["warnings"] = [*found, text]
        usual(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = usual


def _warn(text: str) -> None:
    warnings.warn(text, StorageWarning, stacklevel=3)
