"""Splitting examples into a training part and a part to measure on: the test or validation part."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

from tinynet.data.loading.sampler import permutation
from tinynet.random import Generator

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
