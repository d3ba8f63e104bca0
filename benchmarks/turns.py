"""Timing two functions alternately."""

from collections.abc import Callable
from statistics import median
from time import perf_counter

SLICE = 0.004  # seconds per turn: long against the clock's grain, short against other load


def calls_per_slice(function: Callable[[], object]) -> int:
    """Return how many calls fill a slice."""
    for _ in range(3):
        function()  # compiled at its first call
    count = 1
    while True:
        start = perf_counter()
        for _ in range(count):
            function()
        spent = perf_counter() - start
        if spent > SLICE / 4:
            return max(1, int(count * SLICE / spent))
        count *= 4


def one_turn(function: Callable[[], object], count: int) -> float:
    """Return the seconds per call of one slice."""
    calls = range(count)
    start = perf_counter()
    for _ in calls:
        function()
    return (perf_counter() - start) / count


def compare(
    ours: Callable[[], object], theirs: Callable[[], object], rounds: int
) -> tuple[float, float, float]:
    """Return seconds per call of both (medians), and the median ratio of adjacent turns."""
    a, b = calls_per_slice(ours), calls_per_slice(theirs)
    pairs = []
    for i in range(rounds):
        if i % 2:
            second = one_turn(theirs, b)
            pairs.append((one_turn(ours, a), second))
        else:
            pairs.append((one_turn(ours, a), one_turn(theirs, b)))
    return (
        median(x for x, _ in pairs),
        median(y for _, y in pairs),
        median(x / y for x, y in pairs),
    )
