"""The DataLoader: batches of a dataset, pass after pass."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any, Generic, Literal, TypeVar

from tinynet.data.dataset import Dataset, IterableDataset, counted
from tinynet.data.loading import options
from tinynet.data.loading.collate import default_collate, default_convert
from tinynet.data.loading.passes import Home, Pool, PrefetchingPass, SerialPass
from tinynet.data.loading.progress import Progress, requested, restore, states
from tinynet.data.loading.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    random_source,
)
from tinynet.data.loading.threads import Threads
from tinynet.data.loading.worker import Work
from tinynet.random import Generator

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
        dataset: anything with ``__getitem__(index)`` and ``__len__()``, or an IterableDataset.
        batch_size: samples per batch. None turns batches off: samples come one by one.
        shuffle: a new random order in each pass.
        sampler: the order, as an iterable of indices, instead of ``shuffle``.
        batch_sampler: the batches, as an iterable of lists of indices, instead of all of these.
        num_workers: how many workers make batches in the background, ahead of being asked for
            them; 0: each batch is made when it is asked for.
        collate_fn: makes a batch of a list of samples (``default_collate``).
        pin_memory: there is no accelerator to pin memory for; True gives PyTorch's warning.
        drop_last: leave out a last batch that would be smaller.
        timeout: seconds to wait for a batch of a worker before RuntimeError; 0: no limit.
        worker_init_fn: is called with its number in each worker, before it makes batches.
        multiprocessing_context: the start method of worker processes, or a context of
            multiprocessing (Python's default); given, workers are processes.
        generator: where ``shuffle`` draws from (the default generator), and the seeds of batches.
            A generator with the same seed gives the same orders.
        prefetch_factor: how many batches per worker are made in advance (2).
        persistent_workers: keep workers, and their copies of the dataset, for the next pass.
        pin_memory_device: PyTorch's; without effect.
        in_order: give batches in the order of the sampler; else as they are ready.
        worker_method: ``"thread"`` (default) or ``"multiprocessing"``; see below.

    **Threads or processes.** Threads share the data and give batches away without a copy; they
    work at once where numpy or a file does (both release Python's lock), but Python code runs in
    one thread at a time. Processes run Python code at once, but start slower, and every batch is
    copied through a pipe. So: ``worker_method="multiprocessing"`` for datasets whose own Python
    code takes the time, such as parsing text. With a start method other than ``"fork"``, dataset,
    ``collate_fn`` and ``worker_init_fn`` have to be picklable, and the program needs
    ``if __name__ == "__main__":``. Matrix products in processes compete for processors:
    ``tn.set_num_threads(1)`` in a ``worker_init_fn`` ends that.

    **Random numbers.** While a batch is made, tinynet's default generator, ``random`` and
    ``np.random`` start from a seed that depends on the loader's generator, the pass and the place
    of the batch. So augmentation is the same for any number of workers (also 0), and nothing of it
    is drawn from the streams of the training loop. In worker *threads* this holds for tinynet's
    default generator and what draws from it; ``random`` and ``np.random`` cannot be given to a
    thread. ``tn.default_generator.numpy`` is a numpy generator for all cases. A Generator that a
    dataset or transform holds is not reseeded: the threads take turns with it, each process has a
    copy. Leave it out where there are workers.

    **Errors** in a worker arrive as exceptions of the same type, with the worker's traceback; the
    pass can go on with the next batch. A worker process that dies ends the pass with RuntimeError.

    **Exact resume**: see `state_dict`.

    Raises:
        ValueError: arguments exclude each other, or are out of range.
        TypeError: ``generator`` is not a generator, ``num_workers`` no integer.

    Example:
        >>> points = tn.data.TensorDataset(tn.arange(5), tn.ones(5))
        >>> for x, y in tn.data.DataLoader(points, batch_size=2):
        ...     print(x, y)
        tensor([0, 1]) tensor([1., 1.])
        tensor([2, 3]) tensor([1., 1.])
        tensor([4]) tensor([1.])
        >>> [len(x) for x, y in tn.data.DataLoader(points, batch_size=2, num_workers=2)]
        [2, 2, 1]
    """

    dataset = _Fixed()
    batch_size = _Fixed()
    drop_last = _Fixed()
    sampler = _Fixed()
    batch_sampler = _Fixed()
    persistent_workers = _Fixed()

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        worker_method: Literal["thread", "multiprocessing"] | None = None,
    ):
        self._set_workers(
            (num_workers, timeout, prefetch_factor, persistent_workers),
            worker_method,
            multiprocessing_context,
        )
        options.check_exclusions(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        random_source(generator, "DataLoader")
        options.warn_of_pinning(pin_memory, pin_memory_device)
        self.dataset, self.generator = dataset, generator
        if sampler is None:
            sampler = _default_sampler(dataset, shuffle, generator)
        self._set_batches(batch_size, sampler, batch_sampler, drop_last, collate_fn)
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.worker_init_fn, self.in_order = worker_init_fn, in_order
        self._settle()

    def _set_workers(self, counts: tuple[Any, ...], method: Any, context: Any) -> None:
        options.check_workers(*counts)
        self.num_workers, self.timeout, prefetch_factor, self.persistent_workers = counts
        self.prefetch_factor = (prefetch_factor or 2) if self.num_workers else None
        context = options.check_method(method, context, self.num_workers)
        self.multiprocessing_context = context
        self.worker_method = "thread" if context is None else "multiprocessing"

    def _set_batches(
        self, batch_size: Any, sampler: Any, batch_sampler: Any, drop_last: Any, collate_fn: Any
    ) -> None:
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        default = default_convert if batch_sampler is None else default_collate
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.collate_fn: Callable[[Any], Any] = default if collate_fn is None else collate_fn

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    def _settle(self) -> None:
        """Begin without passes, and with a place for workers between two of them."""
        self._told_length: int | None = None
        self._progress, self._resumes = Progress(), False
        self._home = Home(self.persistent_workers)
        weakref.finalize(self, self._home.close)

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_home", "_progress", "_resumes")
        return {key: value for key, value in vars(self).items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._settle()

    # ---- passes ----

    def __iter__(self) -> Iterator[Any]:
        progress, resumed = self._progress, self._resumes
        if not resumed:
            progress = self._progress = progress.next()
        self._resumes = False
        work = self._work()
        if self.num_workers == 0:
            return SerialPass(self, work, progress, resumed)
        return PrefetchingPass(self, work, progress, resumed, self._pool(work), self._home)

    def _work(self) -> Work:
        return Work(
            self.dataset,
            isinstance(self.dataset, IterableDataset),
            self.batch_size,
            self.batch_sampler is not None,
            self.drop_last,
            self.collate_fn,
            self.worker_init_fn,
        )

    def _pool(self, work: Work) -> Pool:
        waiting = self._home.take()
        if waiting is not None:
            return waiting
        if self.worker_method == "thread":
            return Threads(work, self.num_workers)
        pool: Pool = options.processes("Processes")(
            work, self.num_workers, self.multiprocessing_context
        )
        return pool

    def __repr__(self) -> str:
        known = repr(self.dataset) if isinstance(self.dataset, Dataset) else counted(self.dataset)
        size = self.batch_size
        if size is None:  # a batch sampler decides, or nothing is batched
            size = getattr(self.batch_sampler, "batch_size", None)
        return f"DataLoader({known}, batch_size={size}, num_workers={self.num_workers})"

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is not None:
            length = (length + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size
        self._told_length = length
        return length

    def batch_indices(self, number: int) -> list[int] | None:
        """Return the indices of the samples in a batch of the pass that was begun last.

        None if that cannot be told: of an IterableDataset, of a sampler that is neither a sequence
        nor has a ``state_dict``, or where there is no such batch.

        Args:
            number: of the batch in its pass, from 0.

        Example:
            >>> loader = tn.data.DataLoader(range(100, 105), batch_size=2, shuffle=True)
            >>> for number, batch in enumerate(loader):
            ...     assert [100 + i for i in loader.batch_indices(number)] == batch.tolist()
        """
        if isinstance(self.dataset, IterableDataset):
            return None
        request = requested(self, self._progress, number)
        if request is None:
            return None
        return [int(index) for index in (request if self.batch_sampler is not None else [request])]

    # ---- states ----

    def state_dict(self) -> dict[str, Any]:
        """Return how far the pass that was begun last is, and the states of the random order.

        It is plain data (what an IterableDataset says of itself excepted), and can be taken at any
        time, also in the body of the loop. What workers made in advance does not count: the place
        is that of the batch that was given last. With ``"epoch"`` (passes before this one) and
        ``"position"`` (batches of this one that were given) it says where that is.

        Example:
            >>> def loader():
            ...     order = tn.Generator().manual_seed(0)
            ...     return tn.data.DataLoader(range(10), 3, shuffle=True, generator=order)
            >>> first = loader()
            >>> batches = iter(first)
            >>> _ = next(batches), next(batches)
            >>> state = first.state_dict()
            >>> state["epoch"], state["position"]
            (0, 2)
            >>> second = loader()
            >>> second.load_state_dict(state)
            >>> [x.tolist() for x in second] == [x.tolist() for x in batches]
            True
        """
        return {"batch_size": self.batch_size, **self._progress.state(), **states(self)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go to a state of a DataLoader with the same dataset, sampler and batch size.

        The next pass gives the batches that were left, the passes after it are as they would have
        been. The generator (the default one, if the loader has none of its own) goes to its state
        at once. There may be another number of workers, unless they share an IterableDataset.

        Raises:
            ValueError: the batch size is another one, or the number of workers that share.
        """
        shares = max(1, self.num_workers)
        if state_dict["batch_size"] != self.batch_size:
            raise ValueError(
                "The state is of a DataLoader whose batch_size is "
                f"{state_dict['batch_size']}. Got it for batch_size={self.batch_size} instead."
            )
        if state_dict["asked"] and len(state_dict["shares"]) != shares:
            raise ValueError(
                f"The state is of a pass in which {len(state_dict['shares'])} workers share an "
                f"IterableDataset. Got it for num_workers={self.num_workers} instead."
            )
        self._progress = Progress.of(state_dict)
        self._resumes = self._progress.order is not None
        restore(self, state_dict)


# ---- the default order ----


class _Endless(Sampler[None]):
    """What an IterableDataset has for a sampler: it says "the next one", for ever."""

    def __iter__(self) -> Iterator[None]:
        return repeat(None)


def _default_sampler(dataset: Any, shuffle: Any, generator: Generator | None) -> Iterable[Any]:
    if isinstance(dataset, IterableDataset):
        return _Endless()
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
