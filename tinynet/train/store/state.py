"""Loading the state of a run from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinynet.train.assemble.averages import MovingAverage, WeightAverage
from tinynet.train.assemble.best import Best
from tinynet.train.assemble.build import Parts
from tinynet.train.base.problems import UsageError
from tinynet.train.step import seeds
from tinynet.train.step.totals import Totals


@dataclass(frozen=True)
class StartingPoint:
    """The position at which a run starts or resumes."""

    epoch: int = 0
    step: int = 0
    """The number of completed steps."""

    batch: int = 0
    """The number of completed batches of the epoch."""


def state_of(part: Any) -> dict[str, Any] | None:
    """Return the ``state_dict`` of an object, or None if it has none."""
    return part.state_dict() if hasattr(part, "state_dict") else None


def states_of(parts: Parts) -> dict[str, Any]:
    """Return the states of the objects of a config, for a checkpoint."""
    callbacks = parts.callbacks.state_dict()
    return {
        "optimizers": {name: u.optimizer.state_dict() for name, u in parts.updaters.items()},
        "schedules": {name: state_of(u.schedule) for name, u in parts.updaters.items()},
        "method": parts.method.state_dict(),
        "loss": state_of(parts.loss),
        "generators": seeds.get_states(),
        "loader": parts.train_batches.state_dict(),
        **({"callbacks": callbacks} if callbacks else {}),
    }


def moment_of(saved: Mapping[str, Any]) -> str:
    """Return in words when a checkpoint was written.

    Example:
        >>> moment_of({"epoch": 2, "step": 90, "epoch_is_complete": True})
        'epoch 2'
        >>> moment_of({"epoch": 1, "step": 23, "epoch_is_complete": False})
        'step 23, within epoch 1'
    """
    epoch = f"epoch {saved['epoch']}"
    return (
        epoch if saved.get("epoch_is_complete", True) else f"step {saved['step']}, within {epoch}"
    )


def load_state(
    parts: Parts,
    saved: Mapping[str, Any],
    average: MovingAverage | WeightAverage | None,
    best: Best,
    totals: Totals,
) -> StartingPoint:
    """Load the state of a checkpoint, and return the position at which training resumes.

    Raises:
        UsageError: if the checkpoint does not fit the objects of the config.
    """
    try:
        parts.model.load_state_dict(saved["model"])
        for name, updater in parts.updaters.items():
            updater.optimizer.load_state_dict(saved["optimizers"][name])
            updater.optimizer.stepped = True  # schedules warn if they precede the optimizer
            _load_part(updater.schedule, saved["schedules"][name])
        _load_part(parts.method, saved["method"])
        _load_part(parts.loss, saved["loss"])
        _load_part(average, saved["ema"])
        _load_part(totals, saved["totals"])
        _load_part(parts.callbacks, saved.get("callbacks"))
        best.load_state_dict(saved["best"])
        _set_loader_position(parts, saved)
    except (RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise UsageError(
            "the checkpoint does not fit the current config of the run. "
            f"{type(error).__name__}: {error}"
        ) from error
    seeds.set_states(saved["generators"])
    done = saved["epoch"] if saved["epoch_is_complete"] else saved["epoch"] - 1
    return StartingPoint(done, saved["step"], saved["batch"])


def _load_part(part: Any, state: Mapping[str, Any] | None) -> None:
    if part is not None and state is not None:
        part.load_state_dict(state)


def _set_loader_position(parts: Parts, saved: Mapping[str, Any]) -> None:
    """Set the loader to the next batch."""
    if saved["loader"] is None:  # version 1
        if not saved["epoch_is_complete"]:
            raise ValueError("it was written in the middle of an epoch by an older version")
        parts.shuffle.load_state_dict(saved["generators"]["shuffle"])
        return
    parts.train_batches.load_state_dict(saved["loader"])
    if saved["epoch_is_complete"] and saved["loader"]["order"] is not None:
        for _ in parts.train_batches:  # end the pass, which has no batches left
            raise ValueError("there are batches left of an epoch that is complete")


def weights_of(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights used for evaluation: the moving average, if there is one."""
    average = saved.get("ema")
    weights: dict[str, Any] = average["model"] if average and average["steps"] else saved["model"]
    return weights
