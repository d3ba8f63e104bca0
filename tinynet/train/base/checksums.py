"""Checksums that detect damage to the files of a run.

A checkpoint ends with a checksum. ``run.json`` contains its own checksum and those of the files
that do not change during a run: ``config.toml``, the tokenizer, the copies of source files. Each
row of ``metrics.jsonl`` ends with a checksum, so that it can be verified even after a crash.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

_ROW = re.compile(r'(\{.*), "crc32": "([0-9a-f]{8})"\}')


def sha256(data: bytes) -> str:
    """Return the SHA-256 of the content of a file."""
    return hashlib.sha256(data).hexdigest()


# ---- an object with its own checksum ----


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with a checksum of its content.

    Example:
        >>> is_sealed(sealed({"a": 1})), is_sealed({**sealed({"a": 1}), "a": 2})
        (True, False)
    """
    plain = json.loads(json.dumps({k: v for k, v in content.items() if k != "sha256"}, default=str))
    return {**plain, "sha256": _digest(plain)}


def is_sealed(content: Mapping[str, Any]) -> bool:
    """Return whether the checksum of an object fits its content."""
    return content.get("sha256") == _digest({k: v for k, v in content.items() if k != "sha256"})


def _digest(content: Mapping[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode())


# ---- rows ----


def sealed_row(text: str) -> str:
    """Return a line with a JSON object, with its checksum as the last key.

    Example:
        >>> sealed_row('{"epoch": 1}')
        '{"epoch": 1, "crc32": "94919848"}'
    """
    return f'{text[:-1]}, "crc32": "{zlib.crc32(text.encode()):08x}"}}'


def row_of(line: str, *, must: bool = False) -> dict[str, Any] | None:
    """Return the object in a line; None if the line is damaged or truncated.

    Args:
        line: a line from `sealed_row`.
        must: reject a line without a checksum, as older versions wrote them.
    """
    found = _ROW.fullmatch(line)
    if found:
        line = f"{found[1]}}}"
    if (must and not found) or (found and int(found[2], 16) != zlib.crc32(line.encode())):
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


# ---- files that do not change ----


def changed_checksums(
    record: Mapping[str, Any], checksums: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the entry ``replacing`` of a record, which is written before files are replaced.

    A process that is killed between two writes leaves some old and some new files. Neither are
    damaged.

    Args:
        record: the content of ``run.json``, with the checksums of the old files.
        checksums: those of the new files by name.
    """
    known, begun = record.get("files", {}), record.get("replacing", {})
    changed = [name for name, new in checksums.items() if known.get(name, new) != new]
    return begun | {name: [*begun.get(name, []), checksums[name]] for name in changed}
