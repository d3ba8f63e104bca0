"""Sentences about a range test, for the terminal and the page."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from tinynet.train.study.finders.learning_rate import End, RangeTest

ENDS: dict[End, str] = {
    "range": "The test ended at the largest rate.",
    "diverged": "The test ended when the loss diverged.",
    "not finite": "The test ended when the loss or a gradient was not finite.",
}
"""What ended the test."""

FLAT = "There is no suggestion: the loss does not fall clearly, compared with its noise."


def advice(test: RangeTest) -> Iterator[str]:
    """Yield what to change about a test whose curve does not show enough."""
    found = test.suggestions
    if found is None:
        rises = test.ended != "range" or test.smoothed[-1] > test.smoothed[0]
        bound = "smaller minimum" if rises else "larger maximum"
        yield f"Try a {bound}, more steps, or a larger batch size."
    elif test.ended == "range" and found.still_falls:
        yield "The loss still falls at the largest rate: try a larger maximum."


def shown_top(test: RangeTest) -> float:
    """Return the largest loss that a plot shows; a diverging one would hide the rest."""
    start = statistics.fmean(test.losses[:5])
    return max(test.smoothed[0], start + 0.5 * (start - min(test.smoothed)))
