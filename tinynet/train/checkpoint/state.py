"""From a checkpoint back to the state that it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinynet.train.build import seeds
from tinynet.train.build.build import Parts
from tinynet.train.build.ema import MovingAverage
from tinynet.train.build.metrics import Totals
from tinynet.train.config.problems import UsageError
from tinynet.train.running.best import Best


@dataclass(frozen=True)
class Start:
    """Where a run begins, or goes on."""

    epoch: int = 0
    step: int = 0
    """Steps that were done."""

    batch: int = 0
    """Batches of the epoch that were done."""


def state_of(part: Any) -> dict[str, Any] | None:
    """The state of something that may have none."""
    return part.state_dict() if hasattr(part, "state_dict") else None


def restore(
    parts: Parts,
    saved: Mapping[str, Any],
    average: MovingAverage | None,
    best: Best,
    totals: Totals,
) -> Start:
    """Put everything into the state of a checkpoint, and say where training goes on.

    Raises:
        UsageError: it does not fit what the config describes.
    """
    try:
        parts.model.load_state_dict(saved["model"])
        for name, updater in parts.updaters.items():
            updater.optimizer.load_state_dict(saved["optimizers"][name])
            updater.optimizer.stepped = True  # for schedules, which warn if they come first
            _load(updater.schedule, saved["schedules"][name])
        _load(parts.method, saved["method"])
        _load(parts.loss, saved["loss"])
        _load(average, saved["ema"])
        _load(totals, saved["totals"])
        best.load_state_dict(saved["best"])
        _go_to_place(parts, saved)
    except (RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise UsageError(
            "the checkpoint does not fit what the config of the run describes now. "
            f"{type(error).__name__}: {error}"
        ) from error
    seeds.restore(saved["generators"])
    done = saved["epoch"] if saved["epoch_is_complete"] else saved["epoch"] - 1
    return Start(done, saved["step"], saved["batch"])


def _load(part: Any, state: Mapping[str, Any] | None) -> None:
    if part is not None and state is not None:
        part.load_state_dict(state)


def _go_to_place(parts: Parts, saved: Mapping[str, Any]) -> None:
    """Let the loader go on with the batch after the last one."""
    if saved["loader"] is None:  # of version 1
        if not saved["epoch_is_complete"]:
            raise ValueError("it was written in the middle of an epoch by an older version")
        parts.shuffle.load_state_dict(saved["generators"]["shuffle"])
        return
    parts.train_batches.load_state_dict(saved["loader"])
    if saved["epoch_is_complete"] and saved["loader"]["order"] is not None:
        for _ in parts.train_batches:  # nothing is left of the pass, but it has not ended yet
            raise ValueError("there are batches left of an epoch that is complete")
