"""What reads the samples of a batch: PyTorch's ``torch.utils.data._utils.fetch``.

The loader reads data sets with a length by the class that has the name ``_MapDatasetFetcher`` here
when a pass begins, so a program may put its own in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.data.dataset import fetch


class _BaseDatasetFetcher:
    """Reads the samples of one batch after the other.

    Args:
        dataset: the data set.
        auto_collation: whether there are batches, or single samples.
        collate_fn: makes a batch of the samples.
        drop_last: whether to leave out a last batch that is smaller.
    """

    def __init__(
        self,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
    ) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the batch of some indices, or the sample of one."""
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads samples by their indices."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the batch of some indices, or the sample of one."""
        if self.auto_collation:
            return self.collate_fn(fetch(self.dataset, possibly_batched_index))
        return self.collate_fn(self.dataset[possibly_batched_index])


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads the next samples of a stream; only their number counts."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.dataset_iter = iter(self.dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the next batch, or sample.

        Raises:
            StopIteration: the stream has ended.
        """
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        count = len(possibly_batched_index)
        samples = [sample for _, sample in zip(range(count), self.dataset_iter, strict=False)]
        self.ended = len(samples) < count
        if not samples or (self.ended and self.drop_last):
            raise StopIteration
        return self.collate_fn(samples)
