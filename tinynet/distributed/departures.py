"""Ranks that leave their groups, and operations that wait for them in vain.

A rank that ends its groups, or its program, sends all others the number of collectives that it has
called in each group. Who waits for a later one raises, where it would wait until the timeout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tinynet.distributed.channel import Channel, Patience, pickled, unpickled

GRACE = 4  # looks that a message of a rank that has left may still take

Key = tuple[int, tuple[int, ...], int]  # of a group: see ``ProcessGroup``


class Departures:
    """What other ranks have sent when they left.

    Args:
        MPI: the module of mpi4py.
        limit: how long to wait for the other ranks.
        counts: returns the number of collectives that this rank has called in each of its groups.
    """

    def __init__(self, MPI: Any, limit: Patience, counts: Callable[[], dict[Key, int]]):
        comm, request = MPI.COMM_WORLD.Idup()
        limit.wait(request.Test)
        self.channel, self.counts = Channel(MPI, comm), counts
        self._sent: list[Any] = []
        self._left: dict[int, dict[Key, int]] = {}
        self._looks: dict[tuple[int, Key], int] = {}

    def announce(self) -> None:
        """Tell all other ranks that this one leaves its groups."""
        counts = self.counts()
        if not counts:
            return
        message = pickled(counts)
        for rank in range(self.channel.size):
            if rank != self.channel.rank:
                self._sent.append((message, self.channel.send(message, rank, 0)))

    def look_for_collective(self, key: Key, number: int, what: str) -> None:
        """Raise if a rank has left a group before a collective.

        Args:
            key: the group.
            number: the number of the collective in the group, from 1.
            what: its name and line.
        """
        self._receive()
        for rank in key[1]:
            count = self._left.get(rank, {}).get(key)
            if count is not None and count < number:
                raise self._problem(rank, what)

    def look_for_message(self, key: Key, sources: Iterable[int], what: str) -> None:
        """Raise if all ranks that a message may come from have left the group for some time."""
        self._receive()
        gone = [rank for rank in sources if key in self._left.get(rank, {})]
        if not gone or len(gone) < len(list(sources)):
            return
        looks = self._looks[gone[0], key] = self._looks.get((gone[0], key), 0) + 1
        if looks > GRACE:
            raise self._problem(gone[0], what)

    def _receive(self) -> None:
        MPI, comm = self.channel.MPI, self.channel.comm
        status = MPI.Status()
        # A matched probe: several threads may look at once.
        while (message := comm.Improbe(MPI.ANY_SOURCE, 0, status)) is not None:
            content = bytearray(status.Get_count(MPI.BYTE))
            message.Recv([content, MPI.BYTE])
            self._left.setdefault(status.Get_source(), {}).update(unpickled(content))

    def _problem(self, rank: int, what: str) -> RuntimeError:
        return RuntimeError(
            f"Rank {self.channel.rank} waits in {what} for rank {rank}, which has left: its "
            "program, or its loop, has ended before. All ranks must call the same operations, so "
            "give them equally many batches, as DistributedSampler does."
        )
