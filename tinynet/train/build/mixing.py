"""Mixtures of the samples of training batches, as a config lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinynet.data import default_collate
from tinynet.random import default_generator
from tinynet.train.build.splitting import labels_of
from tinynet.train.callbacks.callback import dataset_attribute


class MixedBatches:
    """Builds a batch from samples, and mixes it by one of several functions, chosen at random.

    A loader seeds the default generator for each batch, so workers and interruptions change
    nothing.

    Args:
        mixtures: functions of inputs and targets.

    Example:
        >>> from tinynet.data.transforms import MixUp
        >>> inputs, targets = MixedBatches([MixUp(num_classes=2)])([(tn.ones(1), 0)] * 4)
        >>> targets.shape
        tinynet.Size([4, 2])
    """

    def __init__(self, mixtures: Sequence[Callable[[Any, Any], Any]]) -> None:
        self.mixtures = mixtures

    def __call__(self, samples: Any) -> list[Any]:
        return self.mixed(default_collate(samples))

    def mixed(self, batch: Sequence[Any]) -> list[Any]:
        """Return the mixture of a batch."""
        count = len(self.mixtures)
        chosen = int(default_generator.numpy.integers(count)) if count > 1 else 0
        return [*self.mixtures[chosen](*batch)]


def count_classes(mixtures: Sequence[Any], train_set: Any) -> None:
    """Give mixtures without a number of classes that of the training set.

    Raises:
        ValueError: the targets are not classes.
    """
    for mixture in mixtures:
        if getattr(mixture, "num_classes", 0) is None:
            names = dataset_attribute(train_set, "classes")
            mixture.num_classes = len(names) if names else int(labels_of(train_set).max()) + 1
