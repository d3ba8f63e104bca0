"""Passing figures to trackers, each in a thread of its own: training never waits for one."""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import util
from pathlib import Path
from typing import Any

from tinynet.base import invocation
from tinynet.core.printing import quantity
from tinynet.train.loop.callback import Callback, Moment
from tinynet.train.metrics.criterion import EPOCHS, epoch_figures, figures_on, step_figures

# ---- tracker ------------------------------------------------------------------------------------
# The base class of trackers, and their arguments.


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
    """The number of the step, from 0; for figures of an epoch, its last step."""

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
    """The name of the run: its folder's, or the name of the point of a sweep or search."""

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


# ---- tracking -----------------------------------------------------------------------------------


_PAUSE = 0.5  # seconds in which figures are collected
_RETRY = 10.0  # seconds between two attempts after an error
_PATIENCE = 60.0  # seconds for all trackers to store the last figures and the files
_MOST, _BATCH = 100_000, 500  # points that wait; points in a call


class Tracking:
    """The trackers of a run. Without any, it does nothing.

    Args:
        trackers: objects with the methods of `Tracker`, by a name for messages.
        run: the run.
        ids: the ids of runs to continue, by the same names.
        keep: called with the name of a tracker and the id of its run, in its thread.
    """

    def __init__(
        self,
        trackers: Mapping[str, Any] | None = None,
        run: TrackedRun | None = None,
        ids: Mapping[str, str] | None = None,
        keep: Callable[[str, str], None] = lambda name, identity: None,
    ) -> None:
        run, ids = run or TrackedRun("", ""), ids or {}
        self._workers = [
            _Worker(name, tracker, replace(run, id=ids.get(name, "")), keep)
            for name, tracker in (trackers or {}).items()
        ]

    def log(self, point: Point) -> None:
        """Pass figures on; warn if a tracker has failed since the last call."""
        for worker in self._workers:
            worker.add(point)
            worker.warn()

    def end(self, status: str, files: Sequence[Path] = ()) -> None:
        """End the run in all trackers; wait for them for a limited time.

        Args:
            status: ``"finished"``, ``"failed"`` or ``"interrupted"``.
            files: files to keep with it; missing ones are left out.
        """
        present = [path for path in files if path.is_file()]
        for worker in self._workers:
            worker.end(status, present)
        deadline = time.monotonic() + _PATIENCE
        for worker in self._workers:
            worker.join(deadline)
            worker.warn()
        self._workers = []


class _Worker:
    """The thread of a tracker."""

    def __init__(
        self, name: str, tracker: Any, run: TrackedRun, keep: Callable[[str, str], None]
    ) -> None:
        self._name, self._tracker, self._run, self._keep = name, tracker, run, keep
        self._points: deque[Point] = deque(maxlen=_MOST)
        self._batch: list[Point] = []
        self._lost = 0
        self._has_begun = self._has_warned = False
        self._failure: BaseException | None = None
        self._ending = threading.Event()
        self._last: tuple[str, Sequence[Path]] = ("failed", ())
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def add(self, point: Point) -> None:
        self._lost += len(self._points) == _MOST
        self._points.append(point)  # an operation of one step: it needs no lock

    def end(self, status: str, files: Sequence[Path]) -> None:
        self._last = status, files
        self._ending.set()

    def join(self, deadline: float) -> None:
        """Wait for the thread; leave it alone after a time."""
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._failure is None and self._thread.is_alive():
            self._failure = TimeoutError(f"it has not stored everything within {_PATIENCE:.0f} s")
        elif self._failure is None and self._lost:
            lost = quantity(f"{self._lost:,}", "point")
            self._failure = RuntimeError(f"it is too slow to store {lost}")

    def warn(self) -> None:
        """Warn of the first failure, in the thread that trains."""
        if self._failure is not None and not self._has_warned:
            self._has_warned = True
            error = self._failure
            text = f"{self._name} fails. {type(error).__name__}: {error}"
            rest = "The run is not affected; its metrics are in TensorBoard, too"
            rest += "" if self._ending.is_set() else f". Next attempt in {_RETRY:.0f} s"
            warnings.warn(f"{text}\n{rest}", TrackerWarning, stacklevel=4)

    # ---- in the thread ----

    def _work(self) -> None:
        while True:
            over = self._ending.is_set()  # read before the points that wait
            try:
                try:
                    self._send()
                finally:
                    if over and self._has_begun:  # also if its last figures could not be stored
                        self._call("end", *self._last)
            except BaseException as error:
                self._failure = self._failure or error
                if not over:
                    self._ending.wait(_RETRY)
            if over:
                return
            self._ending.wait(_PAUSE)

    def _send(self) -> None:
        """Begin, if that has not succeeded yet; pass on the points that wait."""
        if not self._has_begun:
            identity = self._call("begin", self._run)
            if identity:
                self._keep(self._name, str(identity))
            self._has_begun = True
        while True:
            for _ in itertools.repeat(None, _BATCH - len(self._batch)):
                if not self._points:
                    break
                self._batch.append(self._points.popleft())
            if not self._batch:
                return
            self._tracker.log(self._batch)  # after an error, they are passed again
            self._batch = []

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call a method that a user's tracker may leave out."""
        found = getattr(self._tracker, method, None)
        return None if found is None else found(*arguments)


