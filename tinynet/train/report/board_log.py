"""What a run writes for TensorBoard, under which names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

from tinynet.board import BoardWarning, Recording, SummaryWriter
from tinynet.board.storage import trim
from tinynet.dtypes import Array
from tinynet.train.build.build import Parts, first_batch, refusal_to_show
from tinynet.train.exhibits import Moment
from tinynet.train.report import pictures
from tinynet.train.report.predictions import are_classes, confusion_table, rows_of, table_of
from tinynet.train.running.loop import Step, as_evaluated


def rates(step: Step) -> dict[str, float]:
    """The learning rates as they are shown: ``lr``, or one per optimizer (``lr_generator``)."""
    return {f"lr_{name}".rstrip("_"): rate for name, rate in step.rates.items()}


class BoardLog:
    """Scalars per step and per epoch, the graph, pictures and samples.

    Args:
        folder: of the run.
        parts: of the run.
        goes_on: the step that a run goes on with.
        before: what `position` was then; None if an older version did not store it.
    """

    def __init__(
        self,
        folder: Path,
        parts: Parts,
        goes_on: int | None = None,
        before: Mapping[str, int] | None = None,
    ) -> None:
        self.parts = parts
        self._before = before or {}
        if goes_on is not None and before is not None:
            try:
                trim(folder, before)
            except OSError as error:
                text = f"curves may be shown twice: {error}"
                warnings.warn(text, BoardWarning, stacklevel=3)
        self.writer = SummaryWriter(folder, purge_step=goes_on)

    @property
    def position(self) -> dict[str, int]:
        """Up to where each event file is written, for a checkpoint."""
        return {**self._before, **self.writer._written()}

    def log_graph(self, recording: Recording) -> None:
        """Write the graphs of a step. A failure only warns: the model can be trained anyway."""
        try:
            recording.write(self.writer)
        except Exception as error:
            text = f"the graph of the model is not written. {type(error).__name__}: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def step(self, step: Step) -> None:
        """The losses (``train/loss``) and learning rates (``lr``)."""
        for name, value in step.losses.items():
            self.writer.add_scalar(f"train/{name}", value, step.number)
        for name, rate in rates(step).items():
            self.writer.add_scalar(name, rate, step.number)

    def epoch(self, step: Step, figures: Mapping[str, float], test: Mapping[str, float]) -> None:
        """All figures of an epoch, and those of the test set also over the steps."""
        for name, value in test.items():
            self.writer.add_scalar(name, value, step.number)
        for name, value in figures.items():
            self.writer.add_scalar(f"epoch/{name.replace('/', '_')}", value, step.epoch + 1)
        self.writer.flush()

    def confusion(self, counts: Array | None, step: Step) -> None:
        """The confusion matrix, as a picture and as a table: rows are the true classes."""
        if counts is not None:
            self.picture("test/confusion_matrix", pictures.heat_map(counts), step)
            self.writer.add_text("test/confusion_matrix", confusion_table(counts), step.number)

    def samples(self, count: int, step: Step) -> None:
        """What the model says about the first test examples; images are shown beside it."""
        parts, model = self.parts, self.parts.model
        with as_evaluated(model, parts.config.run.seed):
            inputs, targets = first_batch(parts, parts.test_set, count)
            outputs = model(inputs)
        known = targets if parts.method.compares else None
        rows = rows_of(outputs, known, classes=are_classes(outputs, targets))
        self.writer.add_text("test/samples", table_of(rows), step.number)
        if pictures.are_images(inputs):
            self.picture("test/samples", pictures.grid(inputs), step)

    def exhibits(self, step: Step) -> None:
        """What ``evaluation.show`` lists; one that fails is left out, and training goes on."""
        parts, seed = self.parts, self.parts.config.run.seed
        at = Moment(
            parts.model, self.writer, step.number, step.epoch + 1, parts.train_set, parts.test_set
        )
        listed = zip(parts.config.evaluation.show, parts.exhibits, strict=True)
        for component, exhibit in listed:
            try:
                with as_evaluated(parts.model, seed):
                    exhibit.show(at)
            except Exception as error:
                text = f"{component.path}: {refusal_to_show(component, error)}"
                warnings.warn(text, RuntimeWarning, stacklevel=2)

    def picture(self, tag: str, pixels: Array, step: Step) -> None:
        """An image (height, width, 3) of bytes."""
        self.writer.add_image(tag, pixels, step.number, dataformats="HWC")

    def close(self) -> None:
        """Everything is on the disk afterwards."""
        self.writer.close()
