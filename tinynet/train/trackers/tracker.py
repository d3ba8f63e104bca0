"""The base class of trackers, and their arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import util
from pathlib import Path
from typing import Any

from tinynet.base import invocation
from tinynet.train.metrics.figures import EPOCHS


class TrackerWarning(RuntimeWarning):
    """A run continues, but a tracker does not get its figures at present.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():  # stop instead
        ...     warnings.simplefilter("error", TrackerWarning)
        ...     # train
    """


@dataclass(frozen=True, slots=True)
class Point:
    """Figures of a step or of an epoch.

    Example:
        >>> point = Point(22, 1, {"test/loss": 0.5, "epoch/test_loss": 0.5})
        >>> [point.x(name) for name in point.figures]
        [22, 1]
    """

    step: int
    """The number of the step, from 0; for figures of an epoch, that of its last step."""

    epoch: int
    """The epoch, from 1."""

    figures: Mapping[str, float]
    """The figures by their names in TensorBoard: ``train/loss``, ``lr``, ``test/accuracy``."""

    time: float = 0.0
    """When they were measured, in seconds since 1970."""

    def x(self, name: str) -> int:
        """Return the place of a figure on its x-axis: the epoch (``epoch/...``), or the step."""
        return self.epoch if name.startswith(EPOCHS) else self.step


@dataclass(frozen=True)
class TrackedRun:
    """What a tracker gets about a run."""

    name: str
    """The name of the run: that of its folder, or that of the point of a sweep or search."""

    experiment: str
    """The name of the config, ``run.name``."""

    group: str = ""
    """The folder name of the sweep or search that it belongs to; ``""`` without one."""

    out: Path = Path()
    """The folder for files of the tracker: ``run.out``."""

    config: Mapping[str, Any] = field(default_factory=dict)
    """The resolved config, in nested dicts."""

    about: Mapping[str, str] = field(default_factory=dict)
    """The version of tinynet (``tinynet.version``), the ``git.commit``, the ``run_folder``."""

    id: str = ""
    """What `Tracker.begin` returned before the run was resumed; ``""`` for a new run."""

    first_step: int = 0
    """The number of the first step, from 0; a resumed run repeats the later ones."""


class Tracker:
    """The base class of trackers; a user's class needs only the method `log`.

    A tracker works in a thread of its own, so it may wait for a disk or a server. If a method
    raises an error, a warning shows it, and the same call is made again some seconds later.

    Example:
        >>> class Print(Tracker):
        ...     def log(self, points):
        ...         for point in points:
        ...             print(point.step, dict(point.figures))
        >>> Print().log([Point(0, 1, {"train/loss": 0.5})])
        0 {'train/loss': 0.5}
    """

    def begin(self, run: TrackedRun) -> str | None:
        """Open the run; return its id, with which a resumed run continues (`TrackedRun.id`)."""
        return None

    def log(self, points: Sequence[Point]) -> None:
        """Store figures, in the order of training."""
        raise NotImplementedError

    def end(self, status: str, files: Sequence[Path]) -> None:
        """Close the run.

        Args:
            status: ``"finished"``, ``"failed"`` or ``"interrupted"``.
            files: the files to keep with it: the config, the best weights, the report.
        """


def is_tracker(built: Any) -> bool:
    """Return whether an object is a tracker."""
    return callable(getattr(built, "log", None))


def require(extra: str, *modules: str) -> None:
    """Check that the packages of an extra are installed, without importing them.

    Raises:
        ModuleNotFoundError: if one is missing.

    Example:
        >>> require("wandb", "json", "no_such_package")
        Traceback (most recent call last):
        ModuleNotFoundError: no_such_package is not installed: ...python... -m pip install wandb
    """
    for module in modules:
        spec = util.find_spec(module)
        if spec is None or spec.origin is None:  # such as a folder of runs with this name
            text = f"{module} is not installed: {invocation.installation(extra)}"
            raise ModuleNotFoundError(text, name=module)


def flattened(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of a config as texts by dotted keys; lists as JSON.

    Example:
        >>> dict(flattened({"run": {"seed": 1}, "model": {"type": "mlp", "sizes": [64, 10]}}))
        {'run.seed': '1', 'model.type': 'mlp', 'model.sizes': '[64, 10]'}
    """
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            yield f"{prefix}{key}", text
