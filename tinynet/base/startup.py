"""The start of the command ``tinynet``: one line instead of a traceback after Ctrl-C.

Importing the rest takes time, so this module is imported first and imports little itself.
"""

import gc
import os
import sys

COLLECTION = gc.get_threshold()
"""When Python collects cyclic garbage; the command starts with fewer collections, see `started`."""


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


def started() -> None:
    """Collect garbage as usual, but not among all that the start has made and that will stay.

    The command calls it; a quarter of a short command's time would go to these collections.
    """
    gc.set_threshold(*COLLECTION)
    gc.freeze()


if is_command():
    gc.set_threshold(100_000)
    try:
        import signal  # takes some milliseconds, so a user's program goes without

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored
            signal.signal(signal.SIGINT, end)
        if sys.platform != "win32":  # `run.py` holds it back while Python starts
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    except KeyboardInterrupt:
        end(2)
