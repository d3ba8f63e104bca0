"""Shapes and dtypes in messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def shape_of(value: Any) -> str:
    """Return the shape and dtype of a tensor, or of each element of a list or dict.

    Example:
        >>> shape_of((tn.zeros(2, 3), {"name": "x"}))
        "([2, 3] tinynet.float32, {'name': str})"
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {shape_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return _listed(value)
    shape = getattr(value, "shape", None)
    if shape is None:
        return type(value).__name__
    return f"{[*shape]} {getattr(value, 'dtype', '')}".strip()


def _listed(values: Iterable[Any]) -> str:
    return "(" + ", ".join(shape_of(value) for value in values) + ")"
