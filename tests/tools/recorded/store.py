"""Answers on disk: for each family a JSON file, with a line per entry, and an npz file of numbers.

The arrays of a family are concatenated, one pool per dtype, in the order in which the JSON file
mentions them as "@float64[2,3]". No pickle; equal answers give equal bytes.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

MARK = "@"


class Pools:
    """Arrays on the way to or from the pools."""

    def __init__(self, pools: dict[str, np.ndarray] | None = None) -> None:
        self.written: dict[str, list[np.ndarray]] = {}
        self.pools = pools or {}
        self.position = dict.fromkeys(self.pools, 0)

    def put(self, array: np.ndarray) -> str:
        name = array.dtype.name
        self.written.setdefault(name, []).append(array.ravel())
        return f"{name}[{','.join(map(str, array.shape))}]"

    def take(self, label: str) -> np.ndarray:
        name, _, shape_text = label[:-1].partition("[")
        shape = tuple(map(int, shape_text.split(","))) if shape_text else ()
        start = self.position[name]
        end = self.position[name] = start + math.prod(shape)
        return self.pools[name][start:end].reshape(shape)


def pack(value: Any, pools: Pools) -> Any:
    if isinstance(value, np.ndarray):
        return MARK + pools.put(value)
    if isinstance(value, list):
        return [pack(part, pools) for part in value]
    if isinstance(value, dict):
        return {key: pack(part, pools) for key, part in value.items()}
    return value


def unpack(value: Any, pools: Pools) -> Any:
    if isinstance(value, list):
        return [unpack(part, pools) for part in value]
    if isinstance(value, str) and value.startswith(MARK):
        return pools.take(value.removeprefix(MARK))
    if isinstance(value, dict):
        return {key: unpack(part, pools) for key, part in value.items()}
    return value


def save(path: Path, answers: dict[str, Any]) -> None:
    """Write answers by the names of their entries, to `path` with two suffixes."""
    pools = Pools()
    lines = [
        f"{json.dumps(name)}: {json.dumps(pack(found, pools), separators=(',', ':'))}"
        for name, found in answers.items()
    ]
    path.with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    arrays = {name: np.concatenate(parts) for name, parts in sorted(pools.written.items())}
    np.savez_compressed(path.with_suffix(".npz"), **arrays)


def load(path: Path) -> dict[str, Any]:
    """Return the answers by the names of their entries; none if they were never recorded."""
    if not path.with_suffix(".json").exists():
        return {}
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:
        pools = Pools(dict(arrays))
    recorded = json.loads(path.with_suffix(".json").read_text())
    return {name: unpack(found, pools) for name, found in recorded.items()}
