"""Dataset classes, the source of a DataLoader's samples."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

import numpy as np

from tinynet import errors
from tinynet.core.explanations.arguments import ChecksArguments
from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array

T_co = TypeVar("T_co", covariant=True)


def counted(samples: object) -> str:
    """Return a short description with the number of samples: ``Digits(1433 samples)``."""
    try:
        size = quantity(len(samples), "sample")  # type: ignore[arg-type]  # may raise
    except Exception:  # the length is missing or not known yet
        size = ""
    return f"{type(samples).__name__}({size})"


class Dataset(ChecksArguments, Generic[T_co]):
    """Samples by index: a subclass defines ``__getitem__(index)`` and usually ``__len__()``.

    It may also define ``__getitems__(indices)``, which returns the samples of a batch as a list.
    A DataLoader then calls it once per batch instead of calling ``__getitem__`` per sample.

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

    def __repr__(self) -> str:
        return counted(self)

    def __add__(self, other: Any) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples one after the other: a subclass defines ``__iter__()``.

    Suits data without random access: a stream, or a file read from the front. A DataLoader calls
    ``iter(dataset)`` at the start of every pass. It accepts no sampler and does not shuffle.

    **Workers.** If the dataset calls ``get_worker_info()`` in its ``__iter__``, every worker
    iterates its own copy and the dataset chooses each worker's share; the loader takes batches
    from the workers in turn. Otherwise every worker would yield all samples, so only one worker
    reads the dataset: a pass has each sample once, in the same batches for any number of workers.
    (PyTorch yields the duplicates.) A ``worker_init_fn`` counts as a call of ``get_worker_info()``.

    **Resuming within a pass.** A dataset with ``state_dict()`` and ``load_state_dict(state)``
    resumes where it stopped. Any other dataset is iterated from the front, and the samples of
    batches already returned are skipped.

    Example:
        >>> class Countdown(tn.data.IterableDataset):
        ...     def __iter__(self):
        ...         share = tn.data.get_worker_info()  # None: in no worker
        ...         first, step = (0, 1) if share is None else (share.id, share.num_workers)
        ...         return iter(range(6, 0, -1)[first::step])
        >>> [batch.tolist() for batch in tn.data.DataLoader(Countdown(), batch_size=2)]
        [[6, 5], [4, 3], [2, 1]]
        >>> loader = tn.data.DataLoader(Countdown(), batch_size=2, num_workers=2)
        >>> [batch.tolist() for batch in loader]
        [[6, 4], [5, 3], [2], [1]]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class Samples(Sequence[tuple[Tensor, ...]]):
    """A list of samples stored by column: all first parts, all second parts, and so on.

    ``default_collate`` returns the columns directly, so a batch costs one numpy indexing per
    column. To other code this is a sequence of tuples.
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
        *tensors: tensors whose first dimensions have the same size.

    Raises:
        AssertionError: the lengths differ.
        TypeError: an argument is not a tensor.

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
        changed = type(self).__getitem__ is not TensorDataset.__getitem__  # a subclass overrides it
        if changed or not _are_rows(indices, len(self)):
            return [self[index] for index in indices]
        rows = np.array(indices)
        return Samples(tuple(_gather(tensor, rows) for tensor in self.tensors))


def _are_rows(indices: Sequence[Any], length: int) -> bool:
    """Return whether one numpy indexing equals single lookups: no bool, slice or error."""
    if not {*map(type, indices)} <= {int, np.int64} or not len(indices):
        return False
    return -length <= min(indices) and max(indices) < length


def _gather(tensor: Any, rows: Array) -> Tensor:
    if tensor.requires_grad:
        gathered: Tensor = tensor[wrap(rows)]
        return gathered
    return wrap(tensor._array.take(rows, axis=0))


def fetch(dataset: Any, indices: Sequence[Any]) -> Any:
    """Return the samples of ``dataset`` at ``indices``."""
    at_once = getattr(dataset, "__getitems__", None)
    if at_once is not None:
        return at_once(indices)
    return [dataset[index] for index in indices]


# ---- concatenation ----


class ConcatDataset(Dataset[T_co]):
    """The samples of several datasets, one dataset after the other; also ``a + b``.

    Args:
        datasets: datasets with a length.

    Raises:
        AssertionError: ``datasets`` is empty or contains an IterableDataset.

    Example:
        >>> both = tn.data.ConcatDataset(["abc", "de"])
        >>> len(both), both[1], both[3], both[-1]
        (5, 'b', 'd', 'e')
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError(
                "ConcatDataset does not support IterableDataset: chain them with ChainDataset."
            )
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Return the index at which each dataset ends.

        Example:
            >>> tn.data.ConcatDataset.cumsum(["abc", "de"])
            [3, 5]
        """
        return list(accumulate(map(len, sequence)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: Any) -> Any:
        which, inside = self._place(idx)
        return self.datasets[which][inside]

    def _place(self, idx: Any) -> tuple[int, Any]:
        """Return the number of a dataset and the index within it."""
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect_right(self.cumulative_sizes, idx)
        if which == len(self.datasets):
            raise IndexError(
                f"The index of a ConcatDataset must be below its length {len(self)}. "
                f"Got {idx} instead."
            )
        return which, idx - (self.cumulative_sizes[which - 1] if which else 0)

    def __getitems__(self, indices: Sequence[Any]) -> Sequence[Any]:
        """Return the samples at ``indices``, in one call if they belong to one dataset."""
        changed = type(self).__getitem__ is not ConcatDataset.__getitem__  # a subclass overrides it
        if changed or not len(indices):
            return [self[index] for index in indices]
        places = [self._place(index) for index in indices]
        inside: dict[int, list[Any]] = {}  # the indices in each dataset
        for which, index in places:
            inside.setdefault(which, []).append(index)
        found = {which: fetch(self.datasets[which], part) for which, part in inside.items()}
        if len(found) == 1:
            (samples,) = found.values()
            return samples
        in_turn = {which: iter(samples) for which, samples in found.items()}
        return [next(in_turn[which]) for which, _ in places]

    @property
    def cummulative_sizes(self) -> list[int]:
        """PyTorch's deprecated spelling of ``cumulative_sizes``."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
            FutureWarning,
            stacklevel=2,
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[T_co]):
    """The samples of several iterable datasets, one after the other; also ``a + b``.

    Args:
        datasets: an iterable of IterableDatasets.

    Raises:
        AssertionError: (during iteration) an element is not an IterableDataset.

    Example:
        >>> class Letters(tn.data.IterableDataset):
        ...     def __iter__(self):
        ...         yield from "ab"
        >>> list(tn.data.ChainDataset([Letters(), Letters()]))
        ['a', 'b', 'a', 'b']
    """

    def __init__(self, datasets: Iterable[Any]):
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[T_co]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())
