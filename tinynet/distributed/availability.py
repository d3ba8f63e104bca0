"""What is installed, and what the launcher has set."""

from __future__ import annotations

import os
from typing import Any

from tinynet.distributed import mpi


def is_available() -> bool:
    """Return whether `init_process_group` can work: mpi4py is installed.

    Example:
        >>> tn.distributed.is_available() in (True, False)
        True
    """
    return mpi.is_installed()


def is_mpi_available() -> bool:
    """Return whether mpi4py is installed.

    Example:
        >>> tn.distributed.is_mpi_available() == tn.distributed.is_available()
        True
    """
    return is_available()


def is_gloo_available() -> bool:
    """Return whether ``init_process_group("gloo")`` works, which runs on MPI, too.

    Example:
        >>> tn.distributed.is_gloo_available() == tn.distributed.is_available()
        True
    """
    return is_available()


def is_nccl_available() -> bool:
    """Return False: there are no GPUs.

    Example:
        >>> tn.distributed.is_nccl_available()
        False
    """
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """Return whether `init_process_group` accepts the name of a backend.

    Example:
        >>> tn.distributed.is_backend_available("nccl")
        False
    """
    return backend.lower() in ("mpi", "gloo") and is_available()


def is_torchelastic_launched() -> bool:
    """Return False: programs start with ``mpirun``.

    Example:
        >>> tn.distributed.is_torchelastic_launched()
        False
    """
    return False


def get_default_backend_for_device(device: Any) -> str:
    """Return "mpi", the backend of all devices that there are.

    Example:
        >>> tn.distributed.get_default_backend_for_device("cpu")
        'mpi'
    """
    return "mpi"


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return the rank of this process among those on its machine.

    Args:
        fallback_rank: the answer without ``mpirun``, which sets the variable ``LOCAL_RANK`` here.

    Raises:
        RuntimeError: there is no answer.

    Example:
        >>> tn.distributed.get_node_local_rank(fallback_rank=0)  # doctest: +SKIP
        0
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context "
        "and want the code to run locally instead."
    )
