"""Checks of the arguments of a DataLoader."""

from __future__ import annotations

import os
import pkgutil
import warnings
from typing import Any

from tinynet.data.dataset import IterableDataset

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
