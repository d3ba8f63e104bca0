"""A loss, gradient, rate or weight that is NaN or infinite: what is raised, and what is known."""

from __future__ import annotations

from typing import NamedTuple

from tinynet.dtypes import Array
from tinynet.train.config.problems import TrainError
from tinynet.train.incidents.post_mortem import PostMortem


class Place(NamedTuple):
    """Where in the training something happened, each from 0."""

    epoch: int
    number: int
    batch: int
    batches: int


class NonFiniteError(TrainError):
    """A loss, a gradient, a learning rate or a weight is NaN or infinite.

    Args:
        what: which, as half a sentence.
        where: the step.
        loss: the array of the loss, if it is that.
        ended: what that means for the weights, as half a sentence.
        advice: what may help, where no post-mortem knows better.

    Attributes:
        post_mortem: what the step was made of and why it failed, once that is known. Its
            ``save(folder)`` keeps it.
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
        lines = [f"{self.headline}; {self.ended}."]
        if self.post_mortem is None:
            lines.append(f"  {self.advice}.")
        else:
            lines += self.post_mortem.report.lines()
        return "\n".join(lines + self.remarks)
