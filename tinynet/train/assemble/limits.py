"""The limits of a run in steps and in time."""

from __future__ import annotations

import math
import time

from tinynet.core.printing import quantity
from tinynet.train.assemble.build import Parts
from tinynet.train.config.rules import seconds_of
from tinynet.train.config.sections import RunSection
from tinynet.train.step.ranks import Ranks

LIMITS = MAX_STEPS, MAX_TIME = "run.max_steps", "run.max_time"
PRUNED = "pruned"
"""The reasons to end a run before its last epoch."""


def limit_of(run: RunSection, reason: str) -> int | float | str:
    """Return the value of a limit."""
    limit: int | float | str = getattr(run, reason.removeprefix("run."))
    return limit


def examples_per_epoch(parts: Parts) -> int:
    """Return the number of training examples in an epoch."""
    loader = parts.train_batches
    return len(loader) * loader.batch_size if loader.drop_last else len(loader.sampler)


def describe_batches(parts: Parts) -> str:
    """Describe which part of the training set is used; "" if it is used completely."""
    run, count, total = parts.config.run, examples_per_epoch(parts), len(parts.train_set)
    if run.overfit_batches is None and run.limit_batches is None:
        return ""
    key, same = ("limit", "") if run.overfit_batches is None else ("overfit", " the same")
    batches = quantity(f"{len(parts.train_batches):,}", "batch", "batches")
    extent = f"{batches}, {count:,} of {quantity(f'{total:,}', 'example')}"
    return f"training on{same} {extent}, in each epoch (run.{key}_batches)"


class Limits:
    """The time and the steps that a run has taken, and whether it may take more.

    Args:
        run: the limits.
        seconds: the time of training before this process.
        ranks: the processes of the run, which end it together.

    Example:
        >>> limits = Limits(RunSection(max_steps=2))
        >>> [limits.see(steps) for steps in (1, 2)]
        [None, 'run.max_steps']
    """

    def __init__(self, run: RunSection, seconds: float = 0.0, ranks: Ranks | None = None) -> None:
        self.seconds = self._before = seconds
        """The time of training, until the last step."""

        self.reason: str | None = None
        """The limit that the run has reached, if any."""

        self._most_epochs = run.epochs or math.inf
        self._most_steps = run.max_steps or math.inf
        self._most_seconds = seconds_of(run.max_time) or math.inf
        self._ranks = ranks
        self._began = time.monotonic()

    @property
    def key(self) -> str:
        """The key of the config that ends the run."""
        return self.reason or "run.epochs"

    def is_last(self, epochs: int) -> bool:
        """Return whether a number of complete epochs is that of the run."""
        return epochs >= self._most_epochs

    def begin(self) -> None:
        """Start the clock: what comes before is not training."""
        self._began = time.monotonic()

    def see(self, steps: int) -> str | None:
        """Return the limit that the run has reached after a number of steps, if any."""
        self.seconds = self._before + time.monotonic() - self._began
        if self._ranks is not None and self._most_seconds < math.inf:
            self.seconds = self._ranks.largest(math.ceil(1e6 * self.seconds)) / 1e6
        return self.check(steps)

    def check(self, steps: int) -> str | None:
        """Do the same without reading the clock."""
        late = MAX_TIME if self.seconds >= self._most_seconds else None
        self.reason = MAX_STEPS if steps >= self._most_steps else late
        return self.reason
