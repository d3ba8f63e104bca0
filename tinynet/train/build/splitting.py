"""Splitting a data set as a config says, and the weights of its classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data import Subset, random_split
from tinynet.data.dataset import Samples, fetch
from tinynet.data.readers.columns import number
from tinynet.data.splits import Split, grouped_split, stratified_split, time_split
from tinynet.random import Generator
from tinynet.train.callbacks.callback import class_names
from tinynet.train.config.sections import DataSection


def split(dataset: Any, section: DataSection, generator: Generator) -> Split:
    """Return the indices of the training part and of the test part.

    A data set that has test examples of its own names the parts with its method ``own_split()``.

    Raises:
        ValueError: the data set does not have what the split needs; names the key.
    """
    own: Split | None = dataset.own_split() if hasattr(dataset, "own_split") else None
    if own is not None:
        if section.test_split != "random" or section.test_by:
            raise ValueError("the data set has its own test part, so there is nothing to split")
        return own
    kind, by, fraction = section.test_split, section.test_by, section.test_fraction
    if kind == "grouped":
        if not by:
            raise ValueError('test_split = "grouped" needs test_by, the name of a column')
        return grouped_split(_column(dataset, by), fraction, generator)
    if kind == "time":
        times = _sortable(_column(dataset, by)) if by else range(len(dataset))
        return time_split(times, fraction)
    if kind == "stratified":
        labels = _column(dataset, by) if by else labels_of(dataset).tolist()
        return stratified_split(labels, fraction, generator)
    if by:
        raise ValueError('test_by needs test_split = "grouped", "stratified" or "time"')
    count = round(len(dataset) * fraction)
    train, test = random_split(dataset, [len(dataset) - count, count], generator)
    return [*train.indices], [*test.indices]


def divided(dataset: Any, parts: Split, state: Any) -> tuple[Any, Any]:
    """Return the parts of a data set.

    Args:
        dataset: if it has a method ``divided(train, test, state)``, that makes its parts.
        parts: the indices of the parts.
        state: what the data set learned in an earlier run, or None.
    """
    method: Callable[..., tuple[Any, Any]] | None = getattr(dataset, "divided", None)
    if method is not None:
        return method(*parts, state)
    return Subset(dataset, parts[0]), Subset(dataset, parts[1])


def labels_of(dataset: Any) -> Any:
    """Return the targets of all examples as an array of classes.

    Raises:
        ValueError: they are not classes.
    """
    if isinstance(dataset, Subset):
        return labels_of(dataset.dataset)[dataset.indices]
    targets = getattr(dataset, "targets", None)
    if targets is None:
        samples = fetch(dataset, [*range(len(dataset))])
        columns = samples.columns if isinstance(samples, Samples) else None
        targets = columns[1] if columns else [sample[1] for sample in samples]
    if isinstance(targets, Tensor):
        array = targets.numpy()
    else:
        array = np.array([one.item() if isinstance(one, Tensor) else one for one in targets])
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("the targets are not classes, one integer per example")
    return array


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


def _column(dataset: Any, name: str) -> Sequence[str]:
    method = getattr(dataset, "column", None)
    if method is None:
        kind = type(dataset).__name__
        raise ValueError(
            f"test_by needs a data set with a method 'column', such as CSV, not {kind}"
        )
    values: Sequence[str] = method(name)
    return values


def _sortable(values: Sequence[str]) -> Sequence[float] | Sequence[str]:
    """Return numbers if all texts are numbers."""
    numbers = [found for value in values if (found := number(value)) is not None]
    return numbers if len(numbers) == len(values) else values
