"""The data that a run writes for TensorBoard."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from tinynet.board import BoardWarning, Recording, SummaryWriter
from tinynet.board.reading import sizes_before
from tinynet.board.storage import trim
from tinynet.dtypes import Array
from tinynet.train.assemble.build import Parts, first_batch
from tinynet.train.loop.fit import Step, as_evaluated
from tinynet.train.metrics.criterion import epoch_figures, figures_on, step_figures
from tinynet.train.outputs import pictures
from tinynet.train.outputs.predictions import are_classes, confusion_table, rows_of, table_of
from tinynet.train.trackers.tracking import Point, Tracking


class BoardLog:
    """The TensorBoard log of a run: scalars per step and epoch, graphs, images and samples.

    Scalars go to the trackers, too.

    Args:
        folder: the run folder.
        parts: the objects of the run.
        resumed_step: the first step of a resumed run.
        resumed_position: the result of `flush` at that step; None if that is unknown.
        tracking: the trackers.
    """

    def __init__(
        self,
        folder: Path,
        parts: Parts,
        resumed_step: int | None = None,
        resumed_position: Mapping[str, int] | None = None,
        tracking: Tracking | None = None,
    ) -> None:
        self.parts = parts
        self.tracking = tracking or Tracking()
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

    def log_step(self, step: Step, also: Callable[[], Mapping[str, float]] = dict) -> None:
        """Write what is due after a step.

        Args:
            step: the step; nothing is written if it was skipped.
            also: returns more figures beside the losses (``train/loss``) and learning rates.
        """
        config = self.parts.config
        if not step.batches:
            return
        if step.number % config.run.log_every == 0 or step.ends_epoch:
            own = {f"train/{name}": value for name, value in also().items()}
            self._log_scalars(step, step_figures(step) | own)
        if config.log.is_due(step.number, step.epoch, step.ends_epoch):
            self.log_histograms(step)

    def log_epoch(
        self, step: Step, figures: Mapping[str, float], evaluated: Mapping[str, float]
    ) -> None:
        """Write the figures of an epoch; those of an evaluation also over the steps."""
        self._log_scalars(step, {**evaluated, **epoch_figures(figures)})
        self.writer.flush()

    def log_tests(self, step: Step, tests: Mapping[str, Mapping[str, float]]) -> None:
        """Write the figures of the test set at the end, with the last and the best weights."""
        for weights, figures in tests.items():
            prefix = "test" if weights == "last" else f"test_{weights}"
            self._log_scalars(step, {f"{prefix}/{n}": value for n, value in figures.items()})
        if tests:
            self.flush()

    def _log_scalars(self, step: Step, figures: Mapping[str, float]) -> None:
        point = Point(step.number, step.epoch + 1, figures, time.time())
        for name, value in figures.items():
            self.writer.add_scalar(name, value, point.x(name))
        self.tracking.log(point)

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
            self.log_picture(tag, pictures.heat_map(counts), step)
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
        if pictures.are_images(inputs):
            self.log_picture(tag, pictures.grid(inputs), step)

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
            losses_and_rates = ("train/", "lr")  # of steps: those of epochs have other numbers
            position = sizes_before(
                folder, lambda tag, number: number >= step and tag.startswith(losses_and_rates)
            )
        trim(folder, position)
    except Exception as error:  # the model can be trained anyway
        text = f"curves may be shown twice. {type(error).__name__}: {error}"
        warnings.warn(text, BoardWarning, stacklevel=4)
    return position or {}
