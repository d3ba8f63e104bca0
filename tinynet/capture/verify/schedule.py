"""When the replays of a program are verified."""

from __future__ import annotations

FIRST = 3  # the replay of a function that is verified first; then the 10th, 100th, ...
# The largest share of the time of that many replays. It shall stay below a hundredth, and the one
# replay that is timed takes up to twice as long as those that follow each other.
SHARE, OVER = 0.004, 10_000


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
        self.count, self._spent = 0, 0.0

    def verified(self, replay: float, cost: float) -> None:
        """Note a verification, and choose the next one.

        Args:
            replay: seconds of the replay.
            cost: seconds of the rest.
        """
        self.count += 1
        self._spent += cost
        if self._every is not None:
            self.due += self._every
            return
        self._grow()
        while self._spent + cost > SHARE * max(self.due, OVER) * replay:
            self._grow()

    def postpone(self) -> None:
        """Choose a later replay: this one could not be verified."""
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
