"""MPI as a process finds it: what the launcher has set, and mpi4py.

The launcher sets the number of a rank in the environment, and the processors that it shares.
mpi4py is imported when a process group is first used.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tinynet.base import invocation
from tinynet.distributed.channel import Channel, Patience, pickled, to_all, unpickled
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


# ---- mpi4py -------------------------------------------------------------------------------------

START = 300.0  # seconds
HOW_TO_INSTALL = (
    "tinynet.distributed runs on MPI, and {}. Install both parts of it, "
    "for example: {}. Then start the program with mpirun -n 4 python ..."
)


def _how_to_install(problem: str) -> str:
    return HOW_TO_INSTALL.format(problem, invocation.installation("mpi", "mpich"))


def is_installed() -> bool:
    """Return whether mpi4py is installed; it may still lack an MPI library."""
    return importlib.util.find_spec("mpi4py") is not None


def _find_library() -> None:
    """Name the MPI library beside mpi4py or mpirun, if it is not where mpi4py looks for it."""
    import mpi4py

    if any(Path(sys.prefix, "lib").glob("libmpi.*")):
        return
    launcher = shutil.which("mpirun")
    folders = [Path(mpi4py.__file__).parents[3]]
    folders += [Path(launcher).resolve().parents[1] / "lib"] if launcher else []
    found = [path for folder in folders for path in sorted(folder.glob("libmpi.so.*"))]
    if found:
        os.environ.setdefault("MPI4PY_LIBMPI", str(found[0]))


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """End this process, with its traceback, if the others do not start MPI in time.

    MPI waits for them without a limit, and holds Python's global lock (GIL) meanwhile.
    """
    try:
        if launched_size() > 1:
            faulthandler.dump_traceback_later(START, exit=True)
    except (OSError, ValueError, AttributeError):  # sys.stderr is not a file
        pass
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def executor() -> Any:
    """Return a context in which rank 0 submits work to the other ranks, through mpi4py.futures.

    Rank 0 gets an executor; the others work until it leaves the context, and then get None.

    Raises:
        RuntimeError: see `load`.
    """
    MPI = load()
    from mpi4py.futures import MPICommExecutor

    return MPICommExecutor(MPI.COMM_WORLD, root=0)


def load() -> Any:
    """Return the module ``mpi4py.MPI``. Its first import starts MPI.

    Raises:
        RuntimeError: mpi4py or the MPI library is missing, or the library is not thread-safe.
    """
    if not is_installed():
        raise RuntimeError(_how_to_install("mpi4py is not installed"))
    try:
        _find_library()
        with _limited():
            from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        problem = f"mpi4py finds no MPI library ({str(error).strip().splitlines()[0]})"
        raise RuntimeError(_how_to_install(problem)) from error
    if MPI.Query_thread() != MPI.THREAD_MULTIPLE:
        raise RuntimeError(
            "tinynet.distributed calls MPI from several threads, and this MPI library "
            f"({MPI.Get_library_version().splitlines()[0]}) does not support that. "
            f"That of `{invocation.python('-m', 'pip', 'install', 'mpich')}` does."
        )
    return MPI


# ---- what programs ask before they start ----


def is_available() -> bool:
    """Return whether `init_process_group` can work: mpi4py is installed.

    Example:
        >>> tn.distributed.is_available() in (True, False)
        True
    """
    return is_installed()


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
