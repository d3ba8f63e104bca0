"""The DataLoader: batches of a dataset, pass after pass; checks of its arguments."""

from __future__ import annotations

import os
import pkgutil
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any, Generic, Literal, TypeVar

from tinynet.core.explanations.arguments import ChecksArguments
from tinynet.data.dataset import Dataset, IterableDataset, counted
from tinynet.data.loading.collate import default_collate, default_convert
from tinynet.data.loading.passes import (
    Pool,
    PoolHolder,
    PrefetchingPass,
    Progress,
    SerialPass,
    order_state,
    requested,
    set_order_state,
)
from tinynet.data.loading.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    random_source,
)
from tinynet.data.loading.worker import Threads, Work
from tinynet.random import Generator

T_co = TypeVar("T_co", covariant=True)


class _Fixed:
    """An attribute that is set once: later changes would be ignored, so they raise."""

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


class DataLoader(ChecksArguments, Generic[T_co]):
    """Batches of a dataset; each ``for`` loop over it is one pass.

    Args:
        dataset: an object with ``__getitem__(index)`` and ``__len__()``, or an IterableDataset.
        batch_size: samples per batch. None disables batching: samples come one by one.
        shuffle: a new random order in each pass.
        sampler: the order, as an iterable of indices, instead of ``shuffle``.
        batch_sampler: the batches, as an iterable of lists of indices, instead of the above.
        num_workers: the number of workers that prepare batches in the background; 0 loads each
            batch on request.
        collate_fn: builds a batch from a list of samples (``default_collate``).
        pin_memory: without effect, since there is no accelerator; True gives PyTorch's warning.
        drop_last: leave out a last batch that would be smaller.
        timeout: seconds to wait for a worker's batch before RuntimeError; 0: no limit.
        worker_init_fn: called in each worker with the worker's number, before the first batch.
            Batches of a worker that it seeds with ``tn.manual_seed`` depend on that seed.
        multiprocessing_context: the start method of worker processes, or a multiprocessing
            context (Python's default). If given, workers are processes.
        generator: the random source of ``shuffle`` and of the batches' seeds (the default
            generator). Generators with the same seed give the same orders.
        prefetch_factor: the number of batches each worker prepares in advance (2).
        persistent_workers: keep workers, and their copies of the dataset, for the next pass.
        pin_memory_device: accepted for compatibility; without effect.
        in_order: return batches in the order of the sampler; otherwise as they become ready.
        worker_method: ``"thread"`` (default) or ``"multiprocessing"``; see below.
        seed_batches: without workers, seed ``random`` and ``np.random`` for each batch, too.

    **Threads or processes.** Threads share the data and return batches without copying. They run
    in parallel while numpy or a file operation releases Python's lock; Python code runs in one
    thread at a time. Processes run Python code in parallel, but start more slowly, and every batch
    is copied through a pipe. Use ``worker_method="multiprocessing"`` for datasets that spend their
    time in Python code, such as parsing text. With a start method other than ``"fork"``, the
    dataset, ``collate_fn`` and ``worker_init_fn`` must be picklable, and the program needs
    ``if __name__ == "__main__":``. Matrix products in several processes compete for processors;
    call ``tn.set_num_threads(1)`` in a ``worker_init_fn`` to avoid that.

    **Random numbers.** For each batch, tinynet's default generator starts from a seed that depends
    on the loader's generator, the pass and the position of the batch. Augmentation is therefore the
    same for any number of workers, including 0, and does not disturb the random streams of the
    training loop. The same holds for ``random`` and ``np.random`` in worker *processes*. In worker
    threads they belong to the whole process. Without workers they are the program's own streams, as
    in PyTorch; ``seed_batches=True`` seeds them for each batch, as the trainer does, so that a
    resumed pass draws the same. ``tn.default_generator.numpy`` is a numpy generator that works in
    all cases. A Generator held by a dataset or transform is not reseeded: threads share it, and
    each process has a copy. Do not pass one when you use workers.

    **Errors** in a worker are raised as exceptions of the same type, with the worker's traceback;
    the pass can continue with the next batch. If a worker process dies, the pass ends with
    RuntimeError.

    **Exact resume**: see `state_dict`.

    Raises:
        ValueError: arguments exclude each other or are out of range.
        TypeError: ``generator`` is not a generator, or ``num_workers`` not an integer.

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
        seed_batches: bool = False,
    ):
        self._set_workers(
            (num_workers, timeout, prefetch_factor, persistent_workers),
            worker_method,
            multiprocessing_context,
        )
        check_exclusions(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        random_source(generator, "DataLoader")
        warn_of_pinning(pin_memory, pin_memory_device)
        self.dataset, self.generator = dataset, generator
        if sampler is None:
            sampler = _default_sampler(dataset, shuffle, generator)
        self._set_batches(batch_size, sampler, batch_sampler, drop_last, collate_fn)
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.worker_init_fn, self.in_order = worker_init_fn, in_order
        self.seed_batches = seed_batches
        self._reset()

    def _set_workers(self, counts: tuple[Any, ...], method: Any, context: Any) -> None:
        check_workers(*counts)
        self.num_workers, self.timeout, prefetch_factor, self.persistent_workers = counts
        self.prefetch_factor = (prefetch_factor or 2) if self.num_workers else None
        context = check_method(method, context, self.num_workers)
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

    def _reset(self) -> None:
        """Reset the progress, and prepare to keep workers between passes."""
        self._reported_length: int | None = None
        self._progress, self._resumes = Progress(), False
        self._pool_holder = PoolHolder(self.persistent_workers)
        weakref.finalize(self, self._pool_holder.close)

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_pool_holder", "_progress", "_resumes")
        return {key: value for key, value in vars(self).items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    # ---- passes ----

    def __iter__(self) -> Iterator[Any]:
        progress, resumed = self._progress, self._resumes
        if not resumed:
            progress = self._progress = progress.next()
        self._resumes = False
        work = self._work()
        if self.num_workers == 0:
            return SerialPass(self, work, progress, resumed)
        return PrefetchingPass(self, work, progress, resumed, self._pool(work), self._pool_holder)

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
        waiting = self._pool_holder.take()
        if waiting is not None:
            return waiting
        if self.worker_method == "thread":
            return Threads(work, self.num_workers)
        pool: Pool = processes("Processes")(work, self.num_workers, self.multiprocessing_context)
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
        length = len(self.dataset)  # type: ignore[arg-type]  # Python's error is PyTorch's
        if self.batch_size is not None:
            length = (length + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size
        self._reported_length = length
        return length

    def batch_indices(self, number: int) -> list[int] | None:
        """Return the indices of the samples in a batch of the current or last pass.

        Returns None for an IterableDataset, for a sampler that is neither a sequence nor has a
        ``state_dict``, and if there is no such batch.

        Args:
            number: the number of the batch in its pass, from 0.

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
        """Return the position in the current or last pass, and the states of the random order.

        The state is plain data (except for the state of an IterableDataset) and can be taken at
        any time, including in the body of the loop. It refers to the last batch returned; batches
        that workers have prepared in advance do not count. ``"epoch"`` is the number of earlier
        passes, ``"position"`` the number of batches returned in this one.

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
        return {"batch_size": self.batch_size, **self._progress.as_dict(), **order_state(self)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state of a DataLoader with the same dataset, sampler and batch size.

        The next pass returns the remaining batches; later passes are the same as without the
        interruption. The generator (the loader's own, or the default one) is restored at once.
        The number of workers may differ, unless the workers share an IterableDataset.

        Raises:
            ValueError: the batch size differs, or the number of workers that share a dataset.
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
        set_order_state(self, state_dict)


# ---- the default order ----


class _Endless(Sampler[None]):
    """The sampler of an IterableDataset: yields None forever."""

    def __iter__(self) -> Iterator[None]:
        return repeat(None)


def _default_sampler(dataset: Any, shuffle: Any, generator: Generator | None) -> Iterable[Any]:
    if isinstance(dataset, IterableDataset):
        return _Endless()
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)


# ---- workers ----


def processes(name: str) -> Any:
    """Return an object from processes.py, imported lazily because it needs multiprocessing."""
    return pkgutil.resolve_name(f"tinynet.data.loading.processes:{name}")


def check_workers(
    num_workers: Any, timeout: Any, prefetch_factor: Any, persistent_workers: Any
) -> None:
    """Refuse arguments that do not fit the number of workers."""
    if not isinstance(num_workers, int) or isinstance(num_workers, bool):
        raise TypeError(
            "The 'num_workers' parameter of DataLoader must be an integer >= 0. "
            f"Got {num_workers!r} instead."
        )
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; "
            "use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if timeout and num_workers == 0:
        raise ValueError(
            "The 'timeout' parameter of DataLoader is for workers, and num_workers is 0. "
            f"Got timeout={timeout}."
        )
    if prefetch_factor is not None and num_workers == 0:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if prefetch_factor == 0:
        raise ValueError(
            "The 'prefetch_factor' parameter of DataLoader must be at least 1: with workers, every "
            "batch is made in advance. Got 0 instead."
        )
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def check_method(worker_method: Any, context: Any, num_workers: int) -> Any:
    """Return the context of worker processes; None for threads."""
    if worker_method not in (None, "thread", "multiprocessing"):
        raise ValueError(
            "The 'worker_method' parameter of DataLoader must be 'thread' or 'multiprocessing'. "
            f"Got {worker_method!r} instead."
        )
    if context is not None and num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    if context is not None and worker_method == "thread":
        raise ValueError(
            "The 'multiprocessing_context' parameter of DataLoader is for worker processes. "
            "Got worker_method='thread' with it."
        )
    if context is None and worker_method != "multiprocessing":
        return None
    if num_workers == 0:
        return None
    _warn_of_too_many(num_workers)
    return processes("context_of")(context)


def _warn_of_too_many(num_workers: int) -> None:
    if hasattr(os, "sched_getaffinity"):
        processors: int | None = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count()
    if processors is not None and num_workers > processors:
        warnings.warn(
            f"This DataLoader will create {num_workers} worker processes in total. Our suggested "
            f"max number of worker in current system is {processors}, which is smaller than what "
            "this DataLoader is going to create. Please be aware that excessive worker creation "
            "might get DataLoader running slow or even freeze, lower the worker number to avoid "
            "potential slowness/freeze if necessary.",
            stacklevel=5,
        )


# ---- the other arguments ----


def warn_of_pinning(pin_memory: Any, device: str) -> None:
    """Warn that there is no accelerator to pin memory for."""
    if pin_memory and device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{device}'.",
            stacklevel=3,
        )
    if pin_memory:
        warnings.warn(
            "'pin_memory' argument is set as true but no accelerator is found, then device "
            "pinned memory won't be used.",
            stacklevel=3,
        )


def check_exclusions(
    dataset: Any,
    batch_size: Any,
    shuffle: Any,
    sampler: Any,
    batch_sampler: Any,
    drop_last: Any,
) -> None:
    """Refuse options that exclude each other."""
    if isinstance(dataset, IterableDataset):
        options = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in options.items():
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, "
                    f"but got {name}={value}"
                )
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
