"""Samplers: the order in which a DataLoader requests samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from tinynet import random as generators
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.dataset import counted
from tinynet.distributed.groups import get_rank, get_world_size
from tinynet.ops.creation.random import multinomial
from tinynet.random import Generator

T_co = TypeVar("T_co", covariant=True)


def random_source(generator: Generator | None, owner: str) -> Generator:
    """Return the given generator, or the default one for None."""
    if generator is None:
        return generators.default_generator
    if not isinstance(generator, Generator):
        raise TypeError(
            f"The 'generator' parameter of {owner} must be a tinynet.Generator or None. "
            f"Got {generator!r} instead."
        )
    return generator


def permutation(n: int, generator: Generator | None, owner: str) -> list[int]:
    """Return the numbers below ``n`` in random order."""
    order: list[int] = random_source(generator, owner).numpy.permutation(n).tolist()
    return order


def _state(generator: Generator | None) -> dict[str, Any]:
    return {} if generator is None else {"generator": generator.state_dict()}


def _load_state(generator: Generator | None, state: dict[str, Any]) -> None:
    if generator is not None:
        generator.load_state_dict(state["generator"])


def check_batching(batch_size: Any, drop_last: Any) -> None:
    """Raise ValueError unless the arguments are a positive integer and a bool."""
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
        raise ValueError(
            f"batch_size should be a positive integer value, but got batch_size={batch_size}"
        )
    if not isinstance(drop_last, bool):
        raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")


class Sampler(Generic[T_co]):
    """An order of samples: a subclass defines ``__iter__()`` and, if possible, ``__len__()``.

    Example:
        >>> class Backwards(tn.data.Sampler):
        ...     def __init__(self, data):
        ...         self.data = data
        ...     def __iter__(self):
        ...         return iter(range(len(self.data))[::-1])
        >>> letters = ["a", "b", "c"]
        >>> list(tn.data.DataLoader(letters, batch_size=2, sampler=Backwards(letters)))
        [['c', 'b'], ['a']]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")

    def __repr__(self) -> str:
        return counted(self)


