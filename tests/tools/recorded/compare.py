"""Compares two descriptions and reports where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.tools.rounding import bound

from .departures import Matching

ROUNDINGS = {2: 2, 4: 100, 8: 10**5}  # by itemsize
"""How many roundings each library may add: float16 is computed in float32, and in float64 inverses
of matrices are compared."""


def close(expected: np.ndarray, got: np.ndarray, tolerance: float | None = None) -> bool:
    """Return whether two arrays of one shape hold the same numbers, NaN and inf included.

    Integers and booleans must be equal, floats to a tolerance relative to the largest number, by
    default the roundings of both libraries.
    """
    if expected.dtype.kind != "f":
        return bool(np.array_equal(expected, got))
    if tolerance is None:
        tolerance = 2 * bound(expected.dtype, ROUNDINGS[expected.itemsize])
    sizes, are_finite = np.abs(expected), np.isfinite(expected)
    scale = max(1.0, float(sizes.max(initial=0, where=are_finite)))
    if are_finite.all():  # what `allclose` computes then, in a fifth of its time
        return bool((np.abs(got - expected) <= tolerance * scale + tolerance * sizes).all())
    return np.allclose(got, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def differences(
    expected: Any, got: Any, path: str = "", tolerance: float | None = None
) -> Iterator[str]:
    """Yield a line for each difference between two descriptions."""
    if isinstance(expected, np.ndarray) and isinstance(got, np.ndarray):
        yield from _array_differences(expected, got, path, tolerance)
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield f"{path}: {len(expected)} parts expected, got {len(got)}"
        for number, (one, other) in enumerate(zip(expected, got, strict=False)):
            yield from differences(one, other, f"{path}[{number}]", tolerance)
    elif isinstance(expected, dict) and isinstance(got, dict):
        yield from _dict_differences(expected, got, path, tolerance)
    elif not _equal(expected, got, tolerance):
        yield f"{path}: {expected!r} expected, got {got!r}"


def _equal(expected: Any, got: Any, tolerance: float | None) -> bool:
    if isinstance(expected, Matching):
        return bool(expected == got)
    if type(expected) is not type(got):
        return False
    if isinstance(expected, float):
        return close(np.array(expected), np.array(got), tolerance)
    return bool(expected == got)


def _array_differences(
    expected: np.ndarray, got: np.ndarray, path: str, tolerance: float | None
) -> Iterator[str]:
    if expected.dtype != got.dtype:
        yield f"{path}: dtype {expected.dtype.name} expected, got {got.dtype.name}"
    if expected.shape != got.shape:
        yield f"{path}: shape {expected.shape} expected, got {got.shape}"
    elif not close(expected, got, tolerance):
        yield f"{path}: {expected.tolist()} expected, got {got.tolist()}"


def _dict_differences(
    expected: dict[str, Any], got: dict[str, Any], path: str, tolerance: float | None
) -> Iterator[str]:
    if "raises" in expected or "raises" in got:
        if expected != got:
            yield f"{path}: {_shown(expected)} expected, got {_shown(got)}"
        return
    for key in dict.fromkeys([*expected, *got]):
        place = f"{path}.{key}" if path else key
        yield from differences(expected.get(key), got.get(key), place, tolerance)


def _shown(description: dict[str, Any]) -> str:
    if "raises" in description:
        return f"{description['raises']}({description['says']!r})"
    return "no error"


def answer_differences(
    expected: dict[str, Any], got: dict[str, Any], tolerance: float | None = None
) -> list[str]:
    """Return all differences between two answers.

    Where only one of them ends in an error, that is the only line: the rest would be noise.
    """
    for end in ("ends", "backward"):
        if (end in expected) != (end in got):
            return list(differences(expected.get(end, {}), got.get(end, {}), end))
    return list(differences(expected, got, tolerance=tolerance))
