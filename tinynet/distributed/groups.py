"""Process groups for the user: starting and ending them, making more, and asking about them."""

from __future__ import annotations

import atexit
import datetime
import os
from collections.abc import Sequence
from typing import Any

from tinynet.base.startup import early_watch
from tinynet.distributed import mpi
from tinynet.distributed.channel import Channel, Patience
from tinynet.distributed.constants import Backend, default_pg_timeout
from tinynet.distributed.divergence import Departures, set_debug_level_from_env
from tinynet.distributed.mpi import divide, hosts
from tinynet.distributed.process_group import (
    NON_GROUP_MEMBER,
    ProcessGroup,
    default_group,
    make_group,
    world,
)
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


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Make a group of some ranks. All ranks of it must call this in the same order.

    Args:
        ranks: ranks of the default group; by default all.
        timeout: for operations in the group; by default the default group's.
        backend: a name, see `init_process_group`; by default the default group's.
        pg_options, use_local_synchronization, device_id: ignored.
        group_desc: a name for messages.
        sort_ranks: sort the ranks, which number the members from 0.

    Returns:
        The group, or ``GroupMember.NON_GROUP_MEMBER`` on ranks that are not in it.

    Raises:
        ValueError: a rank is out of range or given twice, or there is no default group.

    Example:
        >>> evens = tn.distributed.new_group([0, 2])  # doctest: +SKIP
        >>> tn.distributed.all_reduce(tensor, group=evens)  # doctest: +SKIP
    """
    default = default_group()
    size = default.size()
    members = list(range(size)) if ranks is None else list(ranks)
    if len({*members}) != len(members):
        raise ValueError(f"ranks list must not contain duplicate entries, got {members}")
    for rank in members:
        if not 0 <= rank < size:
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})"
            )
    if sort_ranks:
        members.sort()
    name = default.backend if backend is None else Backend(backend)
    check_backend(name)
    limit = default.timeout if timeout is None else checked_timeout(timeout)
    if default.rank() not in members:
        return NON_GROUP_MEMBER
    return make_group(default, members, name, limit, group_desc or f"group {members}")


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Cut the default group into groups of equal size, of consecutive ranks.

    Args:
        group_size: the number of ranks in each.
        group: ignored.
        timeout, backend, pg_options, group_desc: see `new_group`.

    Returns:
        The group of this rank, and the list of all groups.

    Raises:
        ValueError: the size is missing, too large, or does not divide the number of ranks.

    Example:
        >>> pair, pairs = tn.distributed.new_subgroups(2)  # doctest: +SKIP
    """
    size = get_world_size()
    if group_size is None:
        raise ValueError("The arg 'group_size' must be given: there are no GPUs to count.")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(
            f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})"
        )
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by group_size={group_size}")
    lists = [list(range(a, a + group_size)) for a in range(0, size, group_size)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Make disjoint groups from lists of ranks.

    Args:
        ranks_per_subgroup_list: the ranks of each group.
        timeout, backend, pg_options, group_desc: see `new_group`.

    Returns:
        The group of this rank, or None, and the list of all groups.

    Raises:
        ValueError: there are no lists, or a rank is in two of them.

    Example:
        >>> own, both = tn.distributed.new_subgroups_by_enumeration(
        ...     [[0, 2], [1, 3]]
        ... )  # doctest: +SKIP
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    everyone = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    for rank in everyone:
        if everyone.count(rank) > 1:
            raise ValueError(f"Rank {rank} has appeared in more than one subgroup")
    groups = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        for ranks in ranks_per_subgroup_list
    ]
    own = next((group for group in groups if group != NON_GROUP_MEMBER), None)
    return own, groups


def get_rank(group: Any = None) -> int:
    """Return the rank of this process in a group, or -1 if it is not in the group.

    Raises:
        ValueError: `init_process_group` has not been called.

    Example:
        >>> tn.distributed.get_rank()
        Traceback (most recent call last):
        ValueError: Default process group has not been initialized, please make sure to call \
init_process_group.
    """
    default = default_group()
    if group == NON_GROUP_MEMBER:
        return -1
    return (default if group is None else _known(group)).rank()


def get_world_size(group: Any = None) -> int:
    """Return the number of processes in a group, or -1 if this process is not in the group.

    Raises:
        ValueError: `init_process_group` has not been called.

    Example:
        >>> tn.distributed.get_world_size()  # doctest: +SKIP
        4
    """
    default = default_group()
    if group == NON_GROUP_MEMBER:
        return -1
    return (default if group is None else _known(group)).size()


def get_backend(group: Any = None) -> Backend:
    """Return the name of the backend that a group was made with.

    Raises:
        ValueError: `init_process_group` has not been called, or this process is not in the group.

    Example:
        >>> tn.distributed.get_backend()  # doctest: +SKIP
        'mpi'
    """
    default = default_group()
    return (default if group is None else _known(group)).backend


def get_process_group_ranks(group: Any = None) -> list[int]:
    """Return the ranks of the default group that are in a group.

    Raises:
        ValueError: `init_process_group` has not been called, or this process is not in the group.

    Example:
        >>> evens = tn.distributed.new_group([2, 0])  # doctest: +SKIP
        >>> tn.distributed.get_process_group_ranks(evens)  # doctest: +SKIP
        [0, 2]
    """
    default = default_group()
    return list((default if group is None else _known(group)).ranks)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the rank in a group of a rank of the default group.

    Raises:
        ValueError: the rank is not in the group.

    Example:
        >>> tn.distributed.get_group_rank(tn.distributed.new_group([1, 3]), 3)  # doctest: +SKIP
        1
    """
    known = _known(group)
    if global_rank not in known.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return known.ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the rank in the default group of a rank of a group.

    Raises:
        ValueError: the group has no such rank.

    Example:
        >>> tn.distributed.get_global_rank(tn.distributed.new_group([1, 3]), 1)  # doctest: +SKIP
        3
    """
    known = _known(group)
    if not 0 <= group_rank < known.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return known.ranks[group_rank]


def _known(group: Any) -> ProcessGroup:
    if group not in world.groups:
        raise ValueError("Invalid process group specified")
    known: ProcessGroup = group
    return known


def get_pg_count() -> int:
    """Return the number of process groups.

    Example:
        >>> tn.distributed.get_pg_count()
        0
    """
    return len(world.groups)
