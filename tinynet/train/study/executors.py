"""Where the runs of a sweep start: here, or in the processes of ``mpirun``, by mpi4py.futures."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from tinynet.distributed import mpi
from tinynet.distributed.launcher import launched_rank, launched_size, without_launcher
from tinynet.kernels.threads import VARIABLES
from tinynet.train.base.problems import UsageError
from tinynet.train.run.interrupt import StopRequest


class Remote:
    """A run on another rank, with what a Popen has. A signal to mpirun reaches it there.

    Args:
        future: its exit code.
    """

    stdin = stdout = None

    def __init__(self, future: Future[int]) -> None:
        self.future = future

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        return self.future.result() if self.future.done() else None

    @property
    def returncode(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self.poll()

    def terminate(self) -> None:
        """Do nothing: mpirun passes signals on."""


Start = Callable[[Sequence[str], Path, Mapping[str, str]], Remote]
"""Starts a program; takes its words, the file to append its output to, and variables to set."""


class Places(NamedTuple):
    """Where runs are started.

    Attributes:
        jobs: the maximum number of runs at once.
        start: starts a run elsewhere; None for a process of this machine.
    """

    jobs: int
    start: Start | None = None


def _on_a_rank(program: Sequence[str], log: Path, environment: Mapping[str, str]) -> int:
    """Run a program to its end on this rank; return its exit code."""
    threads = dict.fromkeys(VARIABLES, "1")
    with open(log, "ab") as output:
        return subprocess.call(
            program,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**threads, **without_launcher(os.environ), **environment},
        )


@contextlib.contextmanager
def places_of(name: str, jobs: int) -> Iterator[Places | None]:
    """Return where runs are started; None on a rank that has only worked for rank 0.

    Args:
        name: ``"local"``, or ``"mpi"`` for the processes of ``mpirun``.
        jobs: the maximum number of runs at once, for ``"local"``.

    Raises:
        UsageError: this is not the kind of start that the executor needs.
    """
    size = launched_size()
    if name == "local":
        if size > 1:
            raise UsageError(
                f"mpirun has started {size} processes: add --executor mpi to let them share the "
                "runs, or start the sweep without mpirun"
            )
        yield Places(jobs)
        return
    if size == 1:
        raise UsageError(
            "--executor mpi needs processes that do the runs: start it with "
            "mpirun -n 4 tinynet sweep ..., for three runs at once"
        )
    try:
        pool = mpi.executor()
    except RuntimeError as error:
        raise UsageError(str(error)) from None
    # Ranks that wait for work outlive Ctrl-C: their runs save and exit, and then rank 0 ends them.
    with StopRequest() if launched_rank() else contextlib.nullcontext(), pool as found:
        if found is None:
            yield None
            return

        def start(program: Sequence[str], log: Path, environment: Mapping[str, str]) -> Remote:
            words = [*program], log.absolute(), dict(environment)
            return Remote(found.submit(_on_a_rank, *words))

        yield Places(size - 1, start)
