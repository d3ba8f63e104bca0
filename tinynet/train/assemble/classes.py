"""What depends on the classes of the training set: weights in the loss, and mixed batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data import default_collate
from tinynet.nn import BCELoss, BCEWithLogitsLoss
from tinynet.random import default_generator
from tinynet.train.assemble.data_rules import takes_class_weights
from tinynet.train.config.signatures import Component
from tinynet.train.loop.callback import class_names, dataset_attribute
from tinynet.train.loop.splits import labels_of, targets_of


def balanced(loss: Component, train_set: Any) -> dict[str, Tensor]:
    """Return the argument of a loss with which all classes count the same.

    Raises:
        ValueError: the loss does not weigh classes, or the targets do not fit it.
    """
    kind = loss.target if isinstance(loss.target, type) else object
    if issubclass(kind, BCEWithLogitsLoss):
        name, weights = "pos_weight", balanced_positives
    elif takes_class_weights(kind):
        name, weights = "weight", balanced_weights
    else:
        advice = "; BCEWithLogitsLoss does" if issubclass(kind, BCELoss) else ""
        raise ValueError(f"{loss.type} does not weigh classes{advice}")
    if name in loss.arguments:
        raise ValueError(f"the loss has a {name} of its own")
    return {name: weights(train_set)}


def balanced_weights(train_set: Any) -> Tensor:
    """Return the weight of each class: examples / (classes * examples of the class).

    That is scikit-learn's ``class_weight="balanced"``.

    Raises:
        ValueError: the targets are not classes, or a class has no examples.

    Example:
        >>> data = tn.data.TensorDataset(tn.zeros(4, 1), tn.tensor([0, 1, 1, 1]))
        >>> balanced_weights(data)
        tensor([2.0000, 0.6667])
    """
    labels = labels_of(train_set)
    if len(labels) and labels.min() < 0:
        raise ValueError("the targets are not classes: there are negative ones")
    names = class_names(train_set)
    counts = np.bincount(labels, minlength=len(names))
    absent = np.flatnonzero(counts == 0).tolist()
    if absent:
        listed = ", ".join(repr(names[i]) if i < len(names) else str(i) for i in absent)
        raise ValueError(
            f"the training part has no examples of the classes {listed} "
            '(data.test_split = "stratified" keeps some of each class)'
        )
    return wrap((len(labels) / (len(counts) * counts)).astype(np.float32))


def balanced_positives(train_set: Any) -> Tensor:
    """Return the weight of the examples of class 1: negative examples / positive examples.

    Targets with several elements, as those of labels that do not exclude each other, have a weight
    for each.

    Raises:
        ValueError: the targets are not 0 or 1, or none is 1.

    Example:
        >>> labels = tn.tensor([[0.0, 1], [1, 1], [0, 1], [0, 0]])
        >>> balanced_positives(tn.data.TensorDataset(tn.zeros(4, 1), labels))
        tensor([3.0000, 0.3333])
    """
    targets = targets_of(train_set)
    if not np.isin(targets, (0, 1)).all():
        raise ValueError("the targets are not 0 or 1")
    positive = targets.sum(0, dtype=np.float64)
    if absent := np.flatnonzero(positive == 0).tolist():
        where = f" at the outputs {', '.join(map(str, absent))}" if targets.ndim > 1 else ""
        raise ValueError(f"the training part has no examples of class 1{where}")
    weights: Any = (len(targets) - positive) / positive
    return wrap(np.asarray(weights, np.float32))


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
