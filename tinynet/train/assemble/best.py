"""The best evaluation so far, and early stopping."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from tinynet.train.config.sections import EvaluationSection
from tinynet.train.metrics.criterion import Criterion, criterion_of, is_number

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
