"""mpi4py, which is imported when a process group is first used; whether it is installed."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tinynet.base import invocation
from tinynet.distributed.launcher import launched_size

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
