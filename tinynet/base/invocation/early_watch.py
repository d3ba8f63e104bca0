"""The process that watches a rank of ``mpirun`` from its first moment on.

A rank that is killed before all ranks have joined leaves no message but the one of MPI's launcher.
Importing the rest takes time, so this is imported early, and imports little itself.
"""

import os
import sys

from tinynet.base.startup import is_command

_PROGRAM = os.path.join(os.path.dirname(__file__), "..", "..", "distributed", "watchdog_process.py")


class EarlyWatch:
    """The process, which is started once; it reads from a pipe."""

    def __init__(self) -> None:
        self._process = self._pipe = -1

    def begin(self) -> None:
        """Start the process, if this is one of several ranks, and it is not running.

        It needs Linux, and a launcher of MPICH's kind, which gives each rank its own descriptor.
        """
        rank, size = os.environ.get("PMI_RANK", "0"), os.environ.get("PMI_SIZE", "1")
        known = "PMI_FD" in os.environ and size != "1" and hasattr(os, "pidfd_open")
        if self._process != -1 or not known:
            return
        read, self._pipe = os.pipe()
        program = [sys.executable, "-I", "-S", _PROGRAM, "early", size, rank, str(os.getpid())]
        try:
            self._process = os.posix_spawn(
                sys.executable,
                program,
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, read, 0)],
                setsid=True,
            )
        except (OSError, NotImplementedError):  # no more processes are allowed
            os.close(self._pipe)
        finally:
            os.close(read)

    def send(self, *words: object) -> bool:
        """Send a line to the process: that the rank joins the others, or what it reads then.

        Args:
            words: ``"joins"``, or the arguments of ``distributed/watchdog_process.py``.

        Returns:
            Whether there is a process.
        """
        if self._process == -1:
            return False
        try:
            os.write(self._pipe, (" ".join(map(str, words)) + "\n").encode())
        except BrokenPipeError:  # it has ended, since another rank has
            self.end()
        return self._process != -1

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process != -1:
            os.close(self._pipe)
            os.waitpid(self._process, 0)
            self._process = -1


early_watch = EarlyWatch()
if is_command():
    early_watch.begin()
