"""Limits on the cost of reading a pickle, errors for refusals, and values in messages."""

from __future__ import annotations

import reprlib
from collections import deque
from typing import Any

DEPTH = 100  # levels of tuples in a key
_FREE, _WORK = 100_000, 30  # items; items per byte of a pickle


class RefusedError(ValueError):
    """A file contains something that is not permitted; the message says what, and where."""


class RefusedNameError(RefusedError):
    """A file names a class or function that is not permitted.

    Attributes:
        name: the full name.
    """

    def __init__(self, name: str):
        super().__init__(f"the name {name[:200]}")
        self.name = name[:200]


_SIZED = (str, bytes, bytearray, list, tuple, set, frozenset, deque, dict)
_short = reprlib.Repr()
_short.maxlevel = 3


def brief(value: Any) -> str:
    """Return a value for a message; a full ``repr`` may explode if parts are shared."""
    return _short.repr(value)[:200]


class Costs:
    """The cost of the keys and calls of a pickle, compared with its length.

    The hash of a tuple visits all its items. A tuple of pairs of pairs of the same tuple takes two
    bytes per level but doubles the time with each; one of 100,000 levels overflows the stack. The
    limits never refuse the output of a regular pickler.
    """

    def __init__(self) -> None:
        self._tuples: dict[int, tuple[int, int, Any]] = {}  # id -> depth, items in all, itself
        self._spent = 0

    def made(self, items: Any) -> Any:
        """Record a tuple or frozenset, and return it."""
        nested = [self._tuples[id(item)] for item in items if id(item) in self._tuples]
        depth = 1 + max((depth for depth, _, _ in nested), default=0)
        count = sum(count for _, count, _ in nested) + sum(map(_weight, items)) + 1
        self._tuples[id(items)] = depth, count, items
        return items

    def spend(self, value: Any, place: int, levels: int = 0) -> None:
        """Add the cost of hashing a value, or of visiting the given levels of containers.

        Raises:
            RefusedError: the cost is too high for a pickle read up to ``place``.
        """
        depth, count, _ = self._tuples.get(id(value), (0, _weight(value), None))
        if depth > DEPTH:
            raise RefusedError(f"a key or an argument nested {depth} levels deep")
        self._spent += count
        if self._spent > _FREE + _WORK * place:
            raise RefusedError("keys or arguments much larger than the pickle itself")
        if levels and isinstance(value, (list, tuple, dict, set)):
            for item in value:
                self.spend(item, place, levels - 1)


def _weight(value: Any) -> int:
    """Return the approximate cost of hashing or copying a value."""
    if isinstance(value, int):
        return 1 + value.bit_length() // 500
    return 1 + (len(value) if isinstance(value, _SIZED) else 0)
