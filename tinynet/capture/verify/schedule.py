"""When the replays of a program are verified."""

from __future__ import annotations

import time

FIRST = 3  # the replay of a function that is verified first; then the 10th, 100th, ...
# The largest share of the time of that many calls. It shall stay below a hundredth, and the first
# calls take up to twice as long as those that follow.
SHARE, OVER = 0.005, 10_000


class Schedule:
    """When a program is verified.

    Args:
        every: every n-th replay; 0 for never, None for growing distances.
        first: the first replay, with growing distances.

    Attributes:
        due: the number of the next replay that is verified.
        count: the number of replays that were verified.
    """

    def __init__(self, every: int | None, first: int = FIRST):
        self._every = every
        self.due: float = first if every is None else every or float("inf")
        self.count, self._spent, self._cost = 0, 0.0, 0.0
        self._replays: float = 0  # those that there were,
        self._ended = 0.0  # and when the last one ended

    def is_affordable(self) -> bool:
        """Return whether what is due now stays below its share of the time of the calls."""
        if self._every is not None or not self.count:
            return True
        each = (time.perf_counter() - self._ended) / (self.due - self._replays)
        return self._spent + self._cost <= SHARE * max(self.due, OVER) * each

    def verified(self, cost: float) -> None:
        """Note a verification, and choose the next one.

        Args:
            cost: seconds that it took beside the replay.
        """
        self.count += 1
        self._cost, self._spent = cost, self._spent + cost
        self._replays, self._ended = self.due, time.perf_counter()
        self.postpone()

    def begin(self, replays: int) -> None:
        """Start after a number of replays, by another program."""
        self.due += replays if self._every is None else 0
        while self.due <= replays:
            self.postpone()

    def postpone(self) -> None:
        """Choose a later replay."""
        if self._every is not None:
            self.due += self._every
        else:
            self._grow()

    def _grow(self) -> None:
        """Choose the next power of ten."""
        due = 10
        while due <= self.due:
            due *= 10
        self.due = due
