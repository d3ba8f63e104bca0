"""``torch.multiprocessing`` for programs run on tinynet: processes are forked.

A newly started process would import the real torch. A forked one inherits tinynet as torch, and
the memory shared by ``share_memory_``.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.context import BaseContext
from typing import Any

from tinynet.compat.parallel import processes as processes


def forked(method: str | None) -> str | None:
    """Return the start method to use when a program requests one.

    Args:
        method: ``"spawn"`` and ``"forkserver"`` become ``"fork"``, if the system supports it.

    Example:
        >>> import multiprocessing
        >>> from tinynet.as_torch import processes
        >>> processes.forked("spawn") in multiprocessing.get_all_start_methods()
        True
    """
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    return "fork" if method is not None and can_fork else method


def set_start_method(method: str | None, force: bool = False) -> None:
    """Set the start method of processes.

    Args:
        method: the name of Python's start method.
        force: replace a method that is already set.

    Raises:
        RuntimeError: a method is already set.

    Example:
        >>> from tinynet.as_torch import processes
        >>> processes.set_start_method(None, force=True)
    """
    context: Any = multiprocessing
    context.set_start_method(forked(method), force)


def get_context(method: str | None = None) -> BaseContext:
    """Return Python's ``multiprocessing`` with a specific start method.

    Args:
        method: the name of Python's start method; None for the default.

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
    """Run ``fn(i, *args)`` in new processes, see ``tinynet.compat.parallel.processes.spawn``.

    Args:
        fn, args, nprocs, join, daemon: as in that function.
        start_method: the name of Python's start method.

    Example:
        >>> from tinynet.as_torch import processes
        >>> processes.spawn(print, nprocs=0)
    """
    return processes.spawn(fn, args, nprocs, join, daemon, str(forked(start_method)))
