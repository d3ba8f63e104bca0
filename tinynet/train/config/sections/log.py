"""The section ``[log]``: what a run logs besides losses, metrics and learning rates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tinynet.train.config.constraints import NOT_NEGATIVE


@dataclass(frozen=True)
class LogSection:
    """What to log besides losses, metrics, learning rates and the graph."""

    norms: bool = False
    """Whether to log the 2-norms of the gradients, before they are clipped, and of the weights:
    `train/grad_norm` and `train/weight_norm`, per step in TensorBoard and as means of each epoch in
    `metrics.jsonl`. With several optimizers, each has its own: `train/grad_norm_generator`."""

    histograms: int = field(default=0, metadata=NOT_NEGATIVE)
    """Write histograms of the weights and of their gradients every this many epochs (or steps:
    `histograms_per`). Gradients are those of the last step, after clipping. 0 turns this off."""

    histograms_per: Literal["epoch", "step"] = "epoch"
    """Whether `histograms` counts epochs or steps."""

    def is_due(self, step: int, epoch: int, ends_epoch: bool) -> bool:
        """Return whether to write histograms after a step.

        Args:
            step: its number, from 0.
            epoch: the number of its epoch, from 0.
            ends_epoch: whether it is the last step of its epoch.

        Example:
            >>> [LogSection(2).is_due(9, epoch, True) for epoch in range(3)]
            [False, True, False]
            >>> [LogSection(2, "step").is_due(step, 0, False) for step in range(3)]
            [False, True, False]
        """
        if not self.histograms:
            return False
        if self.histograms_per == "step":
            return (step + 1) % self.histograms == 0
        return ends_epoch and (epoch + 1) % self.histograms == 0
