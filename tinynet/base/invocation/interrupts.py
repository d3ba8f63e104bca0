"""Ctrl-C while the command ``tinynet`` runs: what ``startup.py`` begins."""

import signal

from tinynet.base.startup import end


def end_on_ctrl_c() -> None:
    """Make Ctrl-C end the process with one line."""
    if signal.getsignal(signal.SIGINT) is _raise:
        signal.signal(signal.SIGINT, end)


def raise_on_ctrl_c() -> None:
    """Make the next Ctrl-C raise KeyboardInterrupt, and one after that end the process."""
    if signal.getsignal(signal.SIGINT) is end:
        signal.signal(signal.SIGINT, _raise)


def _raise(number: int, frame: object) -> None:
    signal.signal(signal.SIGINT, end)
    raise KeyboardInterrupt