# ---- callback -----------------------------------------------------------------------------------
# Trackers in a loop of your own.


class Track(Callback):
    """A callback of `fit` that passes the figures of a loop on to trackers.

    Its names are as in a run from a config: ``train/loss`` and ``lr`` of the steps,
    ``val/loss`` and so on of `Callbacks.evaluated`, ``epoch/...`` of `Callbacks.end_epoch`.
    The run ends as failed if a step raises an error, and as interrupted if the loop is left before
    its last step; `Callbacks.end_run` before that makes it a finished run.

    Args:
        trackers: the trackers.
        name: the name of the run; defaults to the date and the time.
        experiment: the name of its experiment or project.
        config: the values that the run depends on.
        every: pass on the figures of every this many steps.
        files: files to store at the end, such as one with the weights.

    Raises:
        ValueError: ``every`` is less than 1.

    Example:
        >>> from tinynet.train import fit
        >>> from tinynet.train.trackers import Tracker
        >>> class Print(Tracker):
        ...     def log(self, points):
        ...         for point in points:
        ...             print(point.step, dict(point.figures))
        ...     def end(self, status, files):
        ...         print(status)
        >>> model, xs = nn.Linear(1, 1, bias=False), tn.ones(4, 1)
        >>> with tn.no_grad():
        ...     _ = model.weight.zero_()
        >>> sgd = optim.SGD(model.parameters(), lr=0.25)
        >>> loop = fit(model, nn.MSELoss(), sgd, [(xs, 2 * xs)], 2, callbacks=[Track([Print()])])
        >>> for step in loop: pass
        0 {'train/loss': 4.0, 'lr': 0.25}
        1 {'train/loss': 1.0, 'lr': 0.25}
        finished
    """

    def __init__(
        self,
        trackers: Sequence[Any],
        name: str = "",
        experiment: str = "",
        config: Mapping[str, Any] | None = None,
        every: int = 1,
        files: Sequence[str | Path] = (),
    ) -> None:
        if every < 1:
            raise ValueError(f"'every' must be >= 1. Got {every} instead.")
        self._trackers = {f"{n} ({type(one).__name__})": one for n, one in enumerate(trackers)}
        self._names = name, experiment
        self._config = config or {}
        self._every = every
        self._files = [Path(file) for file in files]
        self._tracking = Tracking()

    def on_run_begin(self, at: Moment) -> None:
        """Begin the run in the trackers."""
        name, experiment = self._names
        run = TrackedRun(
            name or time.strftime("%Y-%m-%d_%H-%M-%S"), experiment, config=self._config
        )
        self._tracking = Tracking(self._trackers, run)

    def on_step_end(self, at: Moment) -> None:
        """Pass on the losses and learning rates of a step."""
        if at.last.batches and (at.step % self._every == 0 or at.last.ends_epoch):
            self._log(at, step_figures(at.last))

    def on_evaluation_end(self, at: Moment) -> None:
        """Pass on the figures of an evaluation."""
        self._log(at, figures_on(at.measured_on, at.figures))

    def on_epoch_end(self, at: Moment) -> None:
        """Pass on the figures of an epoch."""
        if at.figures:
            self._log(at, epoch_figures(at.figures))

    def on_run_end(self, at: Moment) -> None:
        """End the run in the trackers, and wait until they have stored everything."""
        match sys.exception():
            case None:
                status = "finished"
            case GeneratorExit() | KeyboardInterrupt():
                status = "interrupted"
            case _:
                status = "failed"
        self._tracking.end(status, self._files)

    def _log(self, at: Moment, figures: Mapping[str, float]) -> None:
        self._tracking.log(Point(at.step, at.epoch, figures, time.time()))
