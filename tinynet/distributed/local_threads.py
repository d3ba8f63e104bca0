"""The threads of kernels, which the ranks of a machine divide among themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tinynet.distributed.channel import Channel, Patience, pickled, unpickled
from tinynet.distributed.ordered import to_all
from tinynet.kernels import threads

Host = tuple[str, int, tuple[int, ...]]
"""The machine of a rank, its process, and the processors that it may use."""


def hosts(channel: Channel, patience: Patience) -> list[Host]:
    """Return where each rank runs."""
    affinity = getattr(os, "sched_getaffinity", lambda _pid: range(os.cpu_count() or 1))
    own = (channel.MPI.Get_processor_name(), os.getpid(), tuple(sorted(affinity(0))))
    everyone = range(channel.size)
    found = channel.exchange_any(to_all(pickled(own), channel.size), everyone, patience)
    return [unpickled(array) for array in found]


def divide(ranks: Sequence[Host], own: int) -> None:
    """Use a share of the processors, unless the user has chosen the number of threads.

    Args:
        ranks: where each rank runs.
        own: the rank of this process.
    """
    name, _, processors = ranks[own]
    # A launcher may give each rank processors of its own.
    sharing = [p for host, _, p in ranks if host == name and set(p) & set(processors)]
    threads.limit(max(1, len(processors) // len(sharing)))
