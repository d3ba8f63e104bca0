"""The base class of callbacks, and their argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tinynet import nn
from tinynet.data import DataLoader
from tinynet.dtypes import Array
from tinynet.train.metrics.criterion import figures_on


def _nothing(reason: str) -> None:
    """Do nothing: no run can be stopped."""


@dataclass(frozen=True)
class Moment:
    """The argument of a callback, and of an exhibit.

    Example:
        >>> from tinynet.data import Digits
        >>> at = Moment(nn.Flatten(), None, 0, 1, Digits(train=True), Digits(train=False))
        >>> at.examples(5)[0].shape, at.tag("samples")
        (tinynet.Size([5, 1, 8, 8]), 'val/samples')
    """

    model: nn.Module
    """The model. During an evaluation it is in eval mode, no graph is recorded, and all random
    streams are restored afterwards."""

    writer: Any
    """The SummaryWriter of the run, for TensorBoard; None in `fit`."""

    step: int
    """The number of the last training step, from 0: the step for the methods of the writer."""

    epoch: int
    """The current epoch, from 1."""

    train_set: Any = None
    """The training set; None in `fit`."""

    test_set: Any = None
    """The test set; None in `fit`."""

    validation_set: Any = None
    """The validation set, on which the run selects; None without one, and in `fit`."""

    figures: Mapping[str, float] = field(default_factory=dict)
    """The figures of the event. After an evaluation: ``loss`` and the metrics on the validation set
    (without one, on the test set); after an epoch: ``train/loss``, ``val/loss``, ``lr`` and so on.
    """

    measured_on: str = "validation"
    """The data set of an evaluation: ``"test"`` if the run has no validation set."""

    last: Any = None
    """The result of the last step, a `Step`, for callbacks of steps and epochs; else None."""

    updaters: Mapping[str, Any] = field(default_factory=dict)
    """The optimizers by name, each in an `Updater`; a single one has the name ``""``."""

    stop: Callable[[str], None] = _nothing
    """``at.stop("reason")`` ends the run after the current epoch."""

    def examples(self, count: int, *, train: bool = False) -> Any:
        """Return the first examples of the validation set, or of the training set, as a batch.

        Without a validation set, they are those of the test set.
        """
        measured = self.test_set if self.validation_set is None else self.validation_set
        examples = self.train_set if train else measured
        return next(iter(DataLoader(examples, batch_size=count)))

    def about(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the data set: ``at.about("classes")``, ``at.about("tokenizer")``.

        A subset (`data.Subset`) has the attributes of its data set.
        """
        return dataset_attribute(self.test_set, name, default)

    def tag(self, name: str) -> str:
        """Return the tag of something about the examples: ``val/name``, or ``test/name``."""
        (tag,) = figures_on(self.measured_on, {name: None})
        return tag

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


def class_names(examples: Any) -> Sequence[str]:
    """Return the names of a data set's classes; empty if its ``classes`` are no list of names."""
    found = dataset_attribute(examples, "classes")
    return found if isinstance(found, list | tuple) else ()


class Callback:
    """The base class of callbacks; a user's class need not derive from it.

    A class with a state defines `state_dict` and `load_state_dict`, too: checkpoints contain it.

    Example:
        >>> class Stop(Callback):
        ...     def on_evaluation_end(self, at):
        ...         if at.figures["accuracy"] > 0.99:
        ...             at.stop("good enough")
    """

    def on_run_begin(self, at: Moment) -> None:
        """Act before the first step; a resumed run begins again."""

    def on_epoch_begin(self, at: Moment) -> None:
        """Act before an epoch."""

    def on_step_end(self, at: Moment) -> None:
        """Act after a step; ``at.last`` is its result."""

    def on_evaluation_end(self, at: Moment) -> None:
        """Act after an evaluation; ``at.figures`` has its results."""

    def on_epoch_end(self, at: Moment) -> None:
        """Act after an epoch and its evaluation, before its checkpoint is written."""

    def on_run_end(self, at: Moment) -> None:
        """Act after the last step, also if the run was interrupted or failed."""


EVENTS = tuple(name for name in vars(Callback) if name.startswith("on_"))


def unknown_events(callback: Any) -> list[str]:
    """Return the methods of a callback that look like events but are none.

    Example:
        >>> class Typo:
        ...     def on_epoch_ends(self, at): ...
        >>> unknown_events(Typo())
        ['on_epoch_ends']
    """
    return [name for name in dir(callback) if name.startswith("on_") and name not in EVENTS]


def is_callback(built: Any) -> bool:
    """Return whether an object has a method of a callback, or one that looks like it."""
    return any(name.startswith("on_") and callable(getattr(built, name)) for name in dir(built))
