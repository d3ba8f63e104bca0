"""Targets other than those of the data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tinynet.data.dataset import Dataset, Samples, fetch

# ---- shapes -------------------------------------------------------------------------------------
# Shapes and dtypes in messages.


def shape_of(value: Any) -> str:
    """Return the shape and dtype of a tensor, or of each element of a list or dict.

    Example:
        >>> shape_of((tn.zeros(2, 3), {"name": "x"}))
        "([2, 3] tinynet.float32, {'name': str})"
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {shape_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return _listed(value)
    shape = getattr(value, "shape", None)
    if shape is None:
        return type(value).__name__
    return f"{[*shape]} {getattr(value, 'dtype', '')}".strip()


def _listed(values: Iterable[Any]) -> str:
    return "(" + ", ".join(shape_of(value) for value in values) + ")"


# ---- targets ------------------------------------------------------------------------------------


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
