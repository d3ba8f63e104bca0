"""TensorBoard in notebooks, by its own module ``tensorboard.notebook``.

TensorBoard is optional, and imported at the first call.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tinynet.board.launching import program


def start(args_string: str) -> None:
    """Start TensorBoard, or reuse one started with the same arguments, and display it.

    A notebook shows it in a frame; otherwise its address is printed. It keeps running when the
    notebook ends; `list` shows its process id. If it does not start, its output is printed.

    Args:
        args_string: the arguments of TensorBoard as on the command line: `"--logdir runs"`.

    Raises:
        ImportError: TensorBoard is not installed; the message has instructions.
    """
    _notebook().start(args_string)


def list() -> None:
    """Print all TensorBoards running on this machine, with their ports, folders and process ids.

    Raises:
        ImportError: TensorBoard is not installed; the message has instructions.
    """
    _notebook().list()


def display(port: int | None = None, height: int | None = None) -> None:
    """Display a running TensorBoard.

    Args:
        port: its port; by default the one of the TensorBoard started last.
        height: the height of the frame in pixels; 800 by default.

    Raises:
        ImportError: TensorBoard is not installed; the message has instructions.
        ValueError: no TensorBoard is running.
    """
    _notebook().display(port, height)


def _notebook() -> Any:
    """Return TensorBoard's module, set up for this Python's TensorBoard and without dead ones."""
    program()
    from tensorboard import notebook

    script = Path(sys.executable).with_name("tensorboard")
    if script.exists():  # otherwise it starts the first one in PATH
        os.environ.setdefault("TENSORBOARD_BINARY", str(script))
    for info in Path(tempfile.gettempdir(), ".tensorboard-info").glob("pid-*.info"):
        number = info.stem.removeprefix("pid-")
        if number.isdecimal() and not _alive(int(number)):
            info.unlink(missing_ok=True)  # a killed one leaves its file, and would be reused
    return notebook


def _alive(pid: int) -> bool:
    """Return whether a process runs."""
    if os.name != "posix":  # elsewhere, the check itself would end the process
        return True
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0)  # reaps a child that has ended
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
