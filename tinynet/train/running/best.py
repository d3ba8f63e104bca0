"""Which measurement was the best, and when to stop waiting for a better one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tinynet.train.build.metrics import higher_is_better
from tinynet.train.config.sections import EvaluationSection


class Best:
    """Watches one figure of the test set.

    Args:
        section: which figure (`monitor`), what counts as better (`min_delta`), and how long to wait
            (`patience`).
        compares: whether the first figure is watched if the section names none; else nothing is.

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
        """Whether there was no new best for as long as the patience lasts."""
        return 0 < self.section.patience <= self.waited

    def monitor(self, figures: Mapping[str, float]) -> str:
        """The name of the figure that is watched; empty if none is."""
        if not self.section.monitor and not self.compares:
            return ""
        others = [name for name in figures if name != "loss"]
        return self.section.monitor or (others[0] if others else "loss")

    def see(self, figures: Mapping[str, float], epoch: int) -> bool:
        """Whether a measurement is the best so far; of equal ones it is that of the lowest loss."""
        name = self.monitor(figures)
        if not name:
            return False
        sign = 1.0 if higher_is_better(name) else -1.0
        new = sign * figures[name]
        old = sign * self.figures[name] if self.figures else -math.inf
        if new > old + self.section.min_delta or not self.figures or math.isnan(old):
            self.figures, self.epoch, self.waited = dict(figures), epoch, 0
            return True
        self.waited += 1  # patience is about the figure that is watched
        ties = new == old and figures.get("loss", math.inf) < self.figures.get("loss", math.inf)
        if ties:
            self.figures, self.epoch = dict(figures), epoch
        return ties

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"figures": self.figures, "epoch": self.epoch, "waited": self.waited}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        self.figures = dict(state["figures"])
        self.epoch, self.waited = state["epoch"], state["waited"]
