"""What a run passes on as it trains: scalars for trackers, and all that TensorBoard shows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from tinynet.board import BoardWarning, Recording, SummaryWriter
from tinynet.board.storage import sizes_before, trim
from tinynet.dtypes import Array
from tinynet.train.assemble.build import Parts, first_batch
from tinynet.train.config.sections import Config
from tinynet.train.loop.callback import Callback, Moment
from tinynet.train.loop.fit import Step
from tinynet.train.metrics.criterion import epoch_figures, figures_on, step_figures
from tinynet.train.outputs import (
    are_classes,
    are_images,
    confusion_table,
    grid,
    heat_map,
    rows_of,
    table_of,
)
from tinynet.train.step.task import as_evaluated
from tinynet.train.trackers.tracking import Point, Tracking


class Figures(Callback):
    """A callback that passes on the figures of a run as they are due.

    Args:
        config: the config of the run.
        norms: returns what stands beside the losses of a step (``train/loss``) and its rates.
    """

    def __init__(self, config: Config, norms: Callable[[], Mapping[str, float]] = dict) -> None:
        self._config = config
        self._norms = norms
        self._evaluated: Mapping[str, float] = {}

    def on_step_end(self, at: Moment) -> None:
        """Pass on losses and rates, if they are due; nothing of a step that was skipped."""
        step = at.last
        if step.batches and (step.number % self._config.run.log_every == 0 or step.ends_epoch):
            norms = {f"train/{name}": value for name, value in self._norms().items()}
            self.put(step, step_figures(step) | norms)

    def on_evaluation_end(self, at: Moment) -> None:
        """Keep the figures for the end of the epoch."""
        self._evaluated = figures_on(at.measured_on, at.figures)

    def on_epoch_end(self, at: Moment) -> None:
        """Pass on the figures of the epoch; evaluations appear over the steps, too."""
        if at.figures:  # else the run has failed in it
            self.put(at.last, {**self._evaluated, **epoch_figures(at.figures)})
        self._evaluated = {}

    def put_tests(self, step: Step, tests: Mapping[str, Mapping[str, float]]) -> None:
        """Pass on the figures of the test set at the end, with the last and the best weights."""
        for weights, figures in tests.items():
            prefix = "test" if weights == "last" else f"test_{weights}"
            self.put(step, {f"{prefix}/{n}": value for n, value in figures.items()})

    def put(self, step: Step, figures: Mapping[str, float]) -> None:
        """Pass on figures after a step."""
        self.take(Point(step.number, step.epoch + 1, figures, time.time()))

    def take(self, point: Point) -> None:
        """Take what is passed on."""
        raise NotImplementedError


class Tracked(Figures):
    """The trackers of a run, which get its figures."""

    def __init__(
        self, config: Config, norms: Callable[[], Mapping[str, float]], tracking: Tracking
    ) -> None:
        super().__init__(config, norms)
        self._tracking = tracking

    def take(self, point: Point) -> None:
        """Log the figures."""
        self._tracking.log(point)


class BoardLog(Figures):
    """The TensorBoard log of a run: scalars per step and epoch, graphs, images and samples.

    Args:
        folder: the run folder.
        parts: the objects of the run.
        norms: of `Figures`.
        counts: returns the confusion matrix of the last evaluation, or None.
        resumed_step: the first step of a resumed run.
        resumed_position: the result of `flush` at that step; None if that is unknown.
    """

    def __init__(
        self,
        folder: Path,
        parts: Parts,
        norms: Callable[[], Mapping[str, float]] = dict,
        counts: Callable[[], Array | None] = lambda: None,
        resumed_step: int | None = None,
        resumed_position: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(parts.config, norms)
        self.parts = parts
        self._counts = counts
        self._resumed_position: Mapping[str, int] = {}
        if resumed_step is not None:
            self._resumed_position = _cut(folder, resumed_step, resumed_position)
        self.writer = SummaryWriter(folder, purge_step=resumed_step)
        self.was_behind = False
        """Whether the last flush could not write all events."""

    def flush(self) -> dict[str, int]:
        """Write all events; return the written length of each event file, for a checkpoint."""
        self.writer.flush()
        self.was_behind = self.writer._is_behind()
        return {**self._resumed_position, **self.writer._written()}

    def log_graph(self, recording: Recording) -> None:
        """Write the graphs of a step. A failure only warns: the model can be trained anyway."""
        try:
            recording.write(self.writer)
        except Exception as error:
            text = f"the graph of the model is not written. {type(error).__name__}: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def on_step_end(self, at: Moment) -> None:
        """Write what is due after a step."""
        super().on_step_end(at)
        step, log = at.last, self.parts.config.log
        if step.batches and log.is_due(step.number, step.epoch, step.ends_epoch):
            self.log_histograms(step)

    def on_evaluation_end(self, at: Moment) -> None:
        """Write the confusion matrix and the samples."""
        super().on_evaluation_end(at)
        self.log_confusion_matrix(self._counts(), at.last)
        if count := self.parts.config.evaluation.samples:
            self.log_samples(count, at.last)

    def on_epoch_end(self, at: Moment) -> None:
        """Write the figures of the epoch to the disk."""
        super().on_epoch_end(at)
        self.writer.flush()

    def put_tests(self, step: Step, tests: Mapping[str, Mapping[str, float]]) -> None:
        """Write the figures of the test set to the disk."""
        super().put_tests(step, tests)
        if tests:
            self.flush()

    def take(self, point: Point) -> None:
        """Write scalars."""
        for name, value in point.figures.items():
            self.writer.add_scalar(name, value, point.x(name))

    def log_histograms(self, step: Step) -> None:
        """Write histograms of all weights that are trained, and of their gradients."""
        trained = ((n, p) for n, p in self.parts.model.named_parameters() if p.requires_grad)
        for name, parameter in trained:
            grad = parameter.grad
            if grad is not None and grad.is_sparse:
                grad = grad._values()
            for kind, values in (("weights", parameter), ("gradients", grad)):
                if values is not None and values.numel():
                    self.writer.add_histogram(f"{kind}/{name}", values, step.number)

    def log_confusion_matrix(self, counts: Array | None, step: Step) -> None:
        """Write the confusion matrix as an image and as a table; rows are the true classes."""
        if counts is not None:
            (tag,) = figures_on(self.parts.selection, {"confusion_matrix": counts})
            self.log_picture(tag, heat_map(counts), step)
            self.writer.add_text(tag, confusion_table(counts), step.number)

    def log_samples(self, count: int, step: Step) -> None:
        """Write the predictions for the first examples, and these if they are images."""
        parts, model = self.parts, self.parts.model
        (tag,) = figures_on(parts.selection, {"samples": count})
        with as_evaluated(model, parts.config.run.seed):
            inputs, targets = first_batch(parts, parts.sets[parts.selection], count)
            outputs = model(inputs)
        original = parts.method.original
        known = original(targets) if parts.method.compares else None
        rows = rows_of(original(outputs), known, classes=are_classes(outputs, targets))
        self.writer.add_text(tag, table_of(rows), step.number)
        if are_images(inputs):
            self.log_picture(tag, grid(inputs), step)

    def log_picture(self, tag: str, pixels: Array, step: Step) -> None:
        """Write an image, (height, width, 3) of bytes."""
        self.writer.add_image(tag, pixels, step.number, dataformats="HWC")

    def close(self) -> None:
        """Write everything to the disk, and close the files."""
        self.writer.close()


def _cut(folder: Path, step: int, position: Mapping[str, int] | None) -> Mapping[str, int]:
    """Remove the events of a step and all later ones; return the lengths of the event files."""
    try:
        if position is None:
            losses_and_rates = ("train/", "lr")  # of steps: epochs have other numbers
            position = sizes_before(
                folder, lambda tag, number: number >= step and tag.startswith(losses_and_rates)
            )
        trim(folder, position)
    except Exception as error:  # the model can be trained anyway
        text = f"curves may be shown twice. {type(error).__name__}: {error}"
        warnings.warn(text, BoardWarning, stacklevel=4)
    return position or {}
