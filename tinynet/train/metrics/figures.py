"""The names under which TensorBoard and trackers get the figures of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
