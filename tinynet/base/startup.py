"""The start of ``import tinynet`` and of the command: fewer collections of garbage, and Ctrl-C.

Importing the rest takes time, so this module is imported first and imports little itself.
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
    """
    if not is_command():
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