class SequentialSampler(Sampler[int]):
    """All indices of a dataset, in order.

    Args:
        data_source: the dataset; only its length is used.

    Raises:
        TypeError: (during iteration) ``data_source`` has no length.

    Example:
        >>> list(tn.data.SequentialSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source: Sized):
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


_AT_ONCE = 2**20


def _endless(source: np.random.Generator, n: int, wanted: int) -> Iterator[int]:
    """Draw ``wanted`` numbers below ``n``, in chunks."""
    for start in range(0, wanted, _AT_ONCE):
        yield from source.integers(n, size=min(_AT_ONCE, wanted - start)).tolist()


class _Randomized(Sampler[int]):
    """Base class of random samplers. Their state is their generator's."""

    generator: Generator | None

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the sampler's own generator, if it has one."""
        return _state(self.generator)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state_dict`."""
        _load_state(self.generator, state)


class RandomSampler(_Randomized):
    """Indices of a dataset in random order, drawn anew in each iteration.

    Args:
        data_source: the dataset, for its length.
        replacement: draw each index independently of earlier ones.
        num_samples: the number of indices to draw (the length of the dataset). Without
            replacement, a larger number means several passes, each in a new order.
        generator: the source of the order (the default generator).

    Raises:
        ValueError: ``num_samples`` is not positive.
        TypeError: ``replacement`` is not a bool, or ``generator`` is not a generator.

    Example:
        >>> sampler = tn.data.RandomSampler("abcd", generator=tn.Generator().manual_seed(0))
        >>> sorted(sampler)
        [0, 1, 2, 3]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ):
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        random_source(generator, "RandomSampler")
        self.data_source = data_source
        self.replacement = replacement
        self.generator = generator
        self._num_samples = num_samples
        wanted = self.num_samples
        if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={wanted}"
            )
        if len(data_source) == 0:
            raise ValueError(f"RandomSampler cannot draw {wanted} samples from an empty dataset.")

    @property
    def num_samples(self) -> int:
        """The number of indices per iteration."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, wanted = len(self.data_source), self.num_samples
        source = random_source(self.generator, "RandomSampler").numpy
        if self.replacement:
            if wanted <= _AT_ONCE:
                yield from source.integers(n, size=wanted).tolist()
            else:  # Practically endless: its draws must not mix with the model's.
                yield from _endless(np.random.default_rng(source.integers(2**63)), n, wanted)
            return
        passes = [source.permutation(n) for _ in range(-(-wanted // n))]
        order = passes[0] if len(passes) == 1 else np.concatenate(passes)
        for start in range(0, wanted, _AT_ONCE):  # a list of all takes five times the memory
            yield from order[start : min(start + _AT_ONCE, wanted)].tolist()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(_Randomized):
    """The given indices in random order, drawn anew in each iteration.

    Args:
        indices: the indices to draw.
        generator: the source of the order (the default generator).

    Raises:
        TypeError: (during iteration) ``indices`` has no length.

    Example:
        >>> sorted(tn.data.SubsetRandomSampler([3, 5, 8]))
        [3, 5, 8]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None):
        random_source(generator, "SubsetRandomSampler")
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = permutation(len(self.indices), self.generator, "SubsetRandomSampler")
        yield from [self.indices[i] for i in order]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(_Randomized):
    """Indices below ``len(weights)``, drawn with probabilities proportional to the weights.

    Args:
        weights: one number >= 0 per sample of the dataset; they need not sum to 1.
        num_samples: the number of indices to draw.
        replacement: draw each index independently of earlier ones; otherwise each at most once.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``num_samples`` is not positive, ``replacement`` not a bool, or ``weights`` not
            one-dimensional.
        RuntimeError: (when drawing) weights are negative, not finite or all zero, or there are
            too few to draw without replacement.

    Example:
        >>> sampler = tn.data.WeightedRandomSampler([0, 0.2, 3, 0], 2, replacement=False)
        >>> sorted(sampler)
        [1, 2]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        array = weights.detach().numpy() if isinstance(weights, Tensor) else weights
        self.weights = wrap(np.array(array, dtype=np.float64))
        if self.weights.dim() != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        random_source(generator, "WeightedRandomSampler")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        source = random_source(self.generator, "WeightedRandomSampler")
        drawn = multinomial(self.weights, self.num_samples, self.replacement, generator=source)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of ``batch_size`` indices of another sampler; the last one may be shorter.

    Args:
        sampler: a sampler, or any iterable of indices.
        batch_size: indices per list.
        drop_last: leave out a last list that would be shorter.

    Raises:
        ValueError: ``batch_size`` is not a positive integer, or ``drop_last`` not a bool.

    Example:
        >>> list(tn.data.BatchSampler(tn.data.SequentialSampler(range(5)), 2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool):
        check_batching(batch_size, drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        samples = len(self.sampler)  # type: ignore[arg-type]  # Python's error is PyTorch's
        rest = 0 if self.drop_last else self.batch_size - 1
        return (samples + rest) // self.batch_size

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the inner sampler, if it has one."""
        return sampler_state(getattr(self, "sampler", None))  # subclasses may set none

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state returned by `state_dict`."""
        load_sampler_state(getattr(self, "sampler", None), state)


# ---- states of samplers ----


def sampler_state(sampler: Any) -> dict[str, Any]:
    """Return ``sampler.state_dict()``, or {} if the sampler has no state."""
    state_dict = getattr(sampler, "state_dict", dict)
    found: dict[str, Any] = state_dict()
    return found


def load_sampler_state(sampler: Any, state: dict[str, Any]) -> None:
    """Restore the state of a sampler, if it supports states."""
    if hasattr(sampler, "load_state_dict"):
        sampler.load_state_dict(state)


# ---- distributed --------------------------------------------------------------------------------
# The sampler for distributed training.


class DistributedSampler(Sampler[int]):
    """One process's share of a dataset: every ``num_replicas``-th index, starting at ``rank``.

    The order depends only on ``seed`` and the epoch, so all processes draw the same one and their
    shares are disjoint. The shares have equal size: indices from the front are repeated at the
    end, or, with ``drop_last``, the tail is dropped.

    Args:
        dataset: the dataset, for its length.
        num_replicas: the number of processes, by default the default process group's.
        rank: the number of this process, from 0, by default its rank in that group.
        shuffle: draw a new order in each epoch; call `set_epoch` before each.
        seed: must be the same in all processes.
        drop_last: drop the tail instead of repeating the front.

    Raises:
        ValueError: ``rank`` is not below ``num_replicas``; or one of them is missing, and
            `distributed.init_process_group` has not been called.

    Example:
        >>> for rank in range(2):
        ...     share = tn.data.DistributedSampler(range(5), 2, rank, shuffle=False)
        ...     print(list(share))
        [0, 2, 4]
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        num_replicas = get_world_size() if num_replicas is None else num_replicas
        rank = get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        share = len(dataset) / num_replicas
        self.num_samples = math.floor(share) if drop_last else math.ceil(share)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        order = list(range(n))
        if self.shuffle:
            seeded = Generator().manual_seed(self.seed + self.epoch)
            order = permutation(n, seeded, "DistributedSampler")
        if n:
            order *= math.ceil(self.total_size / n)
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the next epoch, which determines the order.

        Example:
            >>> share = tn.data.DistributedSampler(range(100), num_replicas=4, rank=1)
            >>> first = list(share)
            >>> share.set_epoch(1)
            >>> list(share) != first
            True
        """
        self.epoch = epoch

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`: the epoch."""
        return {"epoch": self.epoch}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the epoch of a state returned by `state_dict`."""
        self.epoch = state["epoch"]
