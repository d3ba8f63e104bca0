"""What the trainer asks of a data set, and how it splits one into training, validation and test."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from tinynet.core.printing import quantity
from tinynet.core.tensors.tensor import Tensor
from tinynet.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
)
from tinynet.data.dataset import Samples, fetch
from tinynet.data.splits import Split, stratified_folds, stratified_split, time_folds, time_split
from tinynet.random import Generator, default_generator

Splits = tuple[Callable[..., Split], Callable[..., list[Split]]]
"""How to split off a share by some keys, and how to make folds."""

BY_TIME: Splits = (
    lambda times, share, generator: time_split(times, share),
    lambda times, folds, generator: time_folds(times, folds),
)


class Indices(NamedTuple):
    """The indices of the parts of a data set."""

    train: list[int]
    validation: list[int]
    """Empty without a validation part."""

    test: list[int]


@dataclass(frozen=True)
class Sets:
    """The data sets of a run."""

    train: Any
    validation: Any
    """None without one: then the test set selects."""

    test: Any

    def map(self, function: Callable[[Any], Any]) -> Sets:
        """Return the sets with a function applied to each."""
        return Sets(*(one if one is None else function(one) for one in self))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.train, self.validation, self.test))


def validation_sets(dataset: Any, share: float, generator: Generator) -> tuple[Any, Any]:
    """Return the training part and the validation part of a data set.

    The parts have the same share of each class if its attribute ``targets`` or ``labels`` has the
    classes; a data set that is ``in_order`` is cut at its end.
    """
    keys, split = by_itself(Subset(dataset, range(len(dataset))))
    return _pair(dataset, *with_some(split[0], keys, share, 1, generator), None)


def by_itself(examples: Subset[Any]) -> tuple[Sequence[Hashable], Splits]:
    """Return what a data set is split by if nothing else is given, and how."""
    if getattr(examples.dataset, "in_order", False):
        return range(len(examples)), BY_TIME
    return _classes_at_hand(examples), (stratified_split, stratified_folds)


def with_some(
    split: Callable[..., Split],
    keys: Sequence[Hashable],
    share: float,
    least: int,
    generator: Generator,
) -> Split:
    """Split off a share, and at least the smallest part that can be; nothing if that is all."""
    count = len(keys)
    parts = split(keys, max(share, least / count), generator) if count else ([], [])
    return parts if all(parts) else ([*range(count)], [])


def _classes_at_hand(examples: Subset[Any]) -> Sequence[Hashable]:
    """Return the classes if the data set has them as an attribute, else equal ones."""
    for name in ("targets", "labels"):
        with contextlib.suppress(ValueError):
            classes = _as_classes(getattr(examples.dataset, name, ()))
            if len(classes) == len(examples.dataset):  # type: ignore[arg-type]  # sized: a Subset's
                return list(classes[examples.indices].tolist())
    return [0] * len(examples)


def divided(dataset: Any, parts: Indices, state: Any, tested: bool) -> Sets:
    """Return the parts of a data set.

    Args:
        dataset: if it has a method ``divided(train, test, state)``, that makes its parts.
        parts: the indices of the parts.
        state: what the data set learned in an earlier run, or None.
        tested: whether there is a test set already; then the set to test on is None.
    """
    train, validation, test = parts
    if tested and not validation:
        return Sets(dataset, None, None)
    train_set, measured = _pair(dataset, train, validation if tested else test, state)
    if tested:
        return Sets(train_set, measured, None)
    if not validation:
        return Sets(train_set, None, measured)
    learned = state_learned(train_set)
    return Sets(train_set, _pair(dataset, train, validation, learned or state)[1], measured)


def _pair(dataset: Any, train: list[int], measured: list[int], state: Any) -> tuple[Any, Any]:
    method: Callable[..., tuple[Any, Any]] | None = getattr(dataset, "divided", None)
    if method is not None:
        return method(train, measured, state)
    return Subset(dataset, train), Subset(dataset, measured)


def prepared(dataset: Any, train_set: Any) -> Any:
    """Return a data set of its own for validation, prepared as the test part of a training set."""
    every = [*range(len(dataset))]
    return _pair(dataset, every, every, state_learned(train_set))[1]


def state_learned(train_set: Any) -> dict[str, Any] | None:
    """Return what the data set learned from its training part, as plain data; None if nothing."""
    learned = dataset_attribute(train_set, "preprocessing")
    return learned.state_dict() if hasattr(learned, "state_dict") else None


def labels_of(dataset: Any) -> Any:
    """Return the targets of all examples as an array of classes.

    Raises:
        ValueError: they are not classes.
    """
    return _as_classes(targets_of(dataset))


def targets_of(dataset: Any) -> Any:
    """Return the targets of all examples as an array."""
    if isinstance(dataset, Subset):
        return targets_of(dataset.dataset)[dataset.indices]
    targets = getattr(dataset, "targets", None)
    if targets is None:
        samples = fetch(dataset, [*range(len(dataset))])
        columns = samples.columns if isinstance(samples, Samples) else None
        targets = columns[1] if columns else [sample[1] for sample in samples]
    return _array(targets)


def _array(targets: Any) -> Any:
    if isinstance(targets, Tensor):
        return targets.numpy()
    return np.array([one.numpy() if isinstance(one, Tensor) else one for one in targets])


def _as_classes(targets: Any) -> Any:
    array = _array(targets)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("the targets are not classes, one integer per example")
    return array


# ---- held out -----------------------------------------------------------------------------------
# The validation set of `fit`: batches, a data set, or a share of the training set.


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


class DataSource(Protocol):
    """The members of a data set that the trainer uses where a data set has them.

    Each may be missing, so a data set needs only ``__len__`` and ``__getitem__``. A subset
    (`data.Subset`) has its data set's.
    """

    def own_split(self) -> tuple[list[int], ...] | None:
        """Return the indices for training, validation and test; two lists are without validation.

        None leaves the split to the config.
        """

    def divided(self, train: list[int], other: list[int], state: Any) -> tuple[Any, Any]:
        """Return the training set and the set to measure on, given their indices.

        They can differ: one without augmentation, one scaled as the other. ``state`` is what the
        training set has learned in an earlier run, or None.
        """

    def column(self, name: str) -> Sequence[str]:
        """Return the values of a column that is no feature, for ``data.test_by``."""

    def location(self, index: int) -> str:
        """Return where an example comes from, for messages: its file."""

    @property
    def in_order(self) -> bool:
        """Whether the examples stand in the order of time, so that the last ones are held out."""

    @property
    def fingerprint(self) -> str:
        """A text that changes with the data, in place of a hash of some examples."""

    @property
    def preprocessing(self) -> Any:
        """What was learned from the training part, with `state_dict`; such as means and scales."""

    @property
    def targets(self) -> Any:
        """The targets of all examples, to find their classes without loading the inputs."""

    @property
    def labels(self) -> Any:
        """Another name of `targets`."""

    @property
    def classes(self) -> Sequence[str]:
        """The names of the classes."""

    @property
    def feature_names(self) -> Sequence[str]:
        """The names of the numbers of an input."""

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The channels, height and width of inputs that are flattened images."""

    @property
    def loader(self) -> Callable[[str], Any]:
        """Returns the image in a file; for predictions from files."""

    @property
    def transform(self) -> Callable[[Any], Any]:
        """Turns what `loader` returns into an input."""

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of texts, which a run keeps."""

    @property
    def vocabulary(self) -> Sequence[str] | Mapping[str, int]:
        """The words in the order of their indices, which a run keeps."""


def dataset_attribute(examples: Any, name: str, default: Any = None) -> Any:
    """Return a member of a data set, or of the data set that it is a subset of.

    Args:
        examples: the data set.
        name: the name of a member, mostly one of `DataSource`.
        default: the result where there is none.
    """
    while examples is not None:
        if hasattr(examples, name):
            return getattr(examples, name)
        examples = getattr(examples, "dataset", None)
    return default


def class_names(examples: Any) -> Sequence[str]:
    """Return the names of a data set's classes; empty if they are not a list of names."""
    found = dataset_attribute(examples, "classes")
    return found if isinstance(found, list | tuple) else ()
