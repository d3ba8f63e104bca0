"""What a recorder knows about arrays: only while they live, so that a capture needs no more memory.

The identity of an array is its address, which another one may have later.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from tinynet.capture.program import root

T = TypeVar("T")


class WhileAlive(Generic[T]):
    """A dictionary whose keys are objects by their identity. It forgets arrays that have died.

    Other objects stay alive with it.
    """

    def __init__(self) -> None:
        self._found: dict[int, T] = {}
        self._keys: dict[int, Any] = {}

    def __contains__(self, thing: Any) -> bool:
        return id(thing) in self._found

    def __setitem__(self, thing: Any, value: T) -> None:
        key, keep = id(thing), thing
        if type(thing) is np.ndarray:
            keep = weakref.ref(thing, functools.partial(self._found.pop, key))
        self._found[key], self._keys[key] = value, keep

    def get(self, thing: Any) -> T | None:
        """Return the value of an object; None without one."""
        return self._found.get(id(thing))

    def discard(self, thing: Any) -> None:
        """Forget an object."""
        self._found.pop(id(thing), None)

    def forget(self, test: Callable[[T], bool]) -> None:
        """Forget the objects whose values pass a test."""
        for key in [key for key, value in self._found.items() if test(value)]:
            del self._found[key]


class Memories:
    """Numbers for the memory of arrays: those that share memory have the same one.

    Attributes:
        last: the number of the newest memory.
    """

    def __init__(self) -> None:
        self._numbers: WhileAlive[int] = WhileAlive()
        self.last = 0

    def knows(self, array: Any) -> bool:
        """Return whether the memory of an array has a number."""
        return root(array) in self._numbers

    def number_of(self, held: Any) -> int:
        """Return the number of the memory of an array, or of another object."""
        owner = root(held)
        found = self._numbers.get(owner)
        if found is None:
            self.last += 1
            found = self._numbers[owner] = self.last
        return found
