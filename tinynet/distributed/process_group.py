"""Process groups: the ranks that take part in an operation."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.callsite import here, locate, warn
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import Repeating
from tinynet.distributed.buffers import Output
from tinynet.distributed.channel import TAGS, Channel, Patience
from tinynet.distributed.constants import Backend
from tinynet.distributed.divergence import Departures, Key, compare, fingerprint, is_checking
from tinynet.distributed.watchdog import Watchdog
from tinynet.distributed.work import Work, Worker

NOT_INITIALIZED = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)
NON_GROUP_MEMBER = -100  # what new_group returns on ranks that are not in the group


class ProcessGroup(Repeating):
    """A group of ranks, each of which is a process. `new_group` makes them.

    Args:
        channel: the communicator of the group.
        ranks: the ranks of the default group that are in it, in the order of their group ranks.
        backend: the name that the user asked for.
        timeout: the longest time that an operation waits for the other ranks.
        name: the name of the group.
        number: distinguishes groups of the same ranks.

    Attributes:
        key: the same on all ranks, and different for each group.
        count: the number of collectives that this rank has called.
    """

    def __init__(
        self,
        channel: Channel,
        ranks: Sequence[int],
        backend: Backend,
        timeout: datetime.timedelta,
        name: str,
        number: int = 0,
    ):
        self.channel = channel
        self.key: Key = (world.generation, tuple(ranks), number)
        self.count = 0
        self.ranks = list(ranks)
        self.backend = backend
        self.timeout = timeout
        self.group_name = self.group_desc = name
        self._worker: Worker | None = None
        self._last: Work | None = None

    def rank(self) -> int:
        """Return the rank of this process in the group."""
        return self.channel.rank

    def size(self) -> int:
        """Return the number of ranks in the group."""
        return self.channel.size

    def name(self) -> str:
        """Return the name of the backend."""
        return self.backend

    def patience(
        self, name: str, seconds: float | None = None, sources: Sequence[int] | None = None
    ) -> Patience:
        """Return how long the operation ``name``, called at the running line, waits.

        Args:
            name: the operation.
            seconds: the limit; by default the timeout of the group.
            sources: the ranks of the default group that a message may come from; None for a
                collective.
        """
        limit = self.timeout.total_seconds() if seconds is None else seconds
        site, number = here(), self.count

        def what() -> str:
            where = locate(site)
            return name if where is None else f"{name} ({where.place})"

        def late() -> Exception:
            return RuntimeError(
                f"Timed out waiting {limit * 1000:.0f}ms for {what()} to complete on rank "
                f"{self.ranks[self.channel.rank]}: another rank has not called it."
            )

        def look() -> None:
            if world.departures is None:
                return
            if sources is None:
                world.departures.look_for_collective(self.key, number, what())
            else:
                world.departures.look_for_message(self.key, sources, what())

        return Patience(limit, late, look)

    def run(
        self,
        name: str,
        body: Callable[[Patience], None],
        outputs: Sequence[Output] = (),
        async_op: bool = False,
        tensors: Sequence[Tensor] = (),
        detail: str = "",
    ) -> Work | None:
        """Run a collective; all ranks of the group must run the same ones in the same order.

        Args:
            name: the function that the user called.
            body: exchanges the messages.
            outputs: what it writes to.
            async_op: return at once, with a handle; the operation runs in a thread.
            tensors: those whose shapes and dtypes must agree on all ranks.
            detail: other arguments that must agree.
        """
        _refuse_capture(name)
        self.count += 1
        patience = self.patience(name)
        if is_checking():
            body = self._checked(body, name, detail, tensors)
        work = Work(outputs)
        if async_op or (self._last is not None and not self._last.is_completed()):
            if self._worker is None:
                self._worker = Worker(f"tinynet-distributed-{self.group_name}")
            self._last = work
            patience.yields = 0  # the thread of the program needs the processor
            self._worker.submit(work, lambda: body(patience))
        else:
            work._run(lambda: body(patience))
        if not async_op:
            work.wait()
            return None
        for output in outputs:
            output.count_write()  # and again when the program waits for the end
        return work

    def _checked(
        self,
        body: Callable[[Patience], None],
        name: str,
        detail: str,
        tensors: Sequence[Tensor],
    ) -> Callable[[Patience], None]:
        own = fingerprint(self.count, name, detail, tensors, locate(here()))

        def checked(patience: Patience) -> None:
            compare(self.channel, self.ranks, own, patience)
            body(patience)

        return checked

    def run_message(
        self, name: str, body: Callable[[Patience], None], sources: Sequence[int]
    ) -> None:
        """Exchange messages with one rank.

        Args:
            name: the function that the user called.
            body: exchanges the messages.
            sources: the rank of the default group that it waits for, or none.
        """
        _refuse_capture(name)
        body(self.patience(name, sources=sources))

    def close(self) -> None:
        """Complete what is under way, and give the communicator back to MPI."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
        self.channel.comm.Free()


