"""Splitting examples into a training part and a test part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

from tinynet.data.loading.sampler import permutation
from tinynet.random import Generator

Split = tuple[list[int], list[int]]
"""The indices of the training part, and those of the test part."""


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


def _parts(test: set[int], count: int) -> Split:
    return [index for index in range(count) if index not in test], sorted(test)
