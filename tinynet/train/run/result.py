"""The result of a run, for programs that train."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet import nn
from tinynet.train.assemble.best import Best
from tinynet.train.config.sections import Config


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Example:
        >>> from tinynet.train import run
        >>> few = {"run.epochs": 1, "run.out": str(getfixture("tmp_path"))}
        >>> result = run("configs/digits_mlp.toml", few, quiet=True)
        >>> sorted(result.metrics), result.stopped_by, result.is_complete
        (['accuracy', 'loss'], None, True)
    """

    folder: Path
    """The run folder: config, checkpoint, metrics, TensorBoard events."""

    metrics: dict[str, float]
    """The figures of the test set with the last weights: ``loss`` and the metrics (accuracies from
    0 to 1). They are measured once, at the end; empty if the run was stopped before."""

    model: nn.Module
    """The trained model, with the last weights."""

    config: Config
    """The config of the run."""

    stopped_by: int | str | None = None
    """What ended the run before its last epoch: a signal number, ``"early stopping"``, or the
    reason that a callback gave."""

    best: Best | None = None
    """The best evaluation and its epoch; its weights are in ``best.npz``."""

    is_complete: bool = True
    """Whether the run is complete; otherwise `tinynet.train.resume` continues it."""

    compiled: Mapping[str, Any] | None = None
    """With ``run.compile``: the numbers of programs and calls, and the reasons to run eagerly."""

    validation: dict[str, float] = field(default_factory=dict)
    """The last evaluation on the validation set, which selects the best weights; empty without such
    a set."""

    best_metrics: dict[str, float] = field(default_factory=dict)
    """The figures of the test set with the best weights; empty if none are tracked."""
