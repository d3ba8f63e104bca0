"""The section of a config about what training logs besides the figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LogSection:
    """What to log besides losses, metrics and learning rates."""

    norms: bool = False
    """Whether to log the 2-norms of the gradients, before they are clipped, and of the weights:
    `train/grad_norm` and `train/weight_norm`, per step in TensorBoard and as means of each epoch in
    `metrics.jsonl`. With several optimizers, each has its own: `train/grad_norm_generator`."""
