"""The best evaluation so far, early stopping, and the limits of a run in steps and in time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from tinynet.core.printing import quantity
from tinynet.train.assemble.build import Parts
from tinynet.train.config.rules import seconds_of
from tinynet.train.config.sections import EvaluationSection, RunSection
from tinynet.train.metrics.criterion import Criterion, criterion_of, is_number
from tinynet.train.step.ranks import Ranks

EARLY_STOPPING = "early stopping"
_LOSS = Criterion("loss", higher_is_better=False)


class Best:
    """Keeps track of the best value of one figure.

    The first evaluation is the best until another one is better; so if the figure is always NaN,
    the first one remains the best.

    Args:
        section: which figure to watch (`monitor`), the minimum improvement (`min_delta`), and how
            long to wait (`patience`).
        compares: whether to watch the first figure if the section names none.
        on: the name of the data set that it is measured on.

    Example:
        >>> best = Best(EvaluationSection(monitor="loss", patience=2))
        >>> [best.see({"loss": loss}, epoch) for epoch, loss in enumerate([3.0, 1.0, 2.0, 1.5], 1)]
        [True, True, False, False]
        >>> best.epoch, best.figures, best.is_over
        (2, {'loss': 1.0}, True)
    """

    def __init__(
        self, section: EvaluationSection, compares: bool = True, on: str = "validation"
    ) -> None:
        self.section = section
        self.on = on
        self.compares = compares
        self.figures: dict[str, float] = {}
        self.epoch = 0
        """The epoch of the best evaluation."""

        self.since = 0
        """The first epoch with the best value of the figure, from which patience counts."""

        self.waited = 0

    @property
    def is_over(self) -> bool:
        """Whether patience has run out without a new best."""
        return 0 < self.section.patience <= self.waited

    @property
    def reason(self) -> str:
        """What has been seen of the figure, as the reason to stop."""
        criterion = self.criterion(self.figures)
        if criterion is None:
            return ""
        if is_number(self.figures.get(criterion.figure)):
            return f"{self.on} {criterion.figure} has not improved since epoch {self.since}"
        return f"{self.on} {criterion.figure} was NaN in each evaluation"

    def criterion(self, figures: Iterable[str]) -> Criterion | None:
        """Return the watched figure, given the names of all; None if there is none."""
        if not self.section.monitor and not self.compares:
            return None
        return criterion_of(figures, self.section.metrics, self.section.monitor)

    def see(self, figures: Mapping[str, float], epoch: int) -> bool:
        """Return whether an evaluation is the best so far; on a tie, the lower loss wins."""
        criterion = self.criterion(figures)
        if criterion is None:
            return False
        new, old = (one.get(criterion.figure, math.nan) for one in (figures, self.figures))
        if not self.figures or criterion.improves(new, old, self.section.min_delta):
            self.figures, self.epoch, self.since, self.waited = dict(figures), epoch, epoch, 0
            return True
        self.waited += 1  # patience counts the watched figure only, not ties
        ties = new == old and _LOSS.improves(figures.get("loss"), self.figures.get("loss"))
        if ties:
            self.figures, self.epoch = dict(figures), epoch
        return ties

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        own = {"figures": self.figures, "epoch": self.epoch}
        return {**own, "since": self.since, "waited": self.waited}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""
        self.figures = dict(state["figures"])
        self.epoch, self.since = state["epoch"], state["since"]
        self.waited = state["waited"]


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
        """Return whether a number of complete epochs ends the run."""
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
