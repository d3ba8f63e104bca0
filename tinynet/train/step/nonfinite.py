"""The error for a loss, gradient, learning rate or weight that is NaN or infinite."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tinynet.dtypes import Array
from tinynet.train.base.problems import TrainError


class Place(NamedTuple):
    """A place in the training; all numbers are from 0."""

    epoch: int
    number: int
    batch: int
    batches: int


class Diagnosis(Protocol):
    """What was found out about a failed step."""

    @property
    def report(self) -> Any:
        """The cause; its ``lines()`` are a part of the message."""

    def save(self, folder: str | Path) -> None:
        """Store the inputs of the step and the report in a folder."""


class NonFiniteError(TrainError):
    """A loss, a gradient, a learning rate or a weight is NaN or infinite.

    Args:
        what: what is not finite, as a clause.
        where: the place of the step.
        loss: the array of the loss, if the loss is not finite.
        ended: the consequence for the weights, as a clause.
        advice: advice, shown if there is no post-mortem.

    Attributes:
        post_mortem: the inputs of the step and the cause of the failure, once they are known. Its
            ``save(folder)`` stores them.
    """

    def __init__(
        self,
        what: str,
        where: Place,
        loss: Array | None = None,
        *,
        ended: str = "stopped before the weights were changed",
        advice: str = "A smaller learning rate or optimizer.clip_norm may help; look at this batch",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.ended = ended
        self.advice = advice
        self.epoch, self.number, self.batch, self.batches = where
        self.loss = loss
        self.post_mortem: Diagnosis | None = None
        self.remarks: list[str] = []
        """Additional lines of the message."""

    @property
    def headline(self) -> str:
        """What is not finite, and its place in the training."""
        return (
            f"{self.what} in epoch {self.epoch + 1}, step {self.number + 1} "
            f"(batch {self.batch + 1} of {self.batches})"
        )

    def __str__(self) -> str:
        lines = [f"{self.headline}; {self.ended}."]
        if self.post_mortem is None:
            lines.append(f"  {self.advice}.")
        else:
            lines += self.post_mortem.report.lines()
        return "\n".join(lines + self.remarks)


class RankError(NonFiniteError):
    """Another process of the run has found NaN or infinity, and explains it."""
