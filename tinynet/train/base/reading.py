"""Reading the files of a run, and verifying them: by checksums, and by the shape of their content.

A file that cannot be read (a failing disk, missing permissions) is an error. A file that is damaged
causes a warning where the rest of the run can be used without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from tinynet.train.base.checkpoint_file import row_of
from tinynet.train.base.problems import TrainError

_END = 100_000  # bytes, of which a row has a few hundred


class DamagedError(TrainError, ValueError):
    """The content of a file cannot be what the run wrote."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        FileNotFoundError: if it does not exist.
        TrainError: if it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TrainError(f"{path} cannot be read: {error.strerror or error}") from error


def read_text(path: Path) -> str:
    """Return the content of a text file, with U+FFFD for damaged bytes; raises as `read_bytes`."""
    return read_bytes(path).decode(errors="replace")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        FileNotFoundError: if it does not exist.
        TrainError: if it cannot be read; a `DamagedError` if it holds no object.
    """
    try:
        content = json.loads(read_bytes(path))
    except ValueError as error:
        raise DamagedError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise DamagedError(f"{path} is damaged: it holds no object")
    return content


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the undamaged rows of ``metrics.jsonl``; none if there is no file.

    Raises:
        TrainError: if it cannot be read.
    """
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError:  # it was stopped in its first epoch
        return []
    return [row for line in lines if (row := row_of(line)) is not None]


def read_last_row(path: Path, unless: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any] | None:
    """Return the last undamaged row of ``metrics.jsonl``; None without one.

    A process that has been killed may leave half of a row behind it. Only the end of the file is
    read, as a long run has many rows.

    Args:
        path: the file.
        unless: returns whether to pass over a row.

    Raises:
        TrainError: if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(max(0, size_of(path) - _END))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TrainError(f"{path} cannot be read: {error.strerror or error}") from error
    rows = (row_of(line) for line in reversed(text.splitlines()))
    return next((row for row in rows if row is not None and not unless(row)), None)


def holds(path: Path, data: bytes) -> bool:
    """Return whether a file exists, can be read, and has this content."""
    try:
        return path.is_file() and path.read_bytes() == data
    except OSError:
        return False


def size_of(path: Path) -> int:
    """Return the number of bytes of a file; 0 if there is none, -1 if that is unknown."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError:
        return -1


# ---- the shape of JSON ----


def fits(value: Any, shape: Any) -> bool:
    """Return whether a value of a JSON file has a shape.

    Args:
        value: the value.
        shape: a type; a tuple of alternative shapes; ``[shape]`` for a list;
            ``{"key": shape, str: shape}`` for an object: the keys that it must have, and the shape
            of all others.

    Example:
        >>> fits({"commit": "1a", "dirty": True}, {"commit": str}), fits({"a": [1]}, {str: [str]})
        (True, False)
    """
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    if isinstance(shape, dict):
        if not isinstance(value, dict) or not value.keys() >= shape.keys() - {str}:
            return False
        others = shape.get(str, object)
        return all(fits(item, shape.get(key, others)) for key, item in value.items())
    return isinstance(value, NoneType if shape is None else shape)


def fitting(content: Mapping[str, Any], shapes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without the entries that do not have their shapes."""
    return {k: v for k, v in content.items() if k not in shapes or fits(v, shapes[k])}
