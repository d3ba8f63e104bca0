"""Programs that numpy runs until another process has compiled their native functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tinynet.capture import native
from tinynet.capture.entry import Entry

Wait = bool | Sequence[int | None]


class Successor:
    """The native form of a program, until it takes the program's place.

    Args:
        entry: the native form.
        start: the replay that it runs first; 0: the first one after it is compiled.
    """

    def __init__(self, entry: Entry, start: float):
        calls = [*entry.run.parts, *(c for _, function in entry.backwards for c in function.parts)]
        self._entry, self._start = entry, start
        self._compilation = native.beside.Compilation(native.beside.jobs(calls))

    def take_over(self, program: Entry) -> Entry:
        """Return the program for the next replay: the native form, from its first replay on."""
        replay = program.replays + 1
        if replay < self._start or not self._compilation.is_done(wait=self._start > 0):
            return program
        entry = self._entry
        entry.replays, entry.misses, entry.failed = program.replays, program.misses, program.failed
        entry.schedule.begin(program.replays)
        return entry


def start_of(wait: Wait, number: int) -> float | None:
    """Return the first native replay of a program, as in ``Successor``; None without waiting.

    Args:
        wait: the option of ``tn.compile``.
        number: counts the programs of the function from 0.
    """
    if isinstance(wait, bool):
        return None if wait else 0
    if number >= len(wait) or wait[number] == 1:
        return None
    return wait[number] or math.inf
