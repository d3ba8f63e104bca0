"""The section ``[data]`` of a config."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tinynet.train.config.constraints import POSITIVE, VALIDATION, must
from tinynet.train.config.signatures import Component


@dataclass(frozen=True)
class DataSection:
    """The data set, of pairs (input, target), and how it is split into batches.

    A type with a parameter `train` provides its own training and test sets. From any other data
    set, `test_fraction` is split off as `test_split` says, and then `validation` from the training
    set; the splits depend only on the seed. What a table learns from its rows, it learns from the
    training part.
    """

    component: Component
    """The data set."""

    batch_size: int = field(default=32, metadata=POSITIVE)
    """The number of examples in a batch."""

    shuffle: bool = True
    """Whether to shuffle the training set before each epoch."""

    drop_last: bool = False
    """Whether to drop the last training batch if it is smaller than the others."""

    check: bool = True
    """Whether to check the examples before training: for NaN, for classes that the model does not
    have, and for shapes that differ. The check takes at most two seconds, so it covers only a part
    of large or slow data sets."""

    workers: int = field(
        default=0, metadata=must("be from 0 to 1024", lambda value: 0 <= value <= 1024)
    )
    """The number of threads that load batches ahead of training. It does not change the batches."""

    test_fraction: float = field(
        default=0.2, metadata=must("be between 0 and 1", lambda value: 0 < value < 1)
    )
    """The fraction of the examples to use for testing, if the data set has no test set."""

    test_split: Literal["random", "stratified", "grouped", "time"] = "random"
    """How to choose these examples: at random; with the same share of each class as the training
    part; by whole groups, such as patients (`test_by`); or the last ones in time, in the order of
    `test_by` or, without it, of the rows."""

    test_by: str = ""
    """The column of a table to group by, to stratify by (instead of the target), or to sort by."""

    validation: float | Component = field(default=0.1, metadata=VALIDATION)
    """What selects: the best weights, early stopping, ReduceLROnPlateau, searches and sweeps. A
    fraction of the training set, which is not trained on; it is chosen as `test_split` says, but
    with the same share of each class if the targets are classes. Or a data set of its own, as a
    table with a `type`. With 0 the test set selects, and its metrics are too good. The default is 0
    for methods that do not compare outputs with targets, such as `adversarial`."""

    folds: int = field(
        default=0, metadata=must("be 0 or at least 2", lambda value: value == 0 or value >= 2)
    )
    """The number of folds of a cross-validation (`tinynet cross-validate`): equal parts of the
    training set, of which one is the validation set, instead of the fraction `validation`. 0 is no
    cross-validation."""

    fold: int = field(default=1, metadata=POSITIVE)
    """The fold that is the validation set, from 1."""

    mix: tuple[Component, ...] = field(default=(), metadata={"family": "mixture"})
    """Mixtures of the samples of training batches: `["MixUp"]`, `[{type = "CutMix", alpha = 0.5}]`;
    of several, each batch gets one at random. The targets become shares of classes."""

    targets: Literal["own", "inputs"] = "own"
    """The targets: those of the data set, or its inputs (for autoencoders)."""

    @property
    def validation_share(self) -> float:
        """The fraction of the training set for validation; 0 with a data set of its own."""
        return 0.0 if isinstance(self.validation, Component) else self.validation

    @property
    def splits_validation(self) -> bool:
        """Whether the validation set is a part of the training set."""
        return self.folds > 0 or self.validation_share > 0
