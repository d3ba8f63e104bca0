"""A loss or gradient that is NaN or infinite: what is raised, and what can be told about it."""

from __future__ import annotations

from typing import NamedTuple

from tinynet.dtypes import Array
from tinynet.train.incidents.post_mortem import PostMortem
from tinynet.train.problems import TrainError


class Place(NamedTuple):
    """Where in the training something happened, each from 0."""

    epoch: int
    number: int
    batch: int
    batches: int


class NonFiniteError(TrainError):
    """A loss or gradient is NaN or infinite; the step was not taken.

    Args:
        what: which, as half a sentence.
        where: the step.
        loss: the array of the loss, if it is that.

    Attributes:
        post_mortem: what the step was made of and why it failed, once that is known. Its
            ``save(folder)`` keeps it.
    """

    def __init__(self, what: str, where: Place, loss: Array | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.epoch, self.number, self.batch, self.batches = where
        self.loss = loss
        self.post_mortem: PostMortem | None = None
        self.remarks: list[str] = []
        """More lines for the message."""

    @property
    def headline(self) -> str:
        """What is not finite, and where in the training."""
        return (
            f"{self.what} in epoch {self.epoch + 1}, step {self.number + 1} "
            f"(batch {self.batch + 1} of {self.batches})"
        )

    def __str__(self) -> str:
        lines = [f"{self.headline}; stopped before the weights were changed."]
        if self.post_mortem is None:
            lines.append(
                "  A smaller learning rate, optimizer.clip_norm, or a look at this batch may help."
            )
        else:
            lines += self.post_mortem.report.lines()
        return "\n".join(lines + self.remarks)
