"""What the launcher of a rank has set: its number in the environment, the processors it shares."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from tinynet.distributed.channel import Channel, Patience, pickled, unpickled
from tinynet.distributed.ordered import to_all
from tinynet.kernels import threads

_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")
"""Variables in which Open MPI, MPICH and Microsoft MPI set the number of processes."""
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")
_LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
_LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
_PREFIXES = ("PMI_", "PMIX_", "OMPI_", "PRTE_", "HYDRA_", "HYDI_", "MPI_LOCAL")
_TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


def launched_size() -> int:
    """Return the number of processes that ``mpirun`` started; 1 without it."""
    return _largest(_SIZES, 1)


def launched_rank() -> int:
    """Return the number of this process among those that ``mpirun`` started, from 0."""
    return _largest(_RANKS, 0)


def _largest(names: Sequence[str], default: int) -> int:
    return max(int(os.environ.get(name) or default) for name in names)


def set_variables() -> None:
    """Set the variables of torchrun that are not set, as programs written for it read them."""
    if launched_size() > 1:
        found = {
            "RANK": launched_rank(),
            "WORLD_SIZE": launched_size(),
            "LOCAL_RANK": _largest(_LOCAL_RANKS, 0),
            "LOCAL_WORLD_SIZE": _largest(_LOCAL_SIZES, 1),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": 29500,
        }
        for name, value in found.items():
            os.environ.setdefault(name, str(value))


def without_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for a program that is none of the processes of ``mpirun``."""
    own = {k for k in environment if k.startswith(_PREFIXES)} | {*_TORCHRUN}
    return {k: v for k, v in environment.items() if k not in own}


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
