"""The start of ``import tinynet`` and of the command: garbage, Ctrl-C, the watch of a rank.

There are fewer collections of garbage while modules are imported. After Ctrl-C there is one line
instead of a traceback. A rank that is killed before all ranks have joined leaves no message but the
one of MPI's launcher, unless it is watched from its first moment on. Importing the rest takes time,
so this module is imported first and imports little itself.
"""

import gc
import os
import sys

COLLECTION = gc.get_threshold()
"""When Python collects cyclic garbage; there are fewer collections while modules are imported."""


def command_words() -> list[str]:
    """Return the command before its arguments, such as ``python -m tinynet``."""
    return sys.orig_argv[: len(sys.orig_argv) - len(sys.argv[1:])]


def is_module() -> bool:
    """Return whether this process is ``python -m tinynet``."""
    return command_words()[-2:] == ["-m", "tinynet"]


def is_command() -> bool:
    """Return whether this process is the command ``tinynet``, and not a user's own program."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return is_module() or name in ("tinynet", "tinynet.exe")


def end(number: int, frame: object = None) -> None:
    """End the process with one line: the signal handler of the command."""
    try:
        os.write(2, b"stopped by Ctrl-C\n")
    finally:  # standard error may be closed or full
        os._exit(128 + number)


def imported() -> None:
    """Collect garbage as usual after ``import tinynet``; a command imports more, see `started`.

    A tenth of the import, and a quarter of a short command's time, would go to these collections.
    What there is by now counts as old: the next collections of young objects leave it alone.
    """
    if not is_command():
        if not gc.get_freeze_count():  # else unfreezing would undo what the program has frozen
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*COLLECTION)


def started() -> None:
    """Collect garbage as usual, but not among all that a command's start made and that stays."""
    gc.set_threshold(*COLLECTION)
    gc.freeze()


gc.set_threshold(100_000)
if is_command():
    try:
        import signal  # takes some milliseconds, so a user's program goes without

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored
            signal.signal(signal.SIGINT, end)
        if sys.platform != "win32":  # `run.py` holds it back while Python starts
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    except KeyboardInterrupt:
        end(2)


_PROGRAM = os.path.join(os.path.dirname(__file__), "..", "distributed", "watchdog_process.py")


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
