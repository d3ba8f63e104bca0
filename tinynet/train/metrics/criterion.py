"""Which of two figures is better: for the best weights, patience, searches, sweeps and reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tinynet.train.metrics.registry import is_higher_better

SETS = {"training": "train", "validation": "val", "test": "test"}
"""The data sets of a run, and how their figures are called: ``val/loss``."""

SELECTED_ON_TEST = (
    "selected on the test set, so its metrics are too good (data.validation = 0.1 keeps a "
    "validation set)"
)


@dataclass(frozen=True)
class Criterion:
    """The figure that decides which of several evaluations is the best.

    A figure that is missing or NaN is never better than another one, and any number is better than
    it.

    Example:
        >>> loss = Criterion("loss", higher_is_better=False)
        >>> loss.improves(1.0, 2.0), loss.improves(float("nan"), 2.0), loss.improves(2.0, None)
        (True, False, True)
        >>> sorted([float("nan"), 2.0, 1.0], key=loss.place)
        [1.0, 2.0, nan]
    """

    figure: str
    """Its name."""

    higher_is_better: bool

    def improves(self, new: float | None, old: float | None, least: float = 0.0) -> bool:
        """Return whether a figure is better than an older one by more than `least`."""
        if not is_number(new):
            return False
        return not is_number(old) or self._cost(new) < self._cost(old) - least

    def place(self, figure: float | None) -> tuple[bool, float]:
        """Return the key that sorts figures: the best first, those that are not a number last."""
        known = is_number(figure)
        return not known, self._cost(figure) if known else 0.0

    def doubt(self, best: Mapping[str, Any]) -> str:
        """Return a remark on the best figures, if no evaluation has a number; else ""."""
        known = is_number(best.get(self.figure))
        return "" if known else f"{self.figure} was never a number; the first evaluation counts"

    def _cost(self, figure: Any) -> float:
        return -figure if self.higher_is_better else figure


def is_number(figure: Any) -> bool:
    """Return whether a figure has been measured, and is not NaN."""
    return isinstance(figure, int | float) and not math.isnan(figure)


def criterion_of(
    figures: Iterable[str], metrics: Iterable[Any] | None = None, monitor: str = ""
) -> Criterion:
    """Return what decides between evaluations with some figures.

    Args:
        figures: their names; by default, the first one besides ``loss`` decides.
        metrics: the metrics that are measured; a user's may have ``higher_is_better``.
        monitor: the figure that decides, if one has been chosen.

    Example:
        >>> criterion_of(["loss", "accuracy"])
        Criterion(figure='accuracy', higher_is_better=True)
    """
    name = monitor or next((name for name in figures if name != "loss"), "loss")
    return Criterion(name, bool(is_higher_better(name, metrics)))


def figures_on(name: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a set under their names in ``metrics.jsonl`` and TensorBoard.

    Example:
        >>> figures_on("validation", {"loss": 0.5})
        {'val/loss': 0.5}
    """
    return {f"{SETS[name]}/{figure}": value for figure, value in figures.items()}


def is_test(row: Mapping[str, Any]) -> bool:
    """Return whether a row of ``metrics.jsonl`` is one of the test set at the end of a run.

    It has the ``weights`` that it was measured with, ``"last"`` or ``"best"``, and their epoch.
    """
    return "weights" in row


def selection_of(record: Mapping[str, Any]) -> str:
    """Return the set on which a run selected, given the content of ``run.json``."""
    return "validation" if record.get("selected_on") == "validation" else "test"


def recorded_criterion(record: Mapping[str, Any]) -> Criterion | None:
    """Return what decided between the evaluations of a run, given the content of ``run.json``.

    Returns:
        None if the record does not have it.
    """
    try:
        found = record["criterion"]
        return Criterion(str(found["figure"]), bool(found["higher_is_better"]))
    except (KeyError, TypeError):
        return None


# ---- figures ------------------------------------------------------------------------------------
# The names under which TensorBoard and trackers get the figures of a run.


EPOCHS = "epoch/"
"""The prefix of the figures whose x-axis is the epoch."""


def rates(step: Any) -> dict[str, float]:
    """Return the learning rates of a `Step` by name: ``lr``, or one per optimizer."""
    return {f"lr_{name}".rstrip("_"): rate for name, rate in step.rates.items()}


def step_figures(step: Any) -> dict[str, float]:
    """Return the losses (``train/loss``) and the learning rates (``lr``) of a `Step`."""
    return {f"train/{name}": value for name, value in step.losses.items()} | rates(step)


def epoch_figures(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures of an epoch under the names of their curves over the epochs.

    Example:
        >>> epoch_figures({"train/loss": 0.5, "lr": 0.1})
        {'epoch/train_loss': 0.5, 'epoch/lr': 0.1}
    """
    return {f"{EPOCHS}{name.replace('/', '_')}": value for name, value in figures.items()}
