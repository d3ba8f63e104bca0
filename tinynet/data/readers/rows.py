"""The base class of readers whose samples are rows of arrays, in memory or memory-mapped."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.dataset import Dataset, Samples
from tinynet.data.subset import Subset
from tinynet.data.transforms.base import apply_to_batch
from tinynet.dtypes import Array

T_co = TypeVar("T_co", covariant=True)


class Rows(Dataset[T_co]):
    """The rows of arrays: sample ``i`` is row ``i`` of each, as tensors.

    Args:
        arrays: arrays of the same length; they may be memory-mapped, read-only, or in another
            byte order, because a sample is always a copy.
        transform: a function of the first tensor.
        target_transform: a function of the second.

    A batch is gathered with one indexing per array, and ``batched`` transforms are applied to the
    whole batch.

    Example:
        >>> from tinynet.data.readers.rows import Rows
        >>> rows = Rows([np.array([1, 2]), np.array([0, 1])], transform=lambda x: x * 10)
        >>> rows[1]
        (tensor(20), tensor(1))
    """

    def __init__(
        self,
        arrays: Sequence[Array],
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        self._arrays = [np.asarray(array) for array in arrays]
        self.transform = self._plain = transform  # the latter is without augmentation
        self.target_transform = target_transform

    def __len__(self) -> int:
        return len(self._arrays[0])

    def divided(
        self, train: Sequence[int], test: Sequence[int], state: Mapping[str, Any] | None = None
    ) -> tuple[Any, Any]:
        """Return the training part, and another part without augmentation.

        Args:
            train: the indices of the rows for training.
            test: those of the rows to measure on.
            state: not used: nothing is learned from the rows.
        """
        measured = copy.copy(self)
        measured.transform = self._plain
        return Subset(self, train), Subset(measured, test)

    def __getitem__(self, index: Any) -> Any:
        sample: list[Any] = [
            wrap(np.array(array[index], dtype=array.dtype.newbyteorder("=")))
            for array in self._arrays
        ]
        for position, function in enumerate((self.transform, self.target_transform)):
            if function is not None and position < len(sample):
                sample[position] = function(sample[position])
        return tuple(sample)

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return the samples at ``indices``, gathered and transformed together where possible."""
        if type(self).__getitem__ is not Rows.__getitem__ or not len(indices):
            return [self[index] for index in indices]  # a subclass overrides __getitem__
        if not {*map(type, indices)} <= {int, np.int64}:
            return [self[index] for index in indices]
        columns: list[Any] = [_gathered(array, indices) for array in self._arrays]
        for position, function in enumerate((self.transform, self.target_transform)):
            if function is not None and position < len(columns):
                columns[position] = apply_to_batch(function, columns[position])
        if all(isinstance(column, Tensor) for column in columns):
            return Samples(tuple(columns))
        return list(zip(*columns, strict=True))


def _gathered(array: Array, indices: Sequence[int]) -> Tensor:
    rows = array.take(indices, axis=0)
    return wrap(rows.astype(rows.dtype.newbyteorder("="), copy=False))
