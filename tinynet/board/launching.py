"""Starting TensorBoard as a separate program, without importing it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib import util

from tinynet.base.invocation import installation
from tinynet.base.invocation.commands import raise_on_ctrl_c


def launch(
    folder: str | os.PathLike[str] = "runs",
    port: int | None = None,
    host: str | None = None,
    extra: Sequence[str] = (),
) -> int:
    """Run TensorBoard on a folder of runs until it ends or is interrupted; return its exit code.

    Args:
        folder: the folder of the runs, at any depth.
        port: the port; 0 takes a free one; by default 6006, or the next free one.
        host: the address to listen at; by default only this machine.
        extra: additional arguments of TensorBoard.

    Raises:
        FileNotFoundError: there is no such folder.
        ImportError: TensorBoard is not installed; the message has instructions.

    Example:
        >>> tn.board.launch("no/such/folder")
        Traceback (most recent call last):
        FileNotFoundError: There is no folder 'no/such/folder'.
    """
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {os.fspath(folder)!r}.")
    # A run that was resumed or that lost its disk has several growing event files.
    arguments = ["--logdir", os.fspath(folder), "--reload_multifile", "true"]
    arguments += [] if port is None else ["--port", str(port)]
    arguments += [] if host is None else ["--host", host]
    # Ctrl-C reaches both processes; this one handles it, even while the other is importing.
    raise_on_ctrl_c()
    deaf = _ignore_ctrl_c if os.name == "posix" else None
    process = subprocess.Popen([*program(), *arguments, *extra], preexec_fn=deaf)
    try:
        return process.wait()
    except KeyboardInterrupt:  # the usual way to stop it
        process.terminate()
        process.wait()
        return 0


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def program() -> list[str]:
    """Return the command that starts TensorBoard; raise ImportError if there is none."""
    if util.find_spec("tensorboard") is None:
        raise ImportError(
            f"TensorBoard is not installed: {installation('tensorboard')}",
            name="tensorboard",
        )
    return [sys.executable, "-m", "tensorboard.main"]
