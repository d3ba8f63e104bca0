"""Compares two answers and says where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .departures import Matching
from .run import close

PROPERTIES = {
    "requires_grad": False,
    "is_leaf": True,
    "grad_fn": None,
    "version": 0,
    "is_input": None,
    "shares_memory_with_input": None,
}


def array_differences(path: str, expected: np.ndarray, got: np.ndarray) -> Iterator[str]:
    if expected.dtype != got.dtype:
        yield f"{path}: dtype {expected.dtype.name} expected, got {got.dtype.name}"
    if expected.shape != got.shape:
        yield f"{path}: shape {expected.shape} expected, got {got.shape}"
    elif not close(expected, got):
        yield f"{path}: {expected.tolist()} expected, got {got.tolist()}"


def differences(path: str, expected: Any, got: Any) -> Iterator[str]:
    """One line per difference between two described values."""
    if isinstance(expected, np.ndarray) and isinstance(got, np.ndarray):
        yield from array_differences(path, expected, got)
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield f"{path}: {len(expected)} parts expected, got {len(got)}"
        for number, (one, other) in enumerate(zip(expected, got, strict=False)):
            yield from differences(f"{path}[{number}]", one, other)
    elif isinstance(expected, dict) and isinstance(got, dict):
        yield from dict_differences(path, expected, got)
    elif isinstance(expected, Matching):
        if expected != got:
            yield f"{path}: {expected!r} expected, got {got!r}"
    elif type(expected) is not type(got):
        yield f"{path}: {expected!r} expected, got {got!r}"
    elif isinstance(expected, float):
        if not close(np.array(expected), np.array(got)):
            yield f"{path}: {expected!r} expected, got {got!r}"
    elif expected != got:
        yield f"{path}: {expected!r} expected, got {got!r}"


def dict_differences(path: str, expected: dict[str, Any], got: dict[str, Any]) -> Iterator[str]:
    if "raises" in expected and "raises" in got:
        if expected != got:
            yield f"{path}: {shown(expected)} expected, got {shown(got)}"
        return
    if "raises" in expected or "raises" in got:
        yield f"{path}: {shown(expected)} expected, got {shown(got)}"
        return
    for key in dict.fromkeys([*expected, *got]):
        usual = PROPERTIES.get(key) if "tensor" in expected else None
        yield from differences(f"{path}.{key}", expected.get(key, usual), got.get(key, usual))


def shown(node: dict[str, Any]) -> str:
    return f"{node['raises']}({node['says']!r})" if "raises" in node else "no error"


def answer_differences(expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
    """All differences between PyTorch's answer and tinynet's, most telling first.

    When the two do not end in the same place (one raises where the other does not), only that is
    reported: the rest would be noise.
    """
    for stage in ("call", "backward"):
        if stage in expected or stage in got:
            one, other = expected.get(stage, {}), got.get(stage, {})
            if bool(one) != bool(other):
                return list(differences(stage, one, other))
    return [
        line
        for key in dict.fromkeys([*expected, *got])
        for line in differences(key, expected.get(key), got.get(key))
    ]
