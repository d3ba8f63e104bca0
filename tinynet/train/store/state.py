"""The state of a run in its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tinynet.optim import Optimizer
from tinynet.train.assemble.build import Parts
from tinynet.train.base.problems import UsageError
from tinynet.train.step import seeds

OPTIONAL = "callbacks", "compiled"
"""The keys of what few runs have: others' checkpoints do not have them."""


@dataclass(frozen=True)
class StartingPoint:
    """The position at which a run starts or resumes."""

    epoch: int = 0
    step: int = 0
    """The number of completed steps."""

    batch: int = 0
    """The number of completed batches of the epoch."""


class HasState(Protocol):
    """An object whose state a checkpoint holds."""

    def state_dict(self) -> Any: ...

    def load_state_dict(self, state: Any) -> object: ...


class Registry:
    """All that a checkpoint holds besides the position of the run: each object by its key.

    A new stateful part of a run is one entry here. The state of an object that is None or has none,
    such as a loss that is a function, is None.

    Args:
        parts: the objects of a config.
        own: those of the run: the average of the weights, the best evaluation, the totals, and
            what is compiled.
    """

    def __init__(self, parts: Parts, **own: HasState | None) -> None:
        updaters = parts.updaters.items()
        self._batches = parts.train_batches
        self._entries: dict[str, Any] = {
            "model": parts.model,
            **own,
            "optimizers": _Each({name: updater.optimizer for name, updater in updaters}),
            "schedules": _Each({name: updater.schedule for name, updater in updaters}),
            "method": parts.method,
            "loss": parts.loss,
            "loader": self._batches,
            "callbacks": parts.callbacks,
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the states by their keys, and those of the random generators."""
        states = {key: _state_of(entry) for key, entry in self._entries.items()}
        for key in OPTIONAL:
            if not states[key]:
                del states[key]
        return states | {"generators": seeds.get_states()}

    def load(self, saved: Mapping[str, Any]) -> StartingPoint:
        """Load the states of a checkpoint, and return the position at which training resumes.

        Raises:
            UsageError: if the checkpoint does not fit the objects of the config.
        """
        try:
            for key, entry in self._entries.items():
                _load(entry, saved.get(key) if key in OPTIONAL else saved[key])
            if saved["epoch_is_complete"] and saved["loader"]["order"] is not None:
                for _ in self._batches:  # end the pass, which has no batches left
                    raise ValueError("there are batches left of an epoch that is complete")
        except (RuntimeError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise UsageError(
                "the checkpoint does not fit the current config of the run. "
                f"{type(error).__name__}: {error}"
            ) from error
        seeds.set_states(saved["generators"])  # last: ending the pass may draw numbers
        done = saved["epoch"] if saved["epoch_is_complete"] else saved["epoch"] - 1
        return StartingPoint(done, saved["step"], saved["batch"])


class _Each:
    """Several objects by name as one, such as the optimizers."""

    def __init__(self, objects: Mapping[str, Any]) -> None:
        self._objects = objects

    def state_dict(self) -> dict[str, Any]:
        return {name: _state_of(one) for name, one in self._objects.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for name, one in self._objects.items():
            _load(one, state[name])
            if isinstance(one, Optimizer):
                one.stepped = True  # schedules warn if they precede the optimizer


def _state_of(entry: Any) -> Any:
    return entry.state_dict() if hasattr(entry, "state_dict") else None


def _load(entry: Any, state: Any) -> None:
    if entry is not None and state is not None:
        entry.load_state_dict(state)


def moment_of(saved: Mapping[str, Any]) -> str:
    """Return in words when a checkpoint was written.

    Example:
        >>> moment_of({"epoch": 2, "step": 90, "epoch_is_complete": True})
        'epoch 2'
        >>> moment_of({"epoch": 1, "step": 23, "epoch_is_complete": False})
        'step 23, within epoch 1'
    """
    epoch = f"epoch {saved['epoch']}"
    return epoch if saved["epoch_is_complete"] else f"step {saved['step']}, within {epoch}"


def weights_of(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights used for evaluation: the moving average, if there is one."""
    average = saved.get("ema")
    weights: dict[str, Any] = average["model"] if average and average["steps"] else saved["model"]
    return weights
