"""Datasets: what a DataLoader takes its samples from."""

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from tinynet import errors
from tinynet.core.generator import Generator
from tinynet.core.tensor import Tensor, wrap
from tinynet.data.sampler import permutation
from tinynet.dtypes import Array

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by number: a subclass defines ``__getitem__(index)`` and, as a rule, ``__len__()``.

    It may also define ``__getitems__(indices)``, which returns the samples of a whole batch as a
    list: a DataLoader then calls that instead of ``__getitem__`` for each of them.

    Example:
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 4
        ...     def __getitem__(self, index):
        ...         return index**2
        >>> [batch.tolist() for batch in tn.data.DataLoader(Squares(), batch_size=2)]
        [[0, 1], [4, 9]]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class Samples(Sequence[tuple[Tensor, ...]]):
    """A list of samples that is stored by column: all first parts, all second parts, and so on.

    ``default_collate`` hands out the columns as they are, so a batch costs one numpy indexing per
    column. To everybody else this is a sequence of tuples.
    """

    def __init__(self, columns: tuple[Any, ...]):
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        return tuple(column[index] for column in self.columns)


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """The rows of tensors of equal length: sample ``i`` is ``(tensors[0][i], tensors[1][i], ...)``.

    Args:
        *tensors: tensors with the same size of the first dimension.

    Raises:
        AssertionError: the lengths differ.
        TypeError: one of them is no tensor.

    Example:
        >>> points = tn.data.TensorDataset(tn.tensor([[1.0, 2.0], [3.0, 4.0]]), tn.tensor([0, 1]))
        >>> points[1]
        (tensor([3., 4.]), tensor(1))
    """

    def __init__(self, *tensors: Tensor):
        for position, tensor in enumerate(tensors, 1):
            if not isinstance(tensor, Tensor):
                raise errors.must_be_tensor("TensorDataset", "tensors", position, tensor)
        if not tensors:
            raise TypeError("TensorDataset() needs at least one tensor. Got none instead.")
        lengths = [tensor.size(0) for tensor in tensors]
        if len(set(lengths)) > 1:
            raise AssertionError(f"Size mismatch between tensors. Got lengths {lengths} instead.")
        self.tensors: tuple[Any, ...] = tensors

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __getitems__(self, indices: Sequence[int]) -> Sequence[tuple[Tensor, ...]]:
        """Return the samples at ``indices``, gathered with one indexing per tensor."""
        changed = type(self).__getitem__ is not TensorDataset.__getitem__  # by a subclass
        if changed or not _are_rows(indices, len(self)):
            return [self[index] for index in indices]
        rows = np.array(indices)
        return Samples(tuple(_gather(tensor, rows) for tensor in self.tensors))


def _are_rows(indices: Sequence[Any], length: int) -> bool:
    """Whether one numpy indexing does what one by one would: no bool, no slice, no error."""
    if not {*map(type, indices)} <= {int, np.int64} or not len(indices):
        return False
    return -length <= min(indices) and max(indices) < length


def _gather(tensor: Any, rows: Array) -> Tensor:
    if tensor.requires_grad:
        gathered: Tensor = tensor[wrap(rows)]
        return gathered
    return wrap(tensor._array.take(rows, axis=0))


class Subset(Dataset[T_co]):
    """The samples of a dataset at chosen indices.

    Args:
        dataset: the whole.
        indices: which of its samples, in which order.

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
        """Return the samples at ``indices``, at once where the dataset can do that."""
        if type(self).__getitem__ is not Subset.__getitem__:  # a subclass changes samples
            return [self[index] for index in indices]
        return fetch(self.dataset, [self.indices[index] for index in indices])


def fetch(dataset: Any, indices: Sequence[Any]) -> Any:
    """Return the samples of ``dataset`` at ``indices``."""
    at_once = getattr(dataset, "__getitems__", None)
    if at_once is not None:
        return at_once(indices)
    return [dataset[index] for index in indices]


def random_split(
    dataset: Dataset[T_co],
    lengths: Sequence[float],
    generator: Generator | None = None,
) -> list[Subset[T_co]]:
    """Return disjoint random subsets of a dataset that together are all of it.

    Args:
        dataset: what to split.
        lengths: how many samples each part gets; or fractions that sum to 1 (samples that are left
            over after rounding down go to the first parts, one each).
        generator: where the random order comes from (the default generator).

    Raises:
        ValueError: the lengths do not sum to the length of the dataset, or cannot be lengths.

    Example:
        >>> seeded = tn.Generator().manual_seed(0)
        >>> train, test = tn.data.random_split(range(10), [0.8, 0.2], seeded)
        >>> len(train), len(test)
        (8, 2)
        >>> sorted([*train, *test])
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    sizes = list(_sizes(lengths, len(dataset)))  # type: ignore[arg-type]
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
