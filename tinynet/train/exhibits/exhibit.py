"""What an exhibit is, and what it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tinynet import nn
from tinynet.board import SummaryWriter
from tinynet.data import DataLoader
from tinynet.dtypes import Array


@dataclass(frozen=True)
class Moment:
    """What an exhibit is given when a model is measured.

    Example:
        >>> from tinynet.data import Digits
        >>> at = Moment(nn.Flatten(), None, 0, 1, Digits(train=True), Digits(train=False))
        >>> at.examples(5)[0].shape
        tinynet.Size([5, 1, 8, 8])
    """

    model: nn.Module
    """In eval mode; no graph is recorded, and random numbers leave no trace in any stream."""

    writer: SummaryWriter
    step: int
    """Steps of training before this one: what the writer's methods take as their step."""

    epoch: int
    """The epoch that was just trained, from 1."""

    train_set: Any
    test_set: Any

    def examples(self, count: int, *, train: bool = False) -> Any:
        """The first examples of the test set (or of the training set) as a batch."""
        examples = self.train_set if train else self.test_set
        return next(iter(DataLoader(examples, batch_size=count)))

    def about(self, name: str, default: Any = None) -> Any:
        """What the data set says of itself: ``at.about("classes")``, ``at.about("tokenizer")``.

        A part of a data set (`data.Subset`) says what the whole does.
        """
        return said_by(self.test_set, name, default)

    def picture(self, tag: str, pixels: Array) -> None:
        """Write an image, (height, width, 3) of bytes."""
        self.writer.add_image(tag, pixels, self.step, dataformats="HWC")


def said_by(examples: Any, name: str, default: Any = None) -> Any:
    """An attribute of a data set, or of the data set that it is a part of."""
    for source in _wholes(examples):
        if hasattr(source, name):
            return getattr(source, name)
    return default


def _wholes(examples: Any) -> Iterator[Any]:
    """A data set, what it is a part of, what that is a part of, ..."""
    while examples is not None:
        yield examples
        examples = getattr(examples, "dataset", None)


class Exhibit(ABC):
    """Something that is shown at each measurement: a class with the one method `show`.

    A user's own class need not be derived from this one. What is the same at each measurement
    (points, latent vectors) may be kept on the exhibit, but is better made anew each time: random
    numbers are the same ones at each measurement.
    """

    @abstractmethod
    def show(self, at: Moment) -> None:
        """Write something with ``at.writer``.

        Raises:
            ValueError: the model or the data are not of the kind that this is for, with what they
                should be. It is tried before training, so the user learns of it at once.
        """
