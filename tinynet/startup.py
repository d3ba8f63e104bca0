"""Ctrl-C handling of the command ``tinynet``: one line instead of a traceback.

Importing the rest takes time, so this module is imported first and imports little itself.
"""

import os
import sys


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


def _end(number: int, frame: object = None) -> None:
    try:
        os.write(2, b"stopped by Ctrl-C\n")
    finally:  # standard error may be closed or full
        os._exit(128 + number)


try:
    import signal  # takes some milliseconds

    if is_command():
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored
            signal.signal(signal.SIGINT, _end)
        if sys.platform != "win32":  # `run.py` holds it back while Python starts
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
except KeyboardInterrupt:
    if is_command():
        _end(2)
    raise


def end_on_ctrl_c() -> None:
    """Make Ctrl-C end the process with one line."""
    if signal.getsignal(signal.SIGINT) is _raise:
        signal.signal(signal.SIGINT, _end)


def raise_on_ctrl_c() -> None:
    """Make the next Ctrl-C raise KeyboardInterrupt, and one after that end the process."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, _raise)


def _raise(number: int, frame: object) -> None:
    signal.signal(signal.SIGINT, _end)
    raise KeyboardInterrupt
