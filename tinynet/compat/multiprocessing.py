"""``torch.multiprocessing``: Python's own; tensors are copied between processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from typing import Any


def set_sharing_strategy(new_strategy: str) -> None:
    """Do nothing: tensors are copied, not shared.

    Args:
        new_strategy: ignored.

    Example:
        >>> from tinynet.compat import multiprocessing
        >>> multiprocessing.set_sharing_strategy("file_system")
    """


def get_sharing_strategy() -> str:
    """Return "copy".

    Example:
        >>> from tinynet.compat import multiprocessing
        >>> multiprocessing.get_sharing_strategy()
        'copy'
    """
    return "copy"


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> Any:
    """Run ``fn(i, *args)`` in new processes, and wait for them.

    Args:
        fn: a top-level function of a module.
        args: its arguments after ``i``.
        nprocs: the number of processes; ``i`` runs from 0.
        join: wait for the processes to end.
        daemon: end the processes when this one ends.
        start_method: Python's start method.

    Returns:
        None; the processes if ``join`` is False.

    Raises:
        RuntimeError: a process failed.

    Example:
        >>> from tinynet.compat import multiprocessing
        >>> multiprocessing.spawn(print, nprocs=0)
    """
    context: Any = multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    failed = [i for i, process in enumerate(processes) if process.exitcode]
    if failed:
        raise RuntimeError(
            f"process {failed[0]} terminated with exit code {processes[failed[0]].exitcode}"
        )
    return None
