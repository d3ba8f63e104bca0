"""Splitting a data set as a config says, and the order of its training part."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.data import IterableDataset, RandomSampler, Subset, random_split
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
from tinynet.train.config.amounts import count_of
from tinynet.train.config.sections import Config, DataSection
from tinynet.train.exhibits import dataset_attribute

_Divide = Callable[[Any, DataSection, Generator], Split]
"""Divides examples into a training part and a part to measure on."""


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


def train_order(config: Config, train_set: Any, generator: Generator) -> Iterable[int]:
    """Return the sampler of the training set, with the batches that the limits of the run leave.

    Args:
        config: a config; ``run.overfit_batches`` draws once, all other settings in each epoch.
        train_set: the training set.
        generator: the generator of the order.
    """
    run, size, total = config.run, config.data.batch_size, len(train_set)
    batches = (total if config.data.drop_last else total + size - 1) // size
    amount = run.overfit_batches or run.limit_batches
    count = total if amount is None else min(count_of(amount, batches) * size, total)
    if not config.data.shuffle:
        return range(count)
    sampler = RandomSampler(train_set, num_samples=count, generator=generator)
    return sampler if run.overfit_batches is None else [*sampler]


def evaluated_part(config: Config, sets: Sets) -> Sets:
    """Return the sets with the examples to evaluate, which ``evaluation.limit_batches`` limits."""
    amount, size = config.evaluation.limit_batches, config.data.batch_size

    def part(examples: Any) -> Any:
        if examples is None or amount is None:
            return examples
        count = count_of(amount, -(-len(examples) // size)) * size
        return Subset(examples, range(min(count, len(examples))))

    return Sets(sets.train, part(sets.validation), part(sets.test))


def _validation_part(examples: Any, section: DataSection, generator: Generator) -> Split:
    """Divide training examples as the test part was, with at least one for validation.

    If they cannot be divided, such as a single group, all are for training.
    """
    if not len(examples):
        return [], []
    kind, by = section.test_split, section.test_by
    split: Callable[..., Split] = stratified_split
    folds: Callable[..., list[Split]] = stratified_folds
    keys, least, drawn = _classes_at_hand(examples), 1, [generator]
    if kind == "time" or getattr(examples.dataset, "in_order", False):
        split, folds, keys, drawn = time_split, time_folds, _times(examples, by), []
    elif kind == "grouped":
        split, folds, keys = grouped_split, grouped_folds, _groups(examples, by)
        least = min(Counter(keys).values())
    elif kind == "stratified":
        keys = _strata(examples, by)
    if section.folds:
        return folds(keys, section.folds, *drawn)[section.fold - 1]
    parts = split(keys, max(section.validation_share, least / len(keys)), *drawn)
    return parts if all(parts) else ([*range(len(keys))], [])


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
            if len(classes) == len(examples.dataset):  # type: ignore[arg-type]
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
