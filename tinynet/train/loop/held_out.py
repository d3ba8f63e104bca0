"""The validation set of `fit`: batches, a data set, or a share of the training set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tinynet.core.printing import quantity
from tinynet.data import DataLoader, Dataset, IterableDataset, RandomSampler, SequentialSampler
from tinynet.random import default_generator
from tinynet.train.loop.splits import validation_sets

_KEPT = (
    *("batch_size", "drop_last", "collate_fn", "num_workers", "timeout", "worker_init_fn"),
    *("generator", "persistent_workers", "in_order", "seed_batches"),
)

Validation = Iterable[Sequence[Any]] | Dataset[Any] | float | None


def held_out(batches: Any, validation: Validation) -> tuple[Any, Iterable[Sequence[Any]] | None]:
    """Return the batches to train on, and those to validate on; None without any.

    Args:
        batches: the batches of all training examples.
        validation: batches; a data set; or the share of the training set, which the default
            generator draws.

    Raises:
        TypeError: a share or a data set needs a DataLoader in a plain or random order.
        ValueError: the share is not between 0 and 1, or leaves nothing.
    """
    if validation is None or not isinstance(validation, int | float | Dataset):
        return batches, validation
    if not isinstance(batches, DataLoader) or not _is_plain(batches):
        what = "data set" if isinstance(validation, Dataset) else "share"
        raise TypeError(
            f"The 'validation' parameter of fit is a {what}, which needs 'batches' to be a "
            "DataLoader without a sampler of its own, for its batch size and its examples. "
            "Pass the batches to validate on."
        )
    if isinstance(validation, Dataset):
        return batches, _loader(batches, validation, shuffle=False)
    if not 0 < validation < 1:
        raise ValueError(
            f"The 'validation' parameter of fit must be between 0 and 1. Got {validation} instead."
        )
    train, kept = validation_sets(batches.dataset, validation, default_generator)
    if not len(kept):
        raise ValueError(
            f"The training set has {quantity(len(train), 'example')}, too few to keep some for "
            "validation."
        )
    shuffle = isinstance(batches.sampler, RandomSampler)
    return _loader(batches, train, shuffle=shuffle), _loader(batches, kept, shuffle=False)


def _is_plain(loader: DataLoader[Any]) -> bool:
    """Return whether another loader with the same options would make batches in the same way."""
    in_memory = not isinstance(loader.dataset, IterableDataset) and loader.batch_size is not None
    sampler = loader.sampler
    if type(sampler) is RandomSampler:
        return in_memory and not sampler.replacement and sampler.num_samples == len(sampler)
    return in_memory and type(sampler) is SequentialSampler


def _loader(like: DataLoader[Any], dataset: Any, *, shuffle: bool) -> DataLoader[Any]:
    own = {name: getattr(like, name) for name in _KEPT}
    if not shuffle:
        own |= {"drop_last": False, "generator": None}
    return DataLoader(dataset, shuffle=shuffle, **own)
