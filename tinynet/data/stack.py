"""StackDataset: several datasets side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tinynet.data.dataset import Dataset, fetch


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
