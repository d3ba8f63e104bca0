"""Splitting a data set as a config says, and the order of its training part."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.data import IterableDataset, Subset, random_split
from tinynet.data.dataset import Samples, fetch
from tinynet.data.readers.columns import number
from tinynet.data.splits import (
    Split,
    grouped_folds,
    grouped_split,
    stratified_folds,
    stratified_split,
    time_folds,
    time_split,
)
from tinynet.random import Generator
from tinynet.train.build.seeds import derive
from tinynet.train.callbacks.callback import dataset_attribute
from tinynet.train.config.sections import DataSection

_Divide = Callable[[Any, DataSection, Generator], Split]
"""Divides examples into a training part and a part to measure on."""

_Splits = tuple[Callable[..., Split], Callable[..., list[Split]]]
"""How to split off a share by some keys, and how to make folds."""

_BY_TIME: _Splits = (
    lambda times, share, generator: time_split(times, share),
    lambda times, folds, generator: time_folds(times, folds),
)


class Indices(NamedTuple):
    """The indices of the parts of a data set."""

    train: list[int]
    validation: list[int]
    """Empty without a validation part."""

    test: list[int]


@dataclass(frozen=True)
class Sets:
    """The data sets of a run."""

    train: Any
    validation: Any
    """None without one: then the test set selects."""

    test: Any

    def map(self, function: Callable[[Any], Any]) -> Sets:
        """Return the sets with a function applied to each."""
        return Sets(*(one if one is None else function(one) for one in self))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.train, self.validation, self.test))


def partition(dataset: Any, section: DataSection, seed: int, *, tested: bool) -> Indices:
    """Return the indices of the parts of a data set.

    A data set that has parts of its own names them with its method ``own_split()``: a pair of
    indices for training and test, or a triple with those for validation between them. An empty part
    of a triple is split off the training part.

    Args:
        dataset: the data set; without its test part if that is a data set of its own.
        section: how to split it.
        seed: the seed of the run.
        tested: whether there is a test set already.

    Raises:
        ValueError: the data set does not have what the split needs; names the key.
    """
    train, validation, test = _own_parts(dataset)
    if test and (section.test_split != "random" or section.test_by):
        raise ValueError("the data set has its own test part, so there is nothing to split")
    if not test and not tested:
        train, test = _of(train, _divided_by(dataset, section, train, "split", seed, _test_part))
    if not section.splits_validation or isinstance(dataset, IterableDataset):
        validation = []
    elif section.folds or not validation:
        parts = _divided_by(dataset, section, train, "validation", seed, _validation_part)
        train, validation = _of(train, parts)
    return Indices(train, validation, test)


def _own_parts(dataset: Any) -> Indices:
    own = dataset.own_split() if hasattr(dataset, "own_split") else None
    if own is None:
        return Indices([*range(len(dataset))], [], [])
    return Indices(own[0], own[1] if len(own) == 3 else [], own[-1])


def _divided_by(
    dataset: Any, section: DataSection, rows: list[int], purpose: str, seed: int, divide: _Divide
) -> Split:
    """Divide some rows of a data set, in a random order of this purpose only."""
    generator = Generator().manual_seed(derive(seed, purpose))
    return divide(Subset(dataset, rows), section, generator)


def _of(rows: Sequence[int], parts: Split) -> Split:
    """Return the rows at some positions."""
    return [rows[position] for position in parts[0]], [rows[position] for position in parts[1]]


def _test_part(examples: Any, section: DataSection, generator: Generator) -> Split:
    kind, by, fraction = section.test_split, section.test_by, section.test_fraction
    if kind == "grouped":
        return grouped_split(_groups(examples, by), fraction, generator)
    if kind == "time":
        return time_split(_times(examples, by), fraction)
    if kind == "stratified":
        return stratified_split(_strata(examples, by), fraction, generator)
    if by:
        raise ValueError('test_by needs test_split = "grouped", "stratified" or "time"')
    count = round(len(examples) * fraction)
    train, test = random_split(examples, [len(examples) - count, count], generator)
    return [*train.indices], [*test.indices]


def _validation_part(examples: Subset[Any], section: DataSection, generator: Generator) -> Split:
    """Divide training examples as the test part was."""
    kind, by, least = section.test_split, section.test_by, 1
    split: _Splits = stratified_split, stratified_folds
    if kind == "time":
        keys, split = _times(examples, by), _BY_TIME
    elif kind == "grouped":
        keys, split = _groups(examples, by), (grouped_split, grouped_folds)
        least = min(Counter(keys).values(), default=0)
    elif kind == "stratified":
        keys = _strata(examples, by)
    else:
        keys, split = _by_itself(examples)
    if section.folds:
        if section.fold > section.folds:
            raise ValueError(f"there is no fold {section.fold} of {section.folds}")
        return split[1](keys, section.folds, generator)[section.fold - 1]
    return _with_some(split[0], keys, section.validation_share, least, generator)


def validation_sets(dataset: Any, share: float, generator: Generator) -> tuple[Any, Any]:
    """Return the training part and the validation part of a data set.

    The parts have the same share of each class if its attribute ``targets`` or ``labels`` has the
    classes; a data set that is ``in_order`` is cut at its end.
    """
    keys, split = _by_itself(Subset(dataset, range(len(dataset))))
    return _pair(dataset, *_with_some(split[0], keys, share, 1, generator), None)


def _by_itself(examples: Subset[Any]) -> tuple[Sequence[Hashable], _Splits]:
    """Return what a data set is split by if nothing else is given, and how."""
    if getattr(examples.dataset, "in_order", False):
        return range(len(examples)), _BY_TIME
    return _classes_at_hand(examples), (stratified_split, stratified_folds)


def _with_some(
    split: Callable[..., Split],
    keys: Sequence[Hashable],
    share: float,
    least: int,
    generator: Generator,
) -> Split:
    """Split off a share, and at least the smallest part that can be; nothing if that is all."""
    count = len(keys)
    parts = split(keys, max(share, least / count), generator) if count else ([], [])
    return parts if all(parts) else ([*range(count)], [])


def _groups(examples: Any, by: str) -> Sequence[str]:
    if not by:
        raise ValueError('test_split = "grouped" needs test_by, the name of a column')
    return _column(examples, by)


def _times(examples: Any, by: str) -> Sequence[Any]:
    return _sortable(_column(examples, by)) if by else range(len(examples))


def _strata(examples: Any, by: str) -> Sequence[Hashable]:
    strata: Sequence[Hashable] = _column(examples, by) if by else labels_of(examples).tolist()
    return strata


def _classes_at_hand(examples: Subset[Any]) -> Sequence[Hashable]:
    """Return the classes if the data set has them as an attribute, else equal ones."""
    for name in ("targets", "labels"):
        with contextlib.suppress(ValueError):
            classes = _as_classes(getattr(examples.dataset, name, ()))
            if len(classes) == len(examples.dataset):  # type: ignore[arg-type]  # sized: a Subset's
                return list(classes[examples.indices].tolist())
    return [0] * len(examples)


def divided(dataset: Any, parts: Indices, state: Any, tested: bool) -> Sets:
    """Return the parts of a data set.

    Args:
        dataset: if it has a method ``divided(train, test, state)``, that makes its parts.
        parts: the indices of the parts.
        state: what the data set learned in an earlier run, or None.
        tested: whether there is a test set already; then the set to test on is None.
    """
    train, validation, test = parts
    if tested and not validation:
        return Sets(dataset, None, None)
    train_set, measured = _pair(dataset, train, validation if tested else test, state)
    if tested:
        return Sets(train_set, measured, None)
    if not validation:
        return Sets(train_set, None, measured)
    learned = state_learned(train_set)
    return Sets(train_set, _pair(dataset, train, validation, learned or state)[1], measured)


def _pair(dataset: Any, train: list[int], measured: list[int], state: Any) -> tuple[Any, Any]:
    method: Callable[..., tuple[Any, Any]] | None = getattr(dataset, "divided", None)
    if method is not None:
        return method(train, measured, state)
    return Subset(dataset, train), Subset(dataset, measured)


def prepared(dataset: Any, train_set: Any) -> Any:
    """Return a data set of its own for validation, prepared as the test part of a training set."""
    every = [*range(len(dataset))]
    return _pair(dataset, every, every, state_learned(train_set))[1]


def state_learned(train_set: Any) -> dict[str, Any] | None:
    """Return what the data set learned from its training part, as plain data; None if nothing."""
    learned = dataset_attribute(train_set, "preprocessing")
    return learned.state_dict() if hasattr(learned, "state_dict") else None


def labels_of(dataset: Any) -> Any:
    """Return the targets of all examples as an array of classes.

    Raises:
        ValueError: they are not classes.
    """
    return _as_classes(targets_of(dataset))


def targets_of(dataset: Any) -> Any:
    """Return the targets of all examples as an array."""
    if isinstance(dataset, Subset):
        return targets_of(dataset.dataset)[dataset.indices]
    targets = getattr(dataset, "targets", None)
    if targets is None:
        samples = fetch(dataset, [*range(len(dataset))])
        columns = samples.columns if isinstance(samples, Samples) else None
        targets = columns[1] if columns else [sample[1] for sample in samples]
    return _array(targets)


def _array(targets: Any) -> Any:
    if isinstance(targets, Tensor):
        return targets.numpy()
    return np.array([one.numpy() if isinstance(one, Tensor) else one for one in targets])


def _as_classes(targets: Any) -> Any:
    array = _array(targets)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("the targets are not classes, one integer per example")
    return array


def _column(dataset: Any, name: str) -> Sequence[str]:
    if isinstance(dataset, Subset):
        values = _column(dataset.dataset, name)
        return [values[index] for index in dataset.indices]
    method = getattr(dataset, "column", None)
    if method is None:
        kind = type(dataset).__name__
        raise ValueError(
            f"test_by needs a data set with a method 'column', such as CSV, not {kind}"
        )
    column: Sequence[str] = method(name)
    return column


def _sortable(values: Sequence[str]) -> Sequence[float] | Sequence[str]:
    """Return numbers if all texts are numbers."""
    numbers = [found for value in values if (found := number(value)) is not None]
    return numbers if len(numbers) == len(values) else values
