"""Targets other than those of the data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinynet.data.dataset import Dataset, Samples, fetch


class InputsAsTargets(Dataset[tuple[Any, Any]]):
    """A data set with its inputs as targets, for autoencoders.

    Args:
        dataset: its samples are inputs, or tuples that begin with them.

    Example:
        >>> InputsAsTargets([("a", 1), ("b", 2)])[1]
        ('b', 'b')
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        return _twice(self.dataset[index])

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return the samples at ``indices``, in one call if the data set supports it."""
        samples = fetch(self.dataset, indices)
        if isinstance(samples, Samples):
            inputs = samples.columns[0]
            return Samples((inputs, inputs.clone()))  # a model may write to its inputs
        return [_twice(sample) for sample in samples]


def _twice(sample: Any) -> tuple[Any, Any]:
    inputs = sample[0] if isinstance(sample, tuple | list) else sample
    return inputs, inputs
