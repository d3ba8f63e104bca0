"""The interface of exhibits, and their argument."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from tinynet import nn
from tinynet.board import SummaryWriter
from tinynet.data import DataLoader
from tinynet.dtypes import Array


@dataclass(frozen=True)
class Moment:
    """The argument of an exhibit after an evaluation.

    Example:
        >>> from tinynet.data import Digits
        >>> at = Moment(nn.Flatten(), None, 0, 1, Digits(train=True), Digits(train=False))
        >>> at.examples(5)[0].shape
        tinynet.Size([5, 1, 8, 8])
    """

    model: nn.Module
    """The model in eval mode; no graph is recorded, and all random streams are restored."""

    writer: SummaryWriter
    step: int
    """The number of training steps so far: the step for the methods of the writer."""

    epoch: int
    """The last trained epoch, from 1."""

    train_set: Any
    test_set: Any

    def examples(self, count: int, *, train: bool = False) -> Any:
        """Return the first examples of the test set (or of the training set) as a batch."""
        examples = self.train_set if train else self.test_set
        return next(iter(DataLoader(examples, batch_size=count)))

    def about(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the data set: ``at.about("classes")``, ``at.about("tokenizer")``.

        A subset (`data.Subset`) has the attributes of its data set.
        """
        return dataset_attribute(self.test_set, name, default)

    def picture(self, tag: str, pixels: Array) -> None:
        """Write an image, (height, width, 3) of bytes."""
        self.writer.add_image(tag, pixels, self.step, dataformats="HWC")


def dataset_attribute(examples: Any, name: str, default: Any = None) -> Any:
    """Return an attribute of a data set, or of the data set that it is a subset of."""
    while examples is not None:
        if hasattr(examples, name):
            return getattr(examples, name)
        examples = getattr(examples, "dataset", None)
    return default


def require_positive(owner: str, **values: int) -> None:
    """Check the arguments of an exhibit.

    Raises:
        ValueError: if a value is less than 1.
    """
    for name, value in values.items():
        if value < 1:
            raise ValueError(
                f"The '{name}' parameter of {owner} must be >= 1. Got {value} instead."
            )


class Exhibit(ABC):
    """The base class of exhibits, which are shown after each evaluation.

    A user's class with a method `show` need not derive from it. Random numbers are the same at each
    evaluation, so an exhibit can draw points or latent vectors again instead of storing them.
    """

    @abstractmethod
    def show(self, at: Moment) -> None:
        """Write something with ``at.writer``.

        Raises:
            ValueError: if the model or the data do not suit the exhibit; the message says what they
                should be. The trial before training calls `show` once.
        """
