"""Parts of data sets: subsets, random splits, stacks; a training part and one to measure on."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
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


# ---- a training part, and one to measure on ----


Split = tuple[list[int], list[int]]
"""The indices of the training part, and of the test or validation part."""


def stratified_split(
    labels: Sequence[Hashable], fraction: float, generator: Generator | None = None
) -> Split:
    """Split examples at random, with the same share of each class in both parts.

    The test part has ``round(fraction * examples)`` examples. What rounding leaves over goes to the
    classes with the largest remainders.

    Args:
        labels: the class of each example.
        fraction: the share of the test part.
        generator: the source of the random order (the default generator).

    Example:
        >>> train, test = stratified_split("aaaaaaaabb" * 2, 0.5, tn.Generator().manual_seed(0))
        >>> sum(i % 10 > 7 for i in test), len(test)
        (2, 10)
    """
    members = defaultdict(list)
    for index in permutation(len(labels), generator, "stratified_split"):
        members[labels[index]].append(index)
    shares = {label: fraction * len(found) for label, found in members.items()}
    counts = {label: int(share) for label, share in shares.items()}
    left = round(fraction * len(labels)) - sum(counts.values())
    by_remainder = sorted(shares, key=lambda label: counts[label] - shares[label])
    for label in by_remainder[:left]:
        counts[label] += 1
    test = {index for label, found in members.items() for index in found[: counts[label]]}
    return _parts(test, len(labels))


def grouped_split(
    groups: Sequence[Hashable], fraction: float, generator: Generator | None = None
) -> Split:
    """Split examples at random, with all examples of a group in the same part.

    Groups go to the test part in random order, as long as that brings its size nearer to
    ``fraction * examples``.

    Args:
        groups: the group of each example, such as the patient.
        fraction: the share of the test part.
        generator: the source of the random order (the default generator).

    Example:
        >>> train, test = grouped_split("aabbccdd", 0.25, tn.Generator().manual_seed(0))
        >>> len(test), {"aabbccdd"[i] for i in test} & {"aabbccdd"[i] for i in train}
        (2, set())
    """
    members = defaultdict(list)
    for index, group in enumerate(groups):
        members[group].append(index)
    names, wanted = [*members], fraction * len(groups)
    test: set[int] = set()
    for position in permutation(len(names), generator, "grouped_split"):
        found = members[names[position]]
        if abs(len(test) + len(found) - wanted) < abs(len(test) - wanted):
            test.update(found)
    return _parts(test, len(groups))


def time_split(times: Sequence[Any], fraction: float) -> Split:
    """Split examples by time: the last ones are the test part.

    Examples of the same time as the first of the test part are in it, too.

    Args:
        times: the time of each example, numbers or texts that sort by time (ISO 8601).
        fraction: the share of the test part.

    Example:
        >>> time_split([3, 1, 4, 2], 0.25)
        ([0, 1, 3], [2])
    """
    order = sorted(range(len(times)), key=lambda index: times[index])
    cut = len(order) - round(fraction * len(order))
    while 0 < cut < len(order) and times[order[cut - 1]] == times[order[cut]]:
        cut -= 1
    return _parts({*order[cut:]}, len(order))


# ---- folds of a cross-validation ----


def stratified_folds(
    labels: Sequence[Hashable], folds: int, generator: Generator | None = None
) -> list[Split]:
    """Return splits at random, so that each example is in the second part of one of them.

    The second parts have the same share of each class: the numbers differ by at most one.

    Args:
        labels: the class of each example.
        folds: the number of splits.
        generator: the source of the random order (the default generator).

    Raises:
        ValueError: there are fewer examples than folds.

    Example:
        >>> folds = stratified_folds("aaaaaabbb", 3, tn.Generator().manual_seed(0))
        >>> [sorted("aaaaaabbb"[i] for i in validation) for _, validation in folds]
        [['a', 'a', 'b'], ['a', 'a', 'b'], ['a', 'a', 'b']]
    """
    _require(folds, len(labels), "examples")
    members = defaultdict(list)
    for index in permutation(len(labels), generator, "stratified_folds"):
        members[labels[index]].append(index)
    dealt = [index for found in members.values() for index in found]
    return [_parts({*dealt[fold::folds]}, len(labels)) for fold in range(folds)]


def grouped_folds(
    groups: Sequence[Hashable], folds: int, generator: Generator | None = None
) -> list[Split]:
    """Return the same for whole groups: each goes to the smallest fold so far, large ones first.

    Args:
        groups: the group of each example.
        folds: the number of splits.
        generator: the source of the random order (the default generator).

    Raises:
        ValueError: there are fewer groups than folds.

    Example:
        >>> folds = grouped_folds("aabbccdd", 4, tn.Generator().manual_seed(0))
        >>> sorted({"aabbccdd"[i] for i in validation}.pop() for _, validation in folds)
        ['a', 'b', 'c', 'd']
    """
    members = defaultdict(list)
    for index, group in enumerate(groups):
        members[group].append(index)
    _require(folds, len(members), "groups")
    names = [*members]
    drawn = [names[position] for position in permutation(len(names), generator, "grouped_folds")]
    parts: list[set[int]] = [set() for _ in range(folds)]
    for name in sorted(drawn, key=lambda name: -len(members[name])):
        min(parts, key=len).update(members[name])
    return [_parts(part, len(groups)) for part in parts]


def time_folds(times: Sequence[Any], folds: int) -> list[Split]:
    """Return splits by time: each trains on what lies before its second part.

    The examples are cut into ``folds + 1`` blocks in the order of their times. Examples of the same
    time are in the same block.

    Args:
        times: the time of each example, numbers or texts that sort by time (ISO 8601).
        folds: the number of splits.

    Raises:
        ValueError: there are too few examples of different times.

    Example:
        >>> time_folds([5, 1, 4, 2, 3, 6], 2)
        [([1, 3], [2, 4]), ([1, 2, 3, 4], [0, 5])]
    """
    order = sorted(range(len(times)), key=lambda index: times[index])
    cuts = [len(order) * block // (folds + 1) for block in range(folds + 2)]
    for block in range(1, folds + 1):
        while 0 < cuts[block] and times[order[cuts[block] - 1]] == times[order[cuts[block]]]:
            cuts[block] -= 1
    blocks = [order[first:last] for first, last in itertools.pairwise(cuts)]
    _require(folds, sum(map(bool, blocks)) - 1, "times after the first")
    return [(sorted(order[: cuts[fold]]), sorted(blocks[fold])) for fold in range(1, folds + 1)]


def _require(folds: int, count: int, what: str) -> None:
    if folds > count:
        raise ValueError(f"{folds} folds need as many {what}, and there are {max(0, count)}")


def _parts(test: set[int], count: int) -> Split:
    return [index for index in range(count) if index not in test], sorted(test)
