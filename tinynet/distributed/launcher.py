"""What ``mpirun`` has set in the environment; reading it does not start MPI."""

from __future__ import annotations

import os
from collections.abc import Mapping

_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")
"""Variables in which Open MPI, MPICH and Microsoft MPI set the number of processes."""
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")
_PREFIXES = ("PMI_", "PMIX_", "OMPI_", "PRTE_", "HYDRA_", "HYDI_", "MPI_LOCAL")


def launched_size() -> int:
    """Return the number of processes that ``mpirun`` started; 1 without it."""
    return max(int(os.environ.get(name) or 1) for name in _SIZES)


def launched_rank() -> int:
    """Return the number of this process among those that ``mpirun`` started, from 0."""
    return max(int(os.environ.get(name) or 0) for name in _RANKS)


def without_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for a program that is none of the processes of ``mpirun``."""
    return {k: v for k, v in environment.items() if not k.startswith(_PREFIXES)}
