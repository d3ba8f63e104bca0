"""The best evaluation so far, and early stopping."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tinynet.train.config.sections import EvaluationSection
from tinynet.train.metrics.own import is_higher_better

EARLY_STOPPING = "early stopping"


class Best:
    """Keeps track of the best value of one test figure.

    Args:
        section: which figure to watch (`monitor`), the minimum improvement (`min_delta`), and how
            long to wait (`patience`).
        compares: whether to watch the first figure if the section names none.

    Example:
        >>> best = Best(EvaluationSection(monitor="loss", patience=2))
        >>> [best.see({"loss": loss}, epoch) for epoch, loss in enumerate([3.0, 1.0, 2.0, 1.5], 1)]
        [True, True, False, False]
        >>> best.epoch, best.figures, best.is_over
        (2, {'loss': 1.0}, True)
    """

    def __init__(self, section: EvaluationSection, compares: bool = True) -> None:
        self.section = section
        self.compares = compares
        self.figures: dict[str, float] = {}
        self.epoch = 0
        self.waited = 0

    @property
    def is_over(self) -> bool:
        """Whether patience has run out without a new best."""
        return 0 < self.section.patience <= self.waited

    def monitor(self, figures: Mapping[str, float]) -> str:
        """Return the name of the watched figure; empty if there is none."""
        if not self.section.monitor and not self.compares:
            return ""
        others = [name for name in figures if name != "loss"]
        return self.section.monitor or (others[0] if others else "loss")

    def see(self, figures: Mapping[str, float], epoch: int) -> bool:
        """Return whether an evaluation is the best so far; on a tie, the lower loss wins."""
        name = self.monitor(figures)
        if not name:
            return False
        sign = 1.0 if is_higher_better(name, self.section.metrics) else -1.0
        new = sign * figures[name]
        old = sign * self.figures[name] if self.figures else -math.inf
        if new > old + self.section.min_delta or not self.figures or math.isnan(old):
            self.figures, self.epoch, self.waited = dict(figures), epoch, 0
            return True
        self.waited += 1  # patience counts the watched figure only, not ties
        ties = new == old and figures.get("loss", math.inf) < self.figures.get("loss", math.inf)
        if ties:
            self.figures, self.epoch = dict(figures), epoch
        return ties

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {"figures": self.figures, "epoch": self.epoch, "waited": self.waited}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""
        self.figures = dict(state["figures"])
        self.epoch, self.waited = state["epoch"], state["waited"]
