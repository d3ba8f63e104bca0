"""The DataLoader: batches of a dataset, pass after pass."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from tinynet.core.generator import Generator
from tinynet.data.collate import default_collate, default_convert
from tinynet.data.dataset import Dataset, Samples, fetch
from tinynet.data.sampler import BatchSampler, RandomSampler, SequentialSampler, random_source

T_co = TypeVar("T_co", covariant=True)


class _Fixed:
    """An attribute that is set once: a change later would be ignored, so it is refused."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, loader: Any, owner: type) -> Any:
        return self if loader is None else loader.__dict__[self.name]

    def __set__(self, loader: Any, value: Any) -> None:
        if self.name in loader.__dict__:
            raise ValueError(
                f"{self.name} attribute should not be set after DataLoader is initialized"
            )
        loader.__dict__[self.name] = value


class DataLoader(Generic[T_co]):
    """Batches of a dataset; each ``for`` loop over it is one pass.

    Args:
        dataset: anything with ``__getitem__(index)`` and ``__len__()``.
        batch_size: samples per batch. None turns batches off: samples come one by one.
        shuffle: a new random order in each pass.
        sampler: the order, as an iterable of indices, instead of ``shuffle``.
        batch_sampler: the batches, as an iterable of lists of indices, instead of all of these.
        num_workers: 0, as batches are made in this process.
        collate_fn: makes a batch of a list of samples (``default_collate``).
        pin_memory: there is no accelerator to pin memory for; True gives PyTorch's warning.
        drop_last: leave out a last batch that would be smaller.
        generator: where ``shuffle`` draws from (the default generator). A generator with the same
            seed gives the same orders.

    Raises:
        ValueError: arguments exclude each other, or are out of range.
        TypeError: ``generator`` is not a generator.

    Example:
        >>> points = tn.data.TensorDataset(tn.arange(5), tn.ones(5))
        >>> for x, y in tn.data.DataLoader(points, batch_size=2):
        ...     print(x, y)
        tensor([0, 1]) tensor([1., 1.])
        tensor([2, 3]) tensor([1., 1.])
        tensor([4]) tensor([1.])
    """

    dataset = _Fixed()
    batch_size = _Fixed()
    drop_last = _Fixed()
    sampler = _Fixed()
    batch_sampler = _Fixed()

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[T_co]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        *,
        generator: Generator | None = None,
    ):
        _check_no_workers(num_workers)
        _check_exclusions(batch_size, shuffle, sampler, batch_sampler, drop_last)
        random_source(generator, "DataLoader")
        if pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                stacklevel=2,
            )
        if sampler is None:
            order = RandomSampler(dataset, generator=generator) if shuffle else None  # type: ignore[arg-type]
            sampler = order or SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        default = default_convert if batch_sampler is None else default_collate
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.generator = generator
        self.collate_fn: Callable[[Any], Any] = default if collate_fn is None else collate_fn

    def __iter__(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
            return
        for indices in self.batch_sampler:
            samples = fetch(self.dataset, indices)
            if isinstance(samples, Samples) and self.collate_fn is not default_collate:
                samples = list(samples)  # a collate_fn is promised a list, which it may sort
            yield self.collate_fn(samples)

    def __len__(self) -> int:
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def _check_no_workers(num_workers: Any) -> None:
    if isinstance(num_workers, int) and num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; "
            "use num_workers=0 to disable multiprocessing."
        )
    if num_workers != 0:
        raise ValueError(
            f"The 'num_workers' parameter of DataLoader must be 0. Got {num_workers!r} instead. "
            "This version has no worker processes and makes every batch in the process that asks "
            "for it. A dataset with '__getitems__' (TensorDataset and Digits have it) fetches a "
            "whole batch at once, which is what workers are mostly wanted for."
        )


def _check_exclusions(
    batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: Any
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    others = batch_size != 1 or shuffle or sampler is not None or drop_last
    if batch_sampler is not None and others:
        raise ValueError(
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
            "and drop_last"
        )
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
