"""Ranks whose programs diverge: raise where they would wait for each other, or mix up messages.

A rank that ends its groups, or its program, sends all others the number of collectives that it has
called in each group. Who waits for a later one raises, where it would wait until the timeout.

Where the user asks for it, ranks compare what they call, with which shapes, before each collective.
This costs one exchange of short messages per collective."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tinynet import dtypes
from tinynet.autograd.modes import Checking
from tinynet.core.callsite import Location
from tinynet.core.graph.saved_hooks import Keeper
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed.channel import TAGS, Channel, Patience, pickled, to_all, unpickled
from tinynet.distributed.constants import DebugLevel

# ---- ranks that leave ----


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


# ---- the same collective on all ranks ----


TAG = TAGS + 602
_VARIABLE = "TORCH_DISTRIBUTED_DEBUG"
_OUTSIDE = "(inside tinynet)"


class _Setting:
    level = DebugLevel.OFF


def set_debug_level(level: DebugLevel) -> None:
    """Switch the check of collectives on or off; all ranks must do the same.

    Args:
        level: ``DETAIL`` compares what all ranks call, with which shapes, before each collective;
            ``INFO`` is as ``OFF``. The check also runs inside of ``autograd.checked()``.

    Example:
        >>> tn.distributed.set_debug_level(tn.distributed.DebugLevel.DETAIL)
        >>> tn.distributed.get_debug_level()
        <DebugLevel.DETAIL: 2>
        >>> tn.distributed.set_debug_level(tn.distributed.DebugLevel.OFF)
    """
    _Setting.level = DebugLevel(level)


def get_debug_level() -> DebugLevel:
    """Return what `set_debug_level` or the variable ``TORCH_DISTRIBUTED_DEBUG`` has set.

    Example:
        >>> tn.distributed.get_debug_level()
        <DebugLevel.OFF: 0>
    """
    return _Setting.level


def set_debug_level_from_env() -> None:
    """Set the level that the variable ``TORCH_DISTRIBUTED_DEBUG`` names.

    Raises:
        RuntimeError: it names no level.

    Example:
        >>> tn.distributed.set_debug_level_from_env()
    """
    name = os.environ.get(_VARIABLE) or "OFF"
    if name.upper() not in DebugLevel.__members__:
        raise RuntimeError(
            f"The value of {_VARIABLE} must be OFF, INFO, or DETAIL. Got {name!r} instead."
        )
    _Setting.level = DebugLevel[name.upper()]


def is_checking() -> bool:
    """Return whether the check is on in this thread."""
    if _Setting.level is DebugLevel.DETAIL:
        return True
    keeper = mode.on
    while isinstance(keeper, Keeper):
        if isinstance(keeper, Checking):
            return True
        keeper = keeper.outer
    return False


class Fingerprint(NamedTuple):
    """What a rank calls.

    Attributes:
        number: the collective's in its group.
        name: the function.
        detail: other arguments that must agree, such as the operation or the root.
        shapes, dtypes: of the tensors that must agree.
        place: the file and line, and the text of that line.
    """

    number: int
    name: str
    detail: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    place: tuple[str, str]

    def __str__(self) -> str:
        name = self.name if self.name != self.name.lower() else self.name.upper().replace("_", "")
        parts = [f"SequenceNumber={self.number}", f"OpType={name}"]
        if self.shapes:
            shapes = ", ".join(str(list(shape)) for shape in self.shapes)
            parts += [f"TensorShape={shapes}", f"TensorDtypes={', '.join(self.dtypes)}"]
        if self.detail:
            parts.append(self.detail)
        return f"CollectiveFingerPrint({', '.join(parts)})"


def fingerprint(
    number: int, name: str, detail: str, tensors: Sequence[Tensor], where: Location | None
) -> Fingerprint:
    """Return the fingerprint of a call at a line of the user."""
    arrays = [tensor._array for tensor in tensors]
    return Fingerprint(
        number,
        name,
        detail,
        tuple(array.shape for array in arrays),
        tuple(dtypes.of(array).scalar_name for array in arrays),
        (_OUTSIDE, "") if where is None else (where.place, where.text),
    )


def compare(channel: Channel, ranks: Sequence[int], own: Fingerprint, patience: Patience) -> None:
    """Raise on all ranks if they call different collectives.

    Args:
        channel: the communicator of the group.
        ranks: the ranks of the default group that are in it.
        own: what this rank calls.
        patience: how long to wait for the others.

    Raises:
        RuntimeError: names the first two ranks that differ, and the lines of all ranks.
    """
    everyone = range(channel.size)
    found = channel.exchange_any(to_all(pickled(own), channel.size), everyone, patience, TAG)
    calls = [Fingerprint(*unpickled(array)) for array in found]
    mine = channel.rank
    other = next((rank for rank in everyone if calls[rank][:-1] != own[:-1]), None)
    if other is not None:
        raise RuntimeError(_mismatch(ranks, calls, mine, other))


def _mismatch(ranks: Sequence[int], calls: Sequence[Fingerprint], mine: int, other: int) -> str:
    lines = [
        "Detected mismatch between collectives on ranks. "
        f"Rank {ranks[mine]} is running collective: {calls[mine]}, but "
        f"Rank {ranks[other]} is running collective: {calls[other]}."
        f"Collectives differ in the following aspects: {_aspects(calls[mine], calls[other])}"
    ]
    width = max(len(call.place[0]) for call in calls)
    for rank, call in zip(ranks, calls, strict=True):
        lines.append(f"  rank {rank:<4} {call.place[0]:<{width}}   {call.place[1]}".rstrip())
    return "\n".join(lines)


def _aspects(a: Any, b: Any) -> str:
    names = {
        "number": "Sequence number",
        "name": "Op type",
        "shapes": "Tensor shapes",
        "dtypes": "Tensor dtypes",
        "detail": "Arguments",
    }
    differ = {
        text: (_shown(getattr(a, key)), _shown(getattr(b, key))) for key, text in names.items()
    }
    return ", ".join(f"{text}: {x} vs {y}" for text, (x, y) in differ.items() if x != y)


def _shown(value: Any) -> str:
    """Return ``[2, 3], []`` for two shapes."""
    if not isinstance(value, tuple):
        return str(value)
    return ", ".join(str(list(one)) if isinstance(one, tuple) else str(one) for one in value)
