"""``torch.multiprocessing`` of programs that came through the door: processes are forked.

A process that is started anew would look for the real torch. One that is forked has all that its
parent has: tinynet as torch, and the memory that ``share_memory_`` shares.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.context import BaseContext
from typing import Any

from tinynet.compat import multiprocessing as processes


def forked(method: str | None) -> str | None:
    """Return the start method that is used for one that a program asks for.

    Args:
        method: ``"spawn"`` and ``"forkserver"`` become ``"fork"``, where the system has it.

    Example:
        >>> import multiprocessing
        >>> from tinynet.as_torch import processes
        >>> processes.forked("spawn") in multiprocessing.get_all_start_methods()
        True
    """
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    return "fork" if method is not None and can_fork else method


def set_start_method(method: str | None, force: bool = False) -> None:
    """Set how processes begin.

    Args:
        method: Python's name of the way.
        force: also where one is set already.

    Raises:
        RuntimeError: one is set already.

    Example:
        >>> from tinynet.as_torch import processes
        >>> processes.set_start_method(None, force=True)
    """
    context: Any = multiprocessing
    context.set_start_method(forked(method), force)


def get_context(method: str | None = None) -> BaseContext:
    """Return Python's ``multiprocessing`` with a way to begin processes of its own.

    Args:
        method: Python's name of the way; the default one if None.

    Example:
        >>> from tinynet.as_torch import processes
        >>> processes.get_context().Queue().empty()
        True
    """
    return multiprocessing.get_context(forked(method))


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> Any:
    """Run ``fn(i, *args)`` in new processes, see ``tinynet.compat.multiprocessing.spawn``.

    Args:
        fn, args, nprocs, join, daemon: as there.
        start_method: Python's way of starting processes.

    Example:
        >>> from tinynet.as_torch import processes
        >>> processes.spawn(print, nprocs=0)
    """
    return processes.spawn(fn, args, nprocs, join, daemon, str(forked(start_method)))