def _refuse_capture(name: str) -> None:
    if mode.tracer is not None:
        mode.tracer.cannot_capture(
            f"{name} exchanges values with other processes", "call it outside of the function"
        )


class World:
    """The process groups of this process."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.groups: list[ProcessGroup] = []
        self.created: dict[tuple[int, ...], int] = {}  # ranks -> number of groups made of them
        self.generation = 0  # the number of default groups so far
        self.departures: Departures | None = None
        self.watchdog: Watchdog | None = None  # of a default group of several ranks

    def counts(self) -> dict[Key, int]:
        """Return the number of collectives that this rank has called in each of its groups."""
        return {group.key: group.count for group in self.groups}

    def leave(self) -> None:
        """Tell the other ranks that this one leaves its groups."""
        if self.departures is not None and self.default is not None:
            self.departures.announce()
        if self.watchdog is not None:
            self.watchdog.end()
            self.watchdog = None


world = World()


class GroupMember:
    """The default group, and what stands for a group that this process is not in.

    Example:
        >>> tn.distributed.GroupMember.NON_GROUP_MEMBER
        -100
    """

    NON_GROUP_MEMBER = NON_GROUP_MEMBER

    @property
    def WORLD(self) -> ProcessGroup | None:  # noqa: N802
        """The default group, or None before `init_process_group`."""
        return world.default


group = GroupMember()


def default_group() -> ProcessGroup:
    """Return the default group; raise before `init_process_group`."""
    if world.default is None:
        raise ValueError(NOT_INITIALIZED)
    return world.default


def member(group: Any, name: str) -> ProcessGroup | None:
    """Return the group of an operation; warn and return None if this process is not in it.

    Args:
        group: a group, or None for the default group.
        name: the operation, for the warning.
    """
    default = default_group()
    if group is None:
        return default
    if isinstance(group, ProcessGroup):
        if group not in world.groups:
            raise ValueError("Invalid process group specified")
        return group
    if group == NON_GROUP_MEMBER:
        warn(
            f"Running {name} on global rank {default.rank()} which does not belong to the given "
            "group."
        )
        return None
    raise ValueError(
        f"Process group {group} is not initialized in the world group map. Please initialize the "
        "group first."
    )


def group_rank(group: ProcessGroup, global_rank: int | None, rank: int | None, name: str) -> int:
    """Return the rank in a group that an operation names by one of two arguments.

    Args:
        group: the group.
        global_rank: the argument such as ``src``, a rank of the default group.
        rank: the argument such as ``group_src``, a rank of the group.
        name: the operation, for messages.
    """
    if global_rank is None and rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    if global_rank is not None and rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if rank is None:
        if group is world.default:
            rank = global_rank
        elif global_rank in group.ranks:
            rank = group.ranks.index(global_rank)
        else:
            raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    if not isinstance(rank, int) or not 0 <= rank < group.size():
        raise RuntimeError(f"{name}: invalid root rank: {rank} of a group of {group.size()}")
    return rank


def meet(channel: Channel, ranks: Sequence[int], tag: int, patience: Patience) -> None:
    """Wait until all of the ranks ``ranks`` of a channel have called this."""
    first, token = ranks[0], np.zeros(1, np.uint8)
    others = [(rank, token.copy()) for rank in ranks if rank != first]
    if channel.rank == first:
        channel.exchange([], others, patience, tag)
        channel.exchange(others, [], patience, tag)
    else:
        channel.exchange([(first, token)], [], patience, tag)
        channel.exchange([], [(first, token)], patience, tag)


def make_group(
    parent: ProcessGroup,
    ranks: Sequence[int],
    backend: Backend,
    timeout: datetime.timedelta,
    name: str,
) -> ProcessGroup:
    """Make a group of some ranks of the default group; only those take part."""
    key = tuple(ranks)
    number = world.created[key] = world.created.get(key, 0) + 1
    tag = TAGS + 1 + hash((key, number)) % 500  # of numbers, so the same on all ranks
    channel, MPI = parent.channel, parent.channel.MPI
    # MPI's call below waits with a whole processor; after the meeting it waits for no one.
    meet(channel, ranks, tag, parent.patience("new_group"))
    members = channel.comm.Get_group().Incl(list(ranks))
    comm = channel.comm.Create_group(members, tag)
    members.Free()
    made = ProcessGroup(Channel(MPI, comm), ranks, backend, timeout, name, number)
    world.groups.append(made)
    return made
