"""Data sets made of others: subsets, random splits, stacks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from tinynet.data.dataset import Dataset, TensorDataset, fetch
from tinynet.data.loading.sampler import permutation
from tinynet.random import Generator

T_co = TypeVar("T_co", covariant=True)


class Subset(Dataset[T_co]):
    """The samples of a dataset at chosen indices.

    Args:
        dataset: the full dataset.
        indices: the indices of the selected samples, in order.

    Raises:
        IndexError: (on access) the dataset has no such index.

    Example:
        >>> odd = tn.data.Subset(["a", "b", "c", "d"], [1, 3])
        >>> len(odd), odd[1]
        (2, 'd')
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]):
        self.dataset = dataset
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[T_co]:
        """Return the samples at ``indices``, in one call if the dataset supports that."""
        if type(self).__getitem__ is not Subset.__getitem__:  # a subclass overrides it
            return [self[index] for index in indices]
        return fetch(self.dataset, [self.indices[index] for index in indices])


def runs_no_user_code(dataset: Any) -> bool:
    """Return whether the samples are rows of tensors, so that no code draws random numbers."""
    while type(dataset).__getitem__ is Subset.__getitem__:
        dataset = dataset.dataset
    return type(dataset).__getitem__ is TensorDataset.__getitem__


def random_split(
    dataset: Dataset[T_co],
    lengths: Sequence[float],
    generator: Generator | None = None,
) -> list[Subset[T_co]]:
    """Split a dataset into random, disjoint subsets.

    Args:
        dataset: the dataset to split.
        lengths: the size of each subset; or fractions that sum to 1 (sizes are rounded down, and
            the remaining samples go to the first subsets, one each).
        generator: the source of the random order (the default generator).

    Raises:
        ValueError: the lengths are invalid or do not sum to the length of the dataset.

    Example:
        >>> seeded = tn.Generator().manual_seed(0)
        >>> train, test = tn.data.random_split(range(10), [0.8, 0.2], seeded)
        >>> len(train), len(test)
        (8, 2)
        >>> sorted([*train, *test])
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    sizes = list(_sizes(lengths, len(dataset)))  # type: ignore[arg-type]  # Python's error is PyTorch's
    order = iter(permutation(sum(sizes), generator, "random_split"))
    return [Subset(dataset, [next(order) for _ in range(size)]) for size in sizes]


def _sizes(lengths: Sequence[float], total: int) -> Iterator[int]:
    if math.isclose(sum(lengths), 1):
        yield from _sizes_of_fractions(lengths, total)
        return
    if sum(lengths) != total:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"Got lengths {list(lengths)} for a dataset of {total} instead."
        )
    for index, length in enumerate(lengths):
        if not isinstance(length, (int, np.integer)) or length < 0:
            raise ValueError(
                "The 'lengths' parameter of random_split must hold integers >= 0, or fractions "
                f"that sum to 1. Got {length!r} at index {index} instead."
            )
        yield int(length)


def _sizes_of_fractions(fractions: Sequence[float], total: int) -> list[int]:
    for index, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(
                f"Fraction at index {index} is not between 0 and 1. Got {fraction!r} instead."
            )
    sizes = [math.floor(total * fraction) for fraction in fractions]
    for extra in range(total - sum(sizes)):
        sizes[extra % len(sizes)] += 1
    for index, size in enumerate(sizes):
        if size == 0:
            warnings.warn(
                f"Length of split at index {index} is 0. This might result in an empty dataset.",
                stacklevel=4,
            )
    return sizes


class StackDataset(Dataset[Any]):
    """Several datasets of equal length: sample ``i`` combines sample ``i`` of each of them.

    Args:
        *args: datasets; samples are tuples.
        **kwargs: or named datasets; samples are dicts.

    Raises:
        ValueError: both or neither kind of argument is given, or the lengths differ.

    Example:
        >>> words, lengths = ["one", "seven"], [3, 5]
        >>> tn.data.StackDataset(words, lengths)[1]
        ('seven', 5)
        >>> tn.data.StackDataset(word=words, length=lengths)[0]
        {'word': 'one', 'length': 3}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in self._parts()]
        if not lengths:
            raise ValueError("At least one dataset should be passed")
        if len(set(lengths)) > 1:
            raise ValueError(f"Size mismatch between datasets. Got lengths {lengths} instead.")
        self._length = lengths[0]

    def _parts(self) -> Iterable[Any]:
        return self.datasets.values() if isinstance(self.datasets, dict) else self.datasets

    def _sample(self, parts: Sequence[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, parts, strict=True))
        return tuple(parts)

    def __getitem__(self, index: Any) -> Any:
        return self._sample([dataset[index] for dataset in self._parts()])

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        """Return the samples at ``indices``, with one call per dataset where it supports that.

        Raises:
            ValueError: a dataset returns too many or too few samples.
        """
        if type(self).__getitem__ is not StackDataset.__getitem__:  # a subclass overrides it
            return [self[index] for index in indices]
        columns = [fetch(dataset, indices) for dataset in self._parts()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(
                    "Nested dataset's output size mismatch. "
                    f"Expected {len(indices)}, got {len(column)}"
                )
        return [self._sample(parts) for parts in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length
