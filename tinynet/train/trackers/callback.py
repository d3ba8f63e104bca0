"""Trackers in a loop of your own."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tinynet.train.loop.callback import Callback, Moment
from tinynet.train.metrics.criterion import figures_on
from tinynet.train.metrics.figures import epoch_figures, step_figures
from tinynet.train.trackers.tracker import Point, TrackedRun
from tinynet.train.trackers.tracking import Tracking


class Track(Callback):
    """A callback of `fit` that passes the figures of a loop on to trackers.

    Its names are those of a run from a config: ``train/loss`` and ``lr`` of the steps,
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
