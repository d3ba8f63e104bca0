"""How a config divides the examples of a run into training, validation and test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from tinynet.data import IterableDataset, Subset, random_split
from tinynet.data.readers.columns import number
from tinynet.data.splits import (
    Split,
    grouped_folds,
    grouped_split,
    stratified_folds,
    stratified_split,
    time_split,
)
from tinynet.random import Generator
from tinynet.train.config.sections import DataSection
from tinynet.train.loop.splits import BY_TIME, Indices, Splits, by_itself, labels_of, with_some
from tinynet.train.step.seeds import derive

_Divide = Callable[[Any, DataSection, Generator], Split]
"""Divides examples into a training part and a part to measure on."""


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
    split: Splits = stratified_split, stratified_folds
    if kind == "time":
        keys, split = _times(examples, by), BY_TIME
    elif kind == "grouped":
        keys, split = _groups(examples, by), (grouped_split, grouped_folds)
        least = min(Counter(keys).values(), default=0)
    elif kind == "stratified":
        keys = _strata(examples, by)
    else:
        keys, split = by_itself(examples)
    if section.folds:
        if section.fold > section.folds:
            raise ValueError(f"there is no fold {section.fold} of {section.folds}")
        return split[1](keys, section.folds, generator)[section.fold - 1]
    return with_some(split[0], keys, section.validation_share, least, generator)


def _groups(examples: Any, by: str) -> Sequence[str]:
    if not by:
        raise ValueError('test_split = "grouped" needs test_by, the name of a column')
    return _column(examples, by)


def _times(examples: Any, by: str) -> Sequence[Any]:
    return _sortable(_column(examples, by)) if by else range(len(examples))


def _strata(examples: Any, by: str) -> Sequence[Hashable]:
    strata: Sequence[Hashable] = _column(examples, by) if by else labels_of(examples).tolist()
    return strata


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
