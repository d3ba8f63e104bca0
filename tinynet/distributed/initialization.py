"""Starting and ending the process groups."""

from __future__ import annotations

import atexit
import datetime
import os
from typing import Any

from tinynet.base.startup import early_watch
from tinynet.distributed import mpi
from tinynet.distributed.channel import Channel, Patience
from tinynet.distributed.constants import Backend, default_pg_timeout
from tinynet.distributed.divergence import Departures, set_debug_level_from_env
from tinynet.distributed.mpi import divide, hosts
from tinynet.distributed.process_group import NON_GROUP_MEMBER, ProcessGroup, world
from tinynet.distributed.watchdog import Watchdog
from tinynet.distributed.watchdog_process import JOINS

NAMES = ("mpi", "gloo", "cpu:gloo", "cpu:mpi", "cpu:gloo,cuda:nccl", "undefined")


def is_initialized() -> bool:
    """Return whether `init_process_group` has been called.

    Example:
        >>> tn.distributed.is_initialized()
        False
    """
    return world.default is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: datetime.timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Join the default process group, which has all processes that ``mpirun`` started.

    Args:
        backend: "mpi", or "gloo" for programs that were written for it; both run on MPI.
        init_method: ignored, like ``store``, ``group_name``, ``pg_options`` and ``device_id``:
            ``mpirun`` connects the processes.
        timeout: the longest time that an operation waits for the other ranks, by default half an
            hour.
        world_size: the number of processes; if given, the one of ``mpirun``.
        rank: the rank of this process; if given, the one of ``mpirun``.
        store, group_name, pg_options, device_id: ignored.

    Raises:
        ValueError: a group exists already; or ``world_size`` or ``rank`` is not what ``mpirun``
            gave.
        RuntimeError: mpi4py or MPI is not installed; or there is no such backend.

    Example:
        >>> tn.distributed.init_process_group("mpi")  # doctest: +SKIP
        >>> tn.distributed.get_rank(), tn.distributed.get_world_size()  # doctest: +SKIP
        (0, 4)
    """
    if world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    name = Backend("mpi" if backend is None else backend)
    check_backend(name)
    limit = checked_timeout(timeout)
    if os.environ.get("TORCH_DISTRIBUTED_DEBUG"):
        set_debug_level_from_env()
    early_watch.begin()
    early_watch.send(JOINS)
    MPI = mpi.load()
    everyone = MPI.COMM_WORLD
    _check_launch(everyone.Get_size(), everyone.Get_rank(), world_size, rank)
    comm, request = everyone.Idup()
    late = RuntimeError("Timed out waiting for the other ranks in init_process_group.")
    patience = Patience(limit.total_seconds(), lambda: late)
    patience.wait(request.Test)
    channel = Channel(MPI, comm)
    world.generation += 1
    if channel.size > 1:
        _prepare(channel, patience)
    made = ProcessGroup(channel, range(channel.size), name, limit, group_name or "default_pg")
    world.default = made
    world.groups.append(made)


def _prepare(channel: Channel, patience: Patience) -> None:
    """Share the processors of a machine, and watch the other ranks."""
    if world.departures is None:
        world.departures = Departures(channel.MPI, patience, world.counts)
        atexit.register(_leave, os.getpid())  # after mpi4py's function, so it runs before that
    ranks = hosts(channel, patience)
    divide(ranks, channel.rank)
    world.watchdog = Watchdog(channel, ranks, patience)


def _leave(process: int) -> None:
    if os.getpid() == process:  # not a fork of it
        world.leave()


def check_backend(name: Backend) -> None:
    """Raise if there is no such backend."""
    if name == Backend.NCCL or name.startswith("cuda:"):
        raise RuntimeError(
            "Distributed package doesn't have NCCL built in: tinynet runs on the CPU only, use "
            "the backend 'mpi' or 'gloo'."
        )
    if name not in NAMES:
        raise ValueError(
            f"Invalid backend: {name!r}. The backends are 'mpi', and 'gloo', another name for it."
        )


def checked_timeout(timeout: Any) -> datetime.timedelta:
    """Return a timeout, or the default one for None; raise if it is something else."""
    if timeout is None:
        return default_pg_timeout
    if not isinstance(timeout, datetime.timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )
    return timeout


def _check_launch(size: int, own: int, world_size: int, rank: int) -> None:
    """Compare what the user gave, and what a launcher such as torchrun set, with MPI's answer."""
    wanted = world_size if world_size != -1 else int(os.environ.get("WORLD_SIZE", size))
    if wanted != size:
        raise ValueError(
            f"The world size is {wanted}, but MPI started {size} process{'es' * (size != 1)}: "
            f"start the program with mpirun -n {wanted} python ..., and not with another launcher."
        )
    if rank not in (-1, own):
        raise ValueError(
            f"The rank is {rank}, but MPI says {own}: leave the argument out, or use "
            'int(os.environ["RANK"]).'
        )


def destroy_process_group(group: Any = None) -> None:
    """End a process group, or all of them if ``group`` is None or the default group.

    Raises:
        AssertionError: there is no default group.
        ValueError: ``group`` has ended before.

    Example:
        >>> tn.distributed.destroy_process_group()  # doctest: +SKIP
    """
    if group == NON_GROUP_MEMBER:
        return
    target = world.default if group is None else group
    assert target is not None, "Process group cannot be None"
    if target not in world.groups:
        raise ValueError("Invalid process group specified")
    if target is world.default:
        world.leave()
    ending = list(world.groups) if target is world.default else [target]
    for one in reversed(ending):
        one.close()
        world.groups.remove(one)
    if target is world.default:
        world.default = None
        world.created.clear()
